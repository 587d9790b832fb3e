"""The techniques by name, in the order in which grading tries them, with level, score and one-sentence definition.

Names, order, levels and scores are those of HoDoKu 2.2.0's default table; they make grades comparable. The definitions
are ours. Kernels know a technique by its position in `TECHNIQUES`, its code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from puzzles.names import unknown_name

LEVEL_LIMITS: dict[str, int | None] = {"Easy": 800, "Medium": 1000, "Hard": 1600, "Unfair": 1800, "Extreme": None}
"""Levels from easy to hard, with the highest total score that a puzzle of this level may have."""

BEYOND = "beyond"
"""Level and hardest technique of a puzzle that the techniques here do not solve."""


@dataclass(frozen=True)
class Technique:
    """One technique, as the table lists it."""

    name: str
    """Name as HoDoKu displays it."""
    order: int
    """Place in the search order; lower is tried earlier."""
    level: str
    """Level of a puzzle that needs it."""
    score: int
    """What one use adds to the score of a puzzle."""
    definition: str
    """What it concludes, in one sentence."""
    unique: bool = False
    """Whether it assumes that the puzzle has exactly one solution."""
    graded: bool = True
    """Whether grading tries it; the others can only be listed or asked for."""


TECHNIQUES: tuple[Technique, ...] = (
    Technique("Full House", 100, "Easy", 4, "A house with one empty cell takes its missing digit there."),
    Technique("Naked Single", 200, "Easy", 4, "A cell with one candidate takes it."),
    Technique("Hidden Single", 300, "Easy", 14, "A digit with one place left in a house goes there."),
    Technique(
        "Locked Pair", 1000, "Medium", 40,
        "Two cells in both a box and a line that share two candidates remove them from the rest of box and line.",
    ),
    Technique(
        "Locked Triple", 1100, "Medium", 60,
        "Three cells in both a box and a line that share three candidates remove them from the rest of box and line.",
    ),
    Technique(
        "Locked Candidates Type 1 (Pointing)", 1200, "Medium", 50,
        "A digit whose places in a box lie in one line goes from the rest of that line.",
    ),
    Technique(
        "Locked Candidates Type 2 (Claiming)", 1210, "Medium", 50,
        "A digit whose places in a line lie in one box goes from the rest of that box.",
    ),
    Technique(
        "Naked Pair", 1300, "Medium", 60,
        "Two cells of a house with two candidates between them remove these from the rest of the house.",
    ),
    Technique(
        "Naked Triple", 1400, "Medium", 80,
        "Three cells of a house with three candidates between them remove these from the rest of the house.",
    ),
    Technique(
        "Hidden Pair", 1500, "Medium", 70,
        "Two digits with two places between them in a house remove all other candidates there.",
    ),
    Technique(
        "Hidden Triple", 1600, "Medium", 100,
        "Three digits with three places between them in a house remove all other candidates there.",
    ),
    Technique(
        "Naked Quadruple", 2000, "Hard", 120,
        "Four cells of a house with four candidates between them remove these from the rest of the house.",
    ),
    Technique(
        "Hidden Quadruple", 2100, "Hard", 150,
        "Four digits with four places between them in a house remove all other candidates there.",
    ),
    Technique(
        "X-Wing", 2200, "Hard", 140,
        "A digit whose places in two parallel lines lie in two crossing lines goes from the rest of these.",
    ),
    Technique(
        "Swordfish", 2300, "Hard", 150,
        "A digit whose places in three parallel lines lie in three crossing lines goes from the rest of these.",
    ),
    Technique(
        "Jellyfish", 2400, "Hard", 160,
        "A digit whose places in four parallel lines lie in four crossing lines goes from the rest of these.",
    ),
    Technique(
        "Remote Pair", 2800, "Hard", 110,
        "In a chain of at least four cells with the same two candidates, each seeing the next, both go from every cell "
        "that sees two chain cells an odd number of links, at least three, apart.",
    ),
    Technique(
        "Bivalue Universal Grave + 1", 2900, "Hard", 100,
        "If all empty cells have two candidates but one has three, and every digit two places in every house but one "
        "digit has three in the houses of that cell, its other two candidates go.",
        unique=True,
    ),
    Technique(
        "Skyscraper", 3000, "Hard", 130,
        "Two parallel lines with two places each for a digit share one crossing line there: the digit goes from cells "
        "that see both other places.",
    ),
    Technique(
        "2-String Kite", 3100, "Hard", 150,
        "A row and a column with two places each for a digit meet in a box with one place each: the digit goes from "
        "the cell that sees both other places.",
    ),
    Technique(
        "Dual 2-String Kite", 3100, "Hard", 150,
        "Two 2-string kites that meet in the same two cells of a box, taken as one step.",
        graded=False,
    ),
    Technique(
        "Turbot Fish", 3120, "Hard", 120,
        "Two houses with two places each for a digit, one place of the first seeing one of the second: the digit goes "
        "from cells that see both other places.",
    ),
    Technique(
        "Empty Rectangle", 3170, "Hard", 120,
        "The places of a digit in a box lie on one row and one column; a line with two places has one of them on that "
        "row (column): the digit goes from where the other's line meets the column (row).",
    ),
    Technique(
        "Dual Empty Rectangle", 3170, "Hard", 120,
        "Two empty rectangles in the same box with different results, taken as one step.",
        graded=False,
    ),
    Technique(
        "W-Wing", 3200, "Hard", 150,
        "Two cells with the same two candidates see one end each of a house with two places for one of them: the other "
        "goes from cells that see both.",
    ),
    Technique(
        "XY-Wing", 3300, "Hard", 160,
        "A cell XY sees a cell XZ and a cell YZ: Z goes from cells that see both.",
    ),
    Technique(
        "XYZ-Wing", 3400, "Hard", 180,
        "A cell XYZ sees a cell XZ and a cell YZ: Z goes from cells that see all three.",
    ),
    Technique(
        "Uniqueness Test 1", 3500, "Hard", 100,
        "Three corners of a rectangle in two boxes have only the same two candidates: both go from the fourth.",
        unique=True,
    ),
    Technique(
        "Uniqueness Test 2", 3600, "Hard", 100,
        "Two corners of a rectangle in one line have the two candidates and the same third: the third goes from cells "
        "that see both.",
        unique=True,
    ),
    Technique(
        "Uniqueness Test 3", 3700, "Hard", 100,
        "The further candidates of two corners in one house form a naked subset with other cells there: its digits go "
        "from the rest of the house.",
        unique=True,
    ),
    Technique(
        "Uniqueness Test 4", 3800, "Hard", 100,
        "Two corners in one house hold all its places for one of the two candidates: the other goes from both.",
        unique=True,
    ),
    Technique(
        "Uniqueness Test 5", 3900, "Hard", 100,
        "Two opposite corners or three corners have the two candidates and the same third: the third goes from cells "
        "that see all of them.",
        unique=True,
    ),
    Technique(
        "Uniqueness Test 6", 4000, "Hard", 100,
        "Two opposite corners have further candidates, and the rectangle holds all places of one of the two candidates "
        "in its rows or in its columns: that one goes from both.",
        unique=True,
    ),
    Technique(
        "Hidden Rectangle", 4010, "Hard", 100,
        "A corner has only the two candidates, and row and column of the opposite corner have one of them in the "
        "rectangle only: the other goes from the opposite corner.",
        unique=True,
    ),
    Technique(
        "Avoidable Rectangle Type 1", 4020, "Hard", 100,
        "Three solved corners that were not given would become exchangeable by one of the two candidates of the "
        "fourth: it goes there.",
        unique=True,
    ),
    Technique(
        "Avoidable Rectangle Type 2", 4030, "Hard", 100,
        "Two solved corners that were not given would become exchangeable unless one of the others takes their common "
        "third candidate: it goes from cells that see both.",
        unique=True,
    ),
    Technique(
        "Finned X-Wing", 4100, "Hard", 130,
        "An X-wing but for fins in one box: the digit goes from the cells it would remove that see all fins.",
    ),
    Technique(
        "Sashimi X-Wing", 4200, "Hard", 150,
        "A finned X-wing in which a base line has at most one place besides its fins.",
    ),
    Technique(
        "Finned Swordfish", 4300, "Unfair", 200,
        "A swordfish but for fins in one box: the digit goes from the cells it would remove that see all fins.",
    ),
    Technique(
        "Sashimi Swordfish", 4400, "Unfair", 240,
        "A finned swordfish in which a base line has at most one place besides its fins.",
    ),
    Technique(
        "Finned Jellyfish", 4500, "Unfair", 250,
        "A jellyfish but for fins in one box: the digit goes from the cells it would remove that see all fins.",
    ),
    Technique(
        "Sashimi Jellyfish", 4600, "Unfair", 260,
        "A finned jellyfish in which a base line has at most one place besides its fins.",
    ),
    Technique(
        "Simple Colors Trap", 5330, "Hard", 150,
        "Two-place houses of a digit link cells in two alternating colours: it goes from cells that see both colours.",
    ),
    Technique(
        "Simple Colors Wrap", 5330, "Hard", 150,
        "Two cells of one colour see each other: the digit goes from all cells of that colour.",
    ),
    Technique(
        "Multi Colors 1", 5360, "Hard", 200,
        "A colour of one cluster sees a colour of another: the digit goes from cells that see both opposite colours.",
    ),
    Technique(
        "Multi Colors 2", 5360, "Hard", 200,
        "A colour of one cluster sees both colours of another: the digit goes from all cells of that colour.",
    ),
    Technique(
        "X-Chain", 5400, "Unfair", 260,
        "A chain on one digit that starts and ends in two-place houses, every other link one of sight: the digit goes "
        "from cells that see both ends.",
    ),
    Technique(
        "XY-Chain", 5500, "Unfair", 260,
        "A chain of two-candidate cells, each sharing a candidate with the next, begins and ends with the same digit: "
        "it goes from cells that see both ends.",
    ),
)  # fmt: skip
"""Every technique, in the order of trying."""

_ALIASES = {
    "lockedcandidates1": "Locked Candidates Type 1 (Pointing)",
    "lockedcandidates2": "Locked Candidates Type 2 (Claiming)",
    "lockedcandidatetype1": "Locked Candidates Type 1 (Pointing)",
    "lockedcandidatetype2": "Locked Candidates Type 2 (Claiming)",
    "lockedcandidatestype1": "Locked Candidates Type 1 (Pointing)",
    "lockedcandidatestype2": "Locked Candidates Type 2 (Claiming)",
    "pointing": "Locked Candidates Type 1 (Pointing)",
    "claiming": "Locked Candidates Type 2 (Claiming)",
    "nakedquad": "Naked Quadruple",
    "hiddenquad": "Hidden Quadruple",
    "bug1": "Bivalue Universal Grave + 1",
    "remotepairs": "Remote Pair",
    **{f"uniquenesstesttype{number}": f"Uniqueness Test {number}" for number in range(1, 7)},
    **{f"uniqueness{number}": f"Uniqueness Test {number}" for number in range(1, 7)},
    **{f"avoidablerectangle{number}": f"Avoidable Rectangle Type {number}" for number in (1, 2)},
}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


_CODES = {_plain(technique.name): code for code, technique in enumerate(TECHNIQUES)}
_CODES |= {alias: _CODES[_plain(name)] for alias, name in _ALIASES.items()}


def code_of(name: str) -> int:
    """Return the code of the technique called `name`; case, blanks and hyphens do not matter.

    Raises:
        ValueError: if no technique is called so.
    """
    code = _CODES.get(_plain(name))
    if code is None:
        raise unknown_name("technique", name, (technique.name for technique in TECHNIQUES))
    return code


def codes_of(names: Iterable[str]) -> frozenset[int]:
    """Return the codes of several techniques.

    Raises:
        ValueError: if a name is unknown, or if `names` is one text.
    """
    if isinstance(names, str):
        raise ValueError(f"techniques must be several names, not the one text {names!r}; write [{names!r}]")
    return frozenset(map(code_of, names))


def level_of(score: int, codes: Iterable[int]) -> str:
    """Return the level of a puzzle: that of its hardest technique, raised while `score` is above the level's limit."""
    levels = list(LEVEL_LIMITS)
    rank = max((levels.index(TECHNIQUES[code].level) for code in codes), default=0)
    while (limit := LEVEL_LIMITS[levels[rank]]) is not None and score > limit:
        rank += 1
    return levels[rank]


def markdown_table() -> str:
    """Return the techniques as the documentation lists them."""
    head = ["| technique | level | score | definition |", "|---|---|---|---|"]
    rows = [
        f"| {technique.name}{' ¹' * technique.unique}{' ²' * (not technique.graded)} | {technique.level} "
        f"| {technique.score} | {technique.definition} |"
        for technique in TECHNIQUES
    ]
    return "\n".join(head + rows)
