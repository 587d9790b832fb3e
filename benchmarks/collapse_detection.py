"""Precision, recall, delay of the collapse detector on made and real curves: `python benchmarks/collapse_detection.py`.

Made curves have known answers: kinds of healthy and of collapsing runs, each with 9, 17 and 41 evaluations, 50, 100 and
250 puzzles, and three sizes of training noise. Real ones were labelled by eye before the detector saw them
(`benchmarks/collapse_curves.py`). Prints the tables of `docs/collapse.md`; `--figure FILE` draws its figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
from collapse_curves import COLLAPSED, DEFINITION, DOUBTFUL, Labelled, stored

from reports.collapse import FATAL, RunCurves, SuccessCurve, detect_curves, first_collapse
from reports.intervals import wilson
from reports.schema import CollapseRecord
from reports.table import Table

INTERVAL = 10
"""Updates between the evaluations of a made curve."""
EVALUATIONS = (9, 17, 41)
PUZZLES = (50, 100, 250)
NOISE = {"none": 0.0, "realistic": 0.025, "extreme": 0.1}
"""Deviation of an evaluation's true success rate from its curve, at a rate of one half; less towards 0 and 1. The
realistic one is about what the noisiest tenth of stable real runs shows (the last table)."""
HEALTHY_KINDS = (
    "flat", "rising slowly", "rising, then a plateau", "mastery", "a dip that is regained", "a small lasting loss"
)  # fmt: skip
COLLAPSING_KINDS = (
    "sudden", "slow", "partial", "shortly before the end", "then partial recovery", "of what SFT had taught",
    "of the gain alone",
)  # fmt: skip

FloatArray = np.ndarray


@dataclass(frozen=True)
class Case:
    """One labelled run and what the detector says of it."""

    kind: str
    collapsed: bool
    onset: int
    """Last update before the fall, -1 where nothing falls."""
    noise: str
    curves: RunCurves
    findings: tuple[CollapseRecord, ...]

    @property
    def alarm(self) -> CollapseRecord | None:
        """The first fatal finding."""
        return first_collapse(self.findings)

    @property
    def found(self) -> bool:
        """Whether the run collapsed and was named after its onset."""
        return self.collapsed and self.alarm is not None and self.alarm.update > self.onset

    @property
    def false(self) -> bool:
        """Whether the alarm is wrong: in a run that did not collapse, or before it did."""
        return self.alarm is not None and not self.found

    def delay(self, finding: CollapseRecord | None = None) -> tuple[int, int]:
        """Return evaluations and updates from the last point before the fall to a finding, the first alarm by default.

        An alarm from the training episodes counts the evaluations that were over by then.
        """
        finding = finding or self.alarm
        assert finding is not None
        points = self.curves.success[0].updates
        return sum(self.onset < point <= finding.update for point in points), finding.update - self.onset


def healthy_curve(kind: str, rng: np.random.Generator, count: int) -> FloatArray:
    """Return the true success rates of a run that does not collapse, shape [count]."""
    time = np.linspace(0.0, 1.0, count)
    start = rng.uniform(0.05, 0.5)
    top = min(0.95, start + rng.uniform(0.1, 0.4))
    plateau = start + (top - start) * np.minimum(1.0, time / rng.uniform(0.2, 0.5))
    if kind == "flat":
        return np.full(count, rng.uniform(0.02, 0.95))
    if kind == "rising slowly":
        return start + (top - start) * time
    if kind == "mastery":
        return start + (0.99 - start) * np.minimum(1.0, time / 0.6)
    if kind == "a dip that is regained":
        at = rng.integers(count // 2, count - 2)
        plateau[at : at + rng.integers(1, 3)] *= rng.uniform(0.2, 0.6)
    if kind == "a small lasting loss":
        plateau[rng.integers(count // 2, count - 2) :] -= rng.uniform(0.1, 0.3) * (top - start)
    return plateau


def collapsing_curve(kind: str, rng: np.random.Generator, count: int) -> tuple[FloatArray, int]:
    """Return the true success rates of a run that collapses, shape [count], and the index of the last one before."""
    start = rng.uniform(0.05, 0.4)
    top = start + rng.uniform(0.25, 0.5)
    onset = int(rng.integers(round(0.4 * count), round(0.55 * count)))
    if kind == "shortly before the end":
        onset = count - int(rng.integers(2, 4))
    curve = start + (top - start) * np.minimum(1.0, np.arange(count) / max(1, round(0.3 * count)))
    if kind == "of what SFT had taught":
        curve = np.full(count, top := rng.uniform(0.3, 0.7))
    after = np.arange(1, count - onset)
    low = top * rng.uniform(0.0, 0.3)
    fallen = np.full(len(after), low)
    if kind == "slow":
        fallen = top + (low - top) * after / len(after)
    if kind == "partial":
        fallen[:] = top * rng.uniform(0.3, 0.4)
    if kind == "then partial recovery":
        fallen = np.where(after <= 3, low, low + (rng.uniform(0.4, 0.6) * top - low) * (after - 3) / max(1, len(after)))
    if kind == "of the gain alone":
        fallen[:] = start + rng.uniform(0.0, 0.25) * (top - start)
    curve[onset + 1 :] = fallen
    return curve, onset


def made_cases(repeats: int, seed: int) -> list[Case]:
    """Return `repeats` cases of each kind, number of evaluations, number of puzzles and size of noise."""
    cases = []
    combinations = list(product((*HEALTHY_KINDS, *COLLAPSING_KINDS), EVALUATIONS, PUZZLES, NOISE))
    for combination, child in zip(combinations, np.random.SeedSequence(seed).spawn(len(combinations)), strict=True):
        rng = np.random.default_rng(child)
        cases += [_made(*combination, rng) for _ in range(repeats)]
    return cases


def _made(kind: str, count: int, puzzles: int, noise: str, rng: np.random.Generator) -> Case:
    if collapsed := kind in COLLAPSING_KINDS:
        curve, last = collapsing_curve(kind, rng, count)
    else:
        curve, last = healthy_curve(kind, rng, count), -1
    spread = NOISE[noise] * 2 * np.sqrt(curve * (1 - curve))
    success = rng.binomial(puzzles, np.clip(curve + spread * rng.normal(size=count), 0, 1)) / puzzles
    updates = tuple(range(0, INTERVAL * count, INTERVAL))
    curves = RunCurves((SuccessCurve("all", updates, tuple(success.tolist()), (puzzles,) * count),), (), {})
    return Case(kind, collapsed, updates[last] if collapsed else -1, noise, curves, detect_curves(curves))


def judged(runs: Iterable[Labelled]) -> list[Labelled]:
    """Return the real runs that have a label, without the doubtful ones."""
    return [one for one in runs if one.label and one.label != DOUBTFUL]


def real_cases(runs: Iterable[Labelled]) -> list[Case]:
    """Return the cases of the real runs, without the doubtful ones."""
    return [
        Case(f"half {one.half}", one.label == COLLAPSED, one.onset, "real", one.curves, detect_curves(one.curves))
        for one in judged(runs)
    ]


def score_row(name: str, cases: Sequence[Case]) -> tuple[str, ...]:
    """Return one line of a table: precision, recall, false alarms a healthy run, delay."""
    collapsed = [one for one in cases if one.collapsed]
    found = [one for one in cases if one.found]
    false = [one for one in cases if one.false]
    delays = [one.delay() for one in found]
    return (
        name,
        f"{len(cases) - len(collapsed)} / {len(collapsed)}",
        _share(len(found), len(found) + len(false)),
        _share(len(found), len(collapsed)),
        _share(sum(not one.collapsed for one in false), len(cases) - len(collapsed)),
        str(sum(one.collapsed for one in false)),
        *(_delay([pair[unit] for pair in delays]) for unit in (0, 1)),
    )


SCORES = (
    "curves", "healthy / collapsed", "precision", "recall", "false alarms a healthy run", "early alarms",
    "delay (evaluations)", "delay (updates)",
)  # fmt: skip


def criterion_rows(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Return a line for each criterion that any run fulfilled: in how many, how often first, how late."""
    names = {row.criterion: row.fatal for one in cases for row in one.findings}
    rows = []
    for name in sorted(names, key=lambda name: (name not in FATAL, name)):
        fulfilled = [(one, row) for one in cases for row in one.findings if row.criterion == name and _counts(row)]
        sides = [{id(one) for one, _ in fulfilled if one.collapsed == side} for side in (True, False)]
        if not any(sides):
            continue
        first = sum(one.alarm is row for one, row in fulfilled)
        earliest: dict[int, int] = {}
        for one, row in fulfilled:
            if one.collapsed and row.update > one.onset:
                earliest[id(one)] = min(earliest.get(id(one), 10**9), row.update - one.onset)
        shares = [
            _share(len(side), sum(one.collapsed == collapsed for one in cases))
            for side, collapsed in zip(sides, (True, False), strict=True)
        ]
        rows.append((f"`{name}`", *shares, str(first) if name in FATAL else "-", _delay(list(earliest.values()))))
    return rows


def _counts(row: CollapseRecord) -> bool:
    """Return whether a finding is more than the warning of a single level."""
    return row.fatal or row.criterion not in FATAL


CRITERION_COLUMNS = ("criterion", "collapsed runs", "healthy runs", "was the first alarm", "delay (updates)")


def noise_rows(runs: Iterable[Labelled]) -> list[tuple[str, ...]]:
    """Return how much success moves from one evaluation to the next in real runs labelled healthy."""
    spreads: dict[str, list[tuple[float, float]]] = {"all": [], "rollout": []}
    for one in runs:
        for curve in one.curves.success:
            if one.label not in (COLLAPSED, DOUBTFUL) and curve.level in spreads and len(curve.success) >= 6:
                success = np.asarray(curve.success)
                bends = float(np.sqrt(np.mean(np.diff(success, n=2) ** 2) / 6))
                drawing = float(np.mean(np.sqrt(success * (1 - success) / np.asarray(curve.puzzles))))
                spreads[curve.level].append((bends, drawing))
    rows = []
    for level, pairs in spreads.items():
        bends, drawing = np.array(pairs).T
        quantiles = (f"{100 * np.quantile(bends, share):.1f}" for share in (0.5, 0.9, 1.0))
        name = {"all": "validation, all levels", "rollout": "training, 5 updates"}[level]
        rows.append((name, str(len(pairs)), *quantiles, f"{100 * np.median(drawing):.1f}"))
    return rows


NOISE_COLUMNS = ("curve", "curves", "median (points)", "90 %", "largest", "binomial error of drawing puzzles")


def _share(part: int, whole: int) -> str:
    if whole == 0:
        return "-"
    low, high = wilson(part, whole)
    return f"{part} of {whole} ({100 * part / whole:.1f} % [{100 * low:.1f}, {100 * high:.1f}])"


def _delay(values: Sequence[int]) -> str:
    return f"{median(values):g}, at most {max(values)}" if values else "-"


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return Table("", "", tuple(columns), tuple(map(tuple, rows))).to_markdown().rstrip()


def made_tables(cases: Sequence[Case]) -> dict[str, str]:
    """Return the tables of the made curves by title."""
    usual = [one for one in cases if one.noise != "extreme"]
    groups: list[tuple[str, list[Case]]] = [
        (kind, [one for one in usual if one.kind == kind]) for kind in (*HEALTHY_KINDS, *COLLAPSING_KINDS)
    ]
    axes: list[tuple[str, list[Case]]] = [
        *((f"noise: {name}", [one for one in cases if one.noise == name]) for name in NOISE),
        *(
            (f"{count} evaluations", [one for one in usual if len(one.curves.success[0].success) == count])
            for count in EVALUATIONS
        ),
        *(
            (f"{count} puzzles", [one for one in usual if one.curves.success[0].puzzles[0] == count])
            for count in PUZZLES
        ),
        ("all without extreme noise", usual),
    ]
    return {
        "Made curves by kind, noise none or realistic": markdown(SCORES, [score_row(*group) for group in groups]),
        "Made curves, all kinds": markdown(SCORES, [score_row(*group) for group in axes]),
        "Made curves by criterion, noise none or realistic": markdown(CRITERION_COLUMNS, criterion_rows(usual)),
    }


def real_tables(runs: Sequence[Labelled]) -> dict[str, str]:
    """Return the tables of the real runs by title."""
    cases = real_cases(runs)
    halves = [(kind, [one for one in cases if one.kind == kind]) for kind in ("half 0", "half 1")]
    return {
        "Real runs": markdown(SCORES, [score_row(*group) for group in (*halves, ("both", cases))]),
        "Real runs by criterion": markdown(CRITERION_COLUMNS, criterion_rows(cases)),
        "Noise of real runs labelled healthy, evaluation to evaluation": markdown(NOISE_COLUMNS, noise_rows(runs)),
    }


def wrong_lines(runs: Sequence[Labelled]) -> list[str]:
    """Return a line for each real run that the detector judges otherwise than its label, and each collapse it names."""
    lines = []
    for one, case in zip(judged(runs), real_cases(runs), strict=True):
        if case.collapsed or case.alarm:
            said = case.alarm.message if case.alarm else "no alarm"
            lines.append(f"{one.name}: labelled {one.label}, onset {one.onset}, half {one.half}; {said}")
    return lines


def draw(path: Path, runs: Sequence[Labelled]) -> None:
    """Draw the collapsed real runs and some healthy ones, with label and alarm."""
    from matplotlib.figure import Figure

    pairs = list(zip(judged(runs), real_cases(runs), strict=True))
    collapsed = [pair for pair in pairs if pair[1].collapsed]
    lowest = sorted((pair for pair in pairs if not pair[1].collapsed), key=lambda pair: _ends(pair[0]))
    figure = Figure(figsize=(10, 5.4), layout="constrained")
    for place, (one, case) in enumerate([*collapsed[:4], *lowest[: 6 - len(collapsed[:4])]]):
        axes = figure.add_subplot(2, 3, place + 1)
        for curve in one.curves.success:
            if curve.level in ("all", "rollout"):
                look = {"all": {"color": "#0072B2", "marker": "o"}, "rollout": {"color": "#E69F00", "linestyle": "--"}}
                name = {"all": "validation, all levels", "rollout": "training, 5 updates"}[curve.level]
                axes.plot(curve.updates, [100 * value for value in curve.success], label=name, **look[curve.level])
        if case.collapsed:
            axes.axvline(case.onset, color="0.5", linestyle=":", label="labelled onset")
        if case.alarm:
            axes.axvline(case.alarm.update, color="#D55E00", label="named by the detector")
        axes.set(ylim=(0, 100), title=f"labelled {'collapsed' if case.collapsed else 'not collapsed'}")
        axes.set(xlabel="RL update", ylabel="success (%)")
        if place == 0:
            axes.legend(fontsize=7)
    figure.savefig(path, dpi=110)


def _ends(one: Labelled) -> float:
    """Return the last validation success over the highest: the healthy runs that lost most come first."""
    success = one.curves.success[0].success
    return success[-1] / max(success)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20, help="made curves of each combination (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the made curves (default 0)")
    parser.add_argument("--half", type=int, choices=(0, 1), help="only this half of the real runs, no made curves")
    parser.add_argument("--figure", type=Path, help="also draw real examples into this file")
    arguments = parser.parse_args()
    runs = [one for one in stored() if arguments.half in (None, one.half)]
    made = {} if arguments.half is not None else made_tables(made_cases(arguments.repeats, arguments.seed))
    for title, table in {**made, **real_tables(runs)}.items():
        print(f"\n### {title}\n\n{table}")
    print("\nA label is:", DEFINITION, "\n")
    print(*wrong_lines(runs), sep="\n")
    if arguments.figure:
        draw(arguments.figure, runs)


if __name__ == "__main__":
    main()
