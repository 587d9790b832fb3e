"""Studies with an estimator of your own: `--estimator MODULE:NAME`.

NAME is a function of the module, `f(batch: CreditBatch, **options) -> advantages`, or a name that the module gives to
`horizon_bench.credit.register_estimator` when it is imported. Nothing here needs to be edited for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from horizon_bench.credit import ESTIMATORS, NEEDS_VALUES
from puzzles.names import did_you_mean
from studies.factors import Cell
from studies.learners import LEARNERS
from studies.own_modules import import_own


def beside(cells: Iterable[Cell], spec: str) -> tuple[Cell, ...]:
    """Return the cells, and beside each that learns from plain outcomes the same one with your estimator.

    Args:
        cells: cells of a study.
        spec: `MODULE:NAME`.

    Raises:
        ValueError: if module or name lead nowhere, or no cell learns from plain outcomes.
    """
    resolve(spec)
    chosen = list(cells)
    twins = {
        cell: replace(cell, learner=learner_word(spec), estimator=spec) for cell in chosen if cell.learner == "outcome"
    }
    if not twins:
        raise ValueError(
            f"estimator {spec!r} has no place: it stands in for the learner outcome, which none of these cells has"
        )
    return tuple(one for cell in chosen for one in (cell, twins.get(cell)) if one is not None)


def learner_word(spec: str) -> str:
    """Return the word for your estimator in the names of cells, one that no estimator of the suite has."""
    word = re.sub(r"[^a-z0-9]", "", spec.rpartition(":")[2].lower()) or "own"
    return f"own{word}" if word in LEARNERS else word


def resolve(spec: str) -> str:
    """Return the name under which training finds an estimator: as registered, or `module:function`.

    Names without a colon are those of the suite and come back as they are.

    Raises:
        ValueError: if module or name lead nowhere.
    """
    if ":" not in spec:
        return spec
    loaded = import_own("estimator", spec)
    module, _, name = spec.partition(":")
    function = getattr(loaded, name, None)
    if name in ESTIMATORS and (function is None or function is ESTIMATORS[name]):
        return name
    if callable(function):
        return spec
    hint = did_you_mean(name, [*vars(loaded), *ESTIMATORS])
    raise ValueError(f"module {module!r} has no estimator {name!r}{hint} (a function, or a registered name)")


def needs_critic(cell: Cell) -> bool:
    """Return whether the cell's estimator reads the values of a learned critic."""
    return NEEDS_VALUES.get(resolve(cell.credit.estimator)) == "critic"
