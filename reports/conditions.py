"""Conditions: what is compared. All seeds of one cell, after one phase, evaluated through one interface.

Turns a run's records into grids (one number for each seed and puzzle) that `reports.intervals` and `reports.horizon`
work on. A collapsed run counts as failed: its successes after RL count as none.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from puzzles.names import check_name
from reports.horizon import HorizonFit, fit_horizon
from reports.intervals import Estimate, Grid, generator, mean_estimate
from reports.metrics import avg_at_k, pass_at_k
from reports.panels import nearest_first, schedule, study_board
from reports.results import Results, Run
from reports.schema import CellRecord, EvaluationRecord

ATTEMPTS = 4
"""k of avg@k and pass@k, where every puzzle was attempted so often."""

PHASES = {
    "expert": "expert",
    "noisy-expert": "noisy expert",
    "random": "random",
    "sft": "SFT only",
    "rl": "after RL",
}
"""Phases in order, with the words for them."""

SCORES: dict[str, Callable[..., np.ndarray]] = {"avg": avg_at_k, "pass": pass_at_k}

Filter = Callable[[EvaluationRecord], bool]


def at_level(level: str | None) -> Filter:
    """Return the filter that keeps one level, or all where it is None."""
    return lambda row: level is None or row.level == level


@dataclass(frozen=True, eq=False)
class Condition:
    """One line of every table and figure."""

    label: str
    cell: CellRecord
    """Settings of one of the runs; all agree but for the seed."""
    phase: str
    interface: str
    variant: str
    records: tuple[EvaluationRecord, ...]
    """The last evaluation of each seed and level; of the test split where there is one."""
    collapsed: frozenset[int] = frozenset()
    """Seeds whose run collapsed, for a condition after RL."""
    cells: frozenset[str] = frozenset()
    """Names of the cells that this evaluation belongs to: several where cells share the policy after SFT."""

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from other conditions: study, cell, phase, interface, variant."""
        return (self.cell.study, self.cell.cell, self.phase, self.interface, self.variant)

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """Seeds, rising."""
        return tuple(sorted({row.seed for row in self.records}))

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Levels evaluated, nearest first."""
        distances: dict[str, list[int]] = defaultdict(list)
        for row in self.records:
            distances[row.level].append(row.distance)
        return tuple(nearest_first({level: float(np.mean(found)) for level, found in distances.items()}))

    @cached_property
    def k(self) -> int:
        """Attempts that avg@k and pass@k use: 4, or fewer where a puzzle had fewer."""
        return min(ATTEMPTS, min(map(len, self.attempts.values()), default=1))

    @cached_property
    def tries(self) -> frozenset[int]:
        """How many attempts the puzzles had: one number where all had the same."""
        return frozenset(map(len, self.attempts.values()))

    def generator(self, *words: object) -> np.random.Generator:
        """Return the generator of one of the condition's estimates, the same for the same words."""
        return generator(*self.key, *words)

    def grid(self, score: str = "avg", keep: Filter = lambda row: True) -> Grid:
        """Return a score (`avg` or `pass`) of each seed and puzzle.

        Args:
            score: key of `SCORES`.
            keep: whether to keep a puzzle, asked of one of its records.

        Raises:
            ValueError: if it keeps none, or the score is unknown.
        """
        check_name("score", score, SCORES)
        cells = {key: rows for key, rows in self.attempts.items() if keep(rows[0])}
        if not cells:
            raise ValueError(f"no evaluations to score in condition {self.label!r}")
        counts = [len(rows) for rows in cells.values()]
        solved = [0 if seed in self.collapsed else sum(row.solved for row in rows) for (seed, _), rows in cells.items()]
        values = dict(zip(cells, SCORES[score](counts, solved, self.k), strict=True))
        return Grid.of(values, {puzzle: rows[0].distance for (_, puzzle), rows in cells.items()})

    def estimate(self, score: str = "avg", level: str | None = None) -> Estimate:
        """Return a score with its interval, on one level or on all."""
        if (score, level) not in self._estimates:
            grid = self.grid(score, at_level(level))
            self._estimates[score, level] = mean_estimate(grid, self.generator(score, level))
        return self._estimates[score, level]

    def distance(self, level: str) -> float:
        """Return the mean goal distance of a level's puzzles, in atomic actions."""
        return float(np.mean([row.distance for row in self.records if row.level == level]))

    def share(self, part: Callable[[EvaluationRecord], float], whole: Callable[[EvaluationRecord], float]) -> float:
        """Return the sum of one count over the sum of another, over all episodes; NaN where the latter is 0."""
        total = sum(whole(row) for row in self.records)
        return sum(part(row) for row in self.records) / total if total else math.nan

    @cached_property
    def horizon(self) -> HorizonFit:
        """The fitted curve of success against distance, and H50."""
        solved = [row for row in self.records if row.solved and row.distance]
        rate = sum(row.decisions for row in solved) / sum(row.distance for row in solved) if solved else 1.0
        grid = self.grid("avg", lambda row: row.distance > 0)
        return fit_horizon(grid, self.generator("horizon"), decisions_per_action=rate)

    @cached_property
    def _estimates(self) -> dict[tuple[str, str | None], Estimate]:
        return {}

    @cached_property
    def attempts(self) -> dict[tuple[int, str], list[EvaluationRecord]]:
        """The attempts of each seed and puzzle; symmetric copies of a puzzle are told apart by a number."""
        cells: dict[tuple[int, str], list[EvaluationRecord]] = defaultdict(list)
        copies: dict[tuple[int, str, int], int] = defaultdict(int)
        for row in self.records:
            attempt = (row.seed, row.instance_key, row.attempt)
            copy = copies[attempt]
            copies[attempt] += 1
            cells[row.seed, f"{row.instance_key}#{copy}" if copy else row.instance_key].append(row)
        return dict(cells)


def conditions_of(results: Results) -> tuple[Condition, ...]:
    """Return every condition of the results, in reading order; equal SFT conditions of several cells appear once."""
    groups: dict[tuple[str, ...], list[tuple[Run, list[EvaluationRecord]]]] = defaultdict(list)
    for run in results.runs:
        for key, rows in _by_condition(run.evaluations).items():
            groups[(run.cell.study, run.cell.cell, *key)].append((run, rows))
    made = [_condition(key, parts) for key, parts in groups.items()]
    order = list(PHASES)
    trained = {study_board(one.cell) for one in made if one.phase in ("sft", "rl")}

    def place(one: Condition) -> tuple[str, bool, int]:
        """Boards with trained policies come first in their study."""
        phase = order.index(one.phase) if one.phase in order else -1
        return one.cell.study, study_board(one.cell) not in trained, phase

    made.sort(key=place)
    return _named(_without_repeats(made))


def by_board(conditions: Iterable[Condition]) -> dict[str, list[Condition]]:
    """Return the conditions of each study and board, under what a reader calls both."""
    boards: dict[str, list[Condition]] = defaultdict(list)
    for one in conditions:
        boards[study_board(one.cell)].append(one)
    return dict(boards)


def _by_condition(rows: Iterable[EvaluationRecord]) -> dict[tuple[str, str, str], list[EvaluationRecord]]:
    groups: dict[tuple[str, str, str], list[EvaluationRecord]] = defaultdict(list)
    for row in rows:
        groups[row.phase, row.interface, row.variant].append(row)
    return groups


def _condition(key: tuple[str, ...], parts: Sequence[tuple[Run, list[EvaluationRecord]]]) -> Condition:
    _, _, phase, interface, variant = key
    records: list[EvaluationRecord] = []
    tested = any(row.split == "test" for _, rows in parts for row in rows)
    for _, rows in parts:
        reported = [row for row in rows if row.split == "test" or not tested]
        last: dict[str, int] = defaultdict(int)
        for row in reported:
            last[row.level] = max(last[row.level], row.update)
        records += [row for row in reported if row.update == last[row.level]]
    collapsed = frozenset(run.cell.seed for run, _ in parts if phase == "rl" and run.collapse)
    cell = parts[0][0].cell
    return Condition(cell.label, cell, phase, interface, variant, tuple(records), collapsed, frozenset([cell.cell]))


def _without_repeats(conditions: Sequence[Condition]) -> list[Condition]:
    """Leave out SFT conditions that repeat another one: cells that started from the same checkpoint."""
    kept: dict[object, Condition] = {}
    for one in conditions:
        key: object = one
        if one.phase == "sft":
            outcome = tuple((row.seed, row.instance_key, row.attempt, row.tokens, row.solved) for row in one.records)
            key = (one.cell.study, one.interface, one.variant, outcome)
        first = kept.get(key, one)
        kept[key] = replace(first, cells=first.cells | one.cells)
    return list(kept.values())


def _named(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Give every condition a label that no other one of its study has."""
    named: list[Condition] = []
    taken: set[tuple[str, str]] = set()
    for one in conditions:
        label = _label(one)
        if one.phase == "sft" and (one.cell.study, label) in taken:
            label = " \N{MIDDLE DOT} ".join([_before_rl(one.cell), "SFT only", *_run_as(one)])
        if (one.cell.study, label) in taken:
            label = f"{label} ({one.cell.cell})"
        taken.add((one.cell.study, label))
        named.append(replace(one, label=label))
    return tuple(named)


def _before_rl(cell: CellRecord) -> str:
    """Return the label of a cell without the levels that RL trains on."""
    phases = ", then ".join("+".join(phase) for phase in schedule(cell))
    return cell.label.replace(f", trained on {phases}", "").replace(", SFT only", "")


def _run_as(one: Condition) -> list[str]:
    return [] if one.interface == one.cell.interface else [f"run as {one.interface}"]


def _label(one: Condition) -> str:
    if one.phase == "sft":
        parts = [one.interface, "SFT only"]
    else:
        parts = [one.cell.label or one.cell.cell]
        if one.phase not in ("rl", one.cell.policy):
            parts.append(PHASES.get(one.phase, one.phase))
        parts += _run_as(one)
    return " \N{MIDDLE DOT} ".join([*parts, *([one.variant] if one.variant else [])])
