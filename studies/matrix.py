"""The study matrix: every study by name, and the way from a name on the command line to its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from studies.factors import (
    FAMILIES,
    FEWEST_WORDS,
    OPTIONS,
    PREFIX,
    PUZZLE_WORDS,
    Cell,
    Family,
    parse_name,
    require,
)
from studies.learners import LEARNERS, Learner
from studies.named_policies import policy_kind
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


def _study(name: str, module: object, cells: Callable[[Scale], tuple[Cell, ...]]) -> Study:
    return Study(name, " ".join((getattr(module, "__doc__", "") or "").split()), cells)


STUDIES: dict[str, Study] = {
    "smoke": _study("smoke", smoke, smoke.cells),
    "horizon": _study("horizon", horizon, horizon.cells),
    "collapse": _study("collapse", collapse, collapse.cells),
    "restore": _study("restore", restore, restore.cells),
    "turn-risk": _study("turn-risk", turn_risk, turn_risk.cells),
    "execution": _study("execution", execution, execution.cells),
    "macro-size": _study("macro-size", macro_size, macro_size.cells),
    "split": _study("split", split, split.cells),
    "curriculum": _study("curriculum", curriculum, curriculum.cells),
    "recipe": _study("recipe", recipe, recipe.cells),
    "grouping": _study("grouping", grouping, grouping.cells),
    "credit": _study("credit", credit, credit.cells),
    "mira": _study("mira", mira, mira.cells),
    "negative": _study("negative", negative, negative.cells),
    "noise": _study("noise", noise, noise.cells),
    "technique": _study("technique", technique, technique.cells),
    "budget": _study("budget", budget, budget.cells),
    "model": _study("model", model, model.cells),
    "untrained": _study("untrained", untrained, untrained.cells),
}


def without_training(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the cells with every RL left out: what is trained stays as it is after SFT, and stands there once."""
    return tuple(
        dict.fromkeys(
            replace(cell, train=(), learner="sft", estimator="", **_UNTRAINED) if cell.trained else cell
            for cell in cells
        )
    )


_UNTRAINED: dict[str, Any] = {
    name: getattr(Cell, name)
    for name in ("normalized", "geometric_mask", "truncation", "optimiser_steps", "rate", "signs")
}
"""Factors of RL alone, at their defaults."""


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
    untrained: dict[str, Any] = _UNTRAINED | {name: getattr(Cell, name) for name in ("estimator", *_OF_LEARNERS)}
    return tuple(dict.fromkeys(replace(cell, train=(), learner=policy, **untrained) for cell in cells))


_OF_LEARNERS = ("slip", "slip_known", "mistake", "width")
"""Factors of the small model and of the noisy expert, which no other policy has."""


def only(cells: Iterable[Cell], words: Sequence[str], without: Sequence[str] = ()) -> tuple[Cell, ...]:
    """Return the cells whose names hold all of the words, and none of the words in `without`.

    Raises:
        ValueError: if a word stands in no name, or no cell is left.
    """
    chosen = tuple(cells)
    known = dict.fromkeys(word for cell in chosen for word in cell.name.split("-")[1:])
    for word in (*words, *without):
        require("word of these cells' names", word, known)
    kept = tuple(
        cell
        for cell in chosen
        if set(words) <= set(cell.name.split("-")) and not set(without) & set(cell.name.split("-"))
    )
    if not kept:
        rest = f" without {', '.join(without)}" if without else ""
        raise ValueError(f"no cell has all of {', '.join(words)} in its name{rest}; study list --cells shows the names")
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
    return STUDIES[require("study", short, STUDIES)]


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
