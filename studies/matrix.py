"""The study matrix: every study by name, and the way from a name on the command line to its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from puzzles.names import check_name
from studies.factors import (
    FAMILIES,
    FEWEST_WORDS,
    OF_MODEL,
    OF_RL,
    PREFIX,
    PUZZLE_WORDS,
    Cell,
    Family,
    parse_name,
)
from studies.learners import LEARNERS, Learner
from studies.named_policies import policy_kind
from studies.options import OPTIONS
from studies.questions import (
    SCALES,
    Scale,
    budget,
    collapse,
    credit,
    curriculum,
    execution,
    grouping,
    horizon,
    macro_size,
    mira,
    model,
    negative,
    noise,
    recipe,
    restore,
    smoke,
    split,
    technique,
    turn_risk,
    untrained,
)

__all__ = [
    "FAMILIES",
    "LEARNERS",
    "OPTIONS",
    "SCALES",
    "SINGLE",
    "STUDIES",
    "Cell",
    "Family",
    "Learner",
    "Scale",
    "Study",
    "named",
    "only",
    "parse_name",
    "select",
    "without_training",
]

SINGLE = "single"
"""Study name, and so folder, of a cell that is run by its own name."""


@dataclass(frozen=True)
class Study:
    """A question and the cells that answer it."""

    name: str
    question: str
    cells: Callable[[Scale], tuple[Cell, ...]]


def _study(name: str, module: ModuleType) -> Study:
    return Study(name, " ".join((module.__doc__ or "").split()), module.cells)


STUDIES: dict[str, Study] = {
    name: _study(name, module)
    for name, module in {
        "smoke": smoke,
        "horizon": horizon,
        "collapse": collapse,
        "restore": restore,
        "turn-risk": turn_risk,
        "execution": execution,
        "macro-size": macro_size,
        "split": split,
        "curriculum": curriculum,
        "recipe": recipe,
        "grouping": grouping,
        "credit": credit,
        "mira": mira,
        "negative": negative,
        "noise": noise,
        "technique": technique,
        "budget": budget,
        "model": model,
        "untrained": untrained,
    }.items()
}


def without_training(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the cells with every RL left out: what is trained stays as it is after SFT, and stands there once."""
    return tuple(
        dict.fromkeys(
            replace(cell, train=(), learner="sft", **_usual("estimator", *OF_RL)) if cell.trained else cell
            for cell in cells
        )
    )


def played_by(cells: Iterable[Cell], policy: str) -> tuple[Cell, ...]:
    """Return the cells with a policy of that name in place of every learner; cells that become equal stand there once.

    Args:
        cells: cells of a study.
        policy: a name that holds a colon, such as `hf:MODEL` or `react+openai:MODEL@BASE_URL`.

    Raises:
        ValueError: if there is no such kind of policy.
    """
    from horizon_bench.policies import POLICIES, usual_form

    if ":" not in policy or policy_kind(policy) not in POLICIES:
        forms = ", ".join(usual_form(name) for name in POLICIES if ":" in usual_form(name))
        raise ValueError(f"policy {policy!r} plays no study; known: {forms}, with agents such as react+ before them")
    usual = _usual("estimator", "mistake", *OF_RL, *OF_MODEL)
    return tuple(dict.fromkeys(replace(cell, train=(), learner=policy, **usual) for cell in cells))


def _usual(*factors: str) -> dict[str, Any]:
    """Return some factors of cells at their defaults."""
    return {name: getattr(Cell, name) for name in factors}


def only(cells: Iterable[Cell], words: Sequence[str], without: Sequence[str] = ()) -> tuple[Cell, ...]:
    """Return the cells whose names hold all of the words, and none of the words in `without`.

    Raises:
        ValueError: if a word stands in no name, or no cell is left.
    """
    words_of = {cell: cell.name.split("-")[1:] for cell in cells}
    known = dict.fromkeys(word for own in words_of.values() for word in own)
    for word in (*words, *without):
        check_name("word of these cells' names", word, known)
    kept = tuple(cell for cell, own in words_of.items() if set(words) <= set(own) and set(without).isdisjoint(own))
    if not kept:
        wanted = [f"all of {', '.join(words)}"] if words else []
        wanted += [f"none of {', '.join(without)}"] if without else []
        raise ValueError(f"no cell has {' and '.join(wanted)} in its name; study list --cells shows the names")
    return kept


def named(name: str) -> Study | Cell:
    """Return what a word on the command line stands for.

    Args:
        name: a study (`horizon`), its tox environment (`study-horizon`), or a cell (`study-sudoku-macro-t3-outcome`).

    Raises:
        ValueError: if nothing has that name, with the nearest one.
    """
    short = name.removeprefix(f"{PREFIX}-")
    words = short.split("-")
    if short not in STUDIES and (len(words) >= FEWEST_WORDS or words[0] in PUZZLE_WORDS):
        return parse_name(name)
    return STUDIES[check_name("study", short, STUDIES)]


def select(name: str, scale: Scale) -> tuple[str, tuple[Cell, ...]]:
    """Return the study's name and cells that a word on the command line stands for.

    Args:
        name: a study, its tox environment or a cell, see `named`.
        scale: board and levels of a study; a cell's name states its own.

    Raises:
        ValueError: if nothing has that name, with the nearest one; or if the study has no cells on that scale.
    """
    study = named(name)
    if isinstance(study, Cell):
        return SINGLE, (study,)
    if not (cells := study.cells(scale)):
        able = ", ".join(key for key, other in SCALES.items() if study.cells(other))
        raise ValueError(
            f"study {study.name} has no cells for {scale.puzzle}, whose replies lack what it varies; "
            f"its boards are --family {able}"
        )
    return study.name, cells
