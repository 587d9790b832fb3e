"""Scores a study's records again under a budget of actions tried, in place of one of replies.

Usage: python benchmarks/action_budget.py results/horizon --slack 1.5

By default an episode ends after 1.5 replies for each action of the shortest way. A macro tries several actions in a
reply, so it may try more of them; an action that is refused costs it nothing. Here an attempt counts as solved only if
the actions that it tried, carried out or refused, and its lost replies are together no more than the slack times the
distance. For single actions that is the budget they had. Prints success, and what macros differ by, paired.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from math import ceil
from pathlib import Path

from reports.comparisons import compare
from reports.conditions import Condition, conditions_of
from reports.intervals import Estimate
from reports.results import load_results
from reports.schema import EvaluationRecord


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="folder of a study")
    parser.add_argument("--slack", type=float, default=1.5, help="actions tried for each of the shortest way")
    chosen = parser.parse_args()
    whole = conditions_of(load_results(chosen.results))
    counted = [within(one, chosen.slack) for one in whole]
    for one, other in zip(whole, counted, strict=True):
        print(f"{one.label}: {shown(one.estimate())} as evaluated, {shown(other.estimate())} by actions tried")
    for pair in compare(counted):
        if pair.axis == "interface":
            levels = "; ".join(f"{level} {shown(each)}" for level, each in pair.by_level.items())
            print(f"{pair.one.label} minus {pair.other.label}, by actions tried: {shown(pair.overall)}; {levels}")


def within(condition: Condition, slack: float) -> Condition:
    """Return a condition in which attempts that tried too many actions have failed."""
    return replace(condition, records=tuple(replace(row, solved=kept(row, slack)) for row in condition.records))


def kept(row: EvaluationRecord, slack: float) -> bool:
    """Return whether an attempt is solved within the budget of actions tried."""
    tried = row.atomic_steps + row.illegal_actions + row.lost_decisions
    return row.solved and tried <= ceil(row.distance * slack - 1e-9)


def shown(estimate: Estimate) -> str:
    """Return an estimate in percent."""
    return f"{100 * estimate.value:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


if __name__ == "__main__":
    main()
