"""What the page shows besides figures and tables: numbers and words, laid out, nothing computed anew."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from reports.comparisons import Comparison
from reports.conditions import Condition, by_board
from reports.figures.style import colour_of
from reports.inline import css_colour
from reports.intervals import Estimate
from reports.panels import counted, nearest_first, sample_size, study_board
from reports.results import Results, Run, by_cell


@dataclass(frozen=True)
class Reach:
    """H50 of one condition as a bar, positions in percent of the scale."""

    label: str
    colour: str
    value: float
    low: float
    high: float
    text: str
    per_decision: str
    faint: bool
    """Drawn hollow: SFT only."""
    collapsed: str


@dataclass(frozen=True)
class ReachGroup:
    """The bars that share a scale: one study on one board."""

    title: str
    furthest: float
    """End of the scale, in atomic actions."""
    tested: float
    """Furthest distance tested, in percent of the scale."""
    ticks: tuple[tuple[float, str], ...]
    bars: tuple[Reach, ...]
    size: str


@dataclass(frozen=True)
class Score:
    """One field of the table of levels."""

    average: str
    interval: str
    any_success: str
    any_interval: str
    share: float
    """Average success, 0 to 1, for the tint."""


@dataclass(frozen=True)
class LevelGroup:
    """Scores of the conditions of one study and board."""

    title: str
    k: int
    levels: tuple[tuple[str, str], ...]
    """Name and mean distance."""
    rows: tuple[tuple[str, tuple[Score | None, ...]], ...]
    size: str


@dataclass(frozen=True)
class RunView:
    """Facts of one cell's runs."""

    label: str
    cell: str
    study: str
    seeds: str
    state: str
    preset: str
    device: str
    commit: str
    versions: str
    settings: str


@dataclass(frozen=True)
class Difference:
    """One difference with its interval."""

    value: str
    interval: str
    clear: bool
    """Whether the interval leaves out zero."""


@dataclass(frozen=True)
class ComparisonGroup:
    """Comparisons of one study and board."""

    title: str
    levels: tuple[str, ...]
    rows: tuple[tuple[Comparison, str, tuple[Difference | None, ...]], ...]
    """Pair, probability of improvement, differences over all levels together and on each."""


def tiles(results: Results) -> list[tuple[str, str]]:
    """Return the report's size in a few numbers, each with its words."""
    attempts = sum(len(run.evaluations) for run in results.runs)
    trained = [run for run in results.runs if run.updates and run.cell.train_levels]
    collapsed = sum(run.collapse is not None for run in trained)
    puzzles = len({(row.puzzle, row.instance_key) for run in results.runs for row in run.evaluations})
    seeds = len({run.cell.seed for run in results.runs})
    return [
        (str(len(results.runs)), "runs" if all(run.done for run in results.runs) else "runs, some unfinished"),
        (str(seeds), "seeds" if seeds != 1 else "seed"),
        (f"{puzzles:,}", "puzzles"),
        (f"{attempts:,}", "attempts"),
        (f"{collapsed} of {len(trained)}", "trained runs collapsed"),
    ]


def reaches(conditions: Sequence[Condition]) -> list[ReachGroup]:
    """Return H50 of every condition, a group for each study and board."""
    return [_reach_group(title, members) for title, members in by_board(conditions).items()]


def _reach_group(title: str, members: Sequence[Condition]) -> ReachGroup:
    tested = max(one.horizon.furthest for one in members)
    end = 1.25 * tested
    bars = []
    for one in members:
        fit = one.horizon
        value, low, high = (100 * min(number / end, 1.0) for number in (fit.h50, fit.low, fit.high))
        single = f"{fit.per_decision:.1%}" if 0 < fit.per_decision < 1 else ""
        collapsed = f"{len(one.collapsed)} of {len(one.seeds)} seeds collapsed" if one.collapsed else ""
        colour = css_colour(colour_of(one.interface))
        bars.append(Reach(one.label, colour, value, low, high, fit.format(), single, one.phase == "sft", collapsed))
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500) if end / step <= 8 or step == 500)
    ticks = tuple((100 * tick / end, str(tick)) for tick in range(0, int(end) + 1, step))
    return ReachGroup(title, end, 100 * tested / end, ticks, tuple(bars), _sizes(members))


def _sizes(members: Sequence[Condition]) -> str:
    puzzles = {len({row.instance_key for row in one.records}) for one in members}
    tries = {count for one in members for count in one.tries}
    return sample_size(puzzles, {len(one.seeds) for one in members}, tries)


def levels_by_board(conditions: Sequence[Condition]) -> list[LevelGroup]:
    """Return the table of levels, a group for each study and board."""
    groups = []
    for title, members in by_board(conditions).items():
        distances = {level: one.distance(level) for one in members for level in one.levels}
        levels = nearest_first(distances)
        rows = tuple(
            (one.label, tuple(_score(one, level) if level in one.levels else None for level in levels))
            for one in members
        )
        heads = tuple((level, f"{distances[level]:.0f}") for level in levels)
        puzzles = counted({one.estimate("avg", level).puzzles for one in members for level in one.levels}, "puzzle")
        groups.append(LevelGroup(title, min(one.k for one in members), heads, rows, f"{puzzles} a level"))
    return groups


def _score(one: Condition, level: str) -> Score:
    average, any_success = one.estimate("avg", level), one.estimate("pass", level)
    (number, interval), (other, other_interval) = (
        estimate.format().split(" ", 1) for estimate in (average, any_success)
    )
    return Score(number, interval, other, other_interval, average.value)


def comparisons_by_board(comparisons: Sequence[Comparison]) -> list[ComparisonGroup]:
    """Return the comparisons of each study and board."""
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for pair in comparisons:
        groups[study_board(pair.one.cell)].append(pair)
    return [_comparison_group(title, pairs) for title, pairs in groups.items()]


def _comparison_group(title: str, pairs: Sequence[Comparison]) -> ComparisonGroup:
    distances = {level: pair.one.distance(level) for pair in pairs for level in pair.by_level}
    levels = nearest_first(distances)
    rows = []
    for pair in pairs:
        better = pair.improvement.format(1.0, 2) if pair.improvement else "\N{EM DASH}"
        cells = tuple(_difference(pair.by_level[level]) if level in pair.by_level else None for level in levels)
        rows.append((pair, better, (_difference(pair.overall), *cells)))
    return ComparisonGroup(title, tuple(levels), tuple(rows))


def _difference(estimate: Estimate) -> Difference:
    value, interval = estimate.format(sign=True).split(" ", 1)
    return Difference(value, interval, not estimate.low <= 0 <= estimate.high)


def runs_by_cell(runs: Sequence[Run]) -> list[RunView]:
    """Return the facts of every cell's runs."""
    return [_run_view(members) for members in by_cell(runs)]


def _run_view(members: Sequence[Run]) -> RunView:
    cell = members[0].cell
    finished = sum(run.done for run in members)
    return RunView(
        label=cell.label,
        cell=cell.cell,
        study=cell.study,
        seeds=", ".join(str(run.cell.seed) for run in members),
        state="finished" if finished == len(members) else f"{finished} of {len(members)} finished",
        preset=cell.preset,
        device=cell.device,
        commit=cell.commit,
        versions=", ".join(f"{name} {version}" for name, version in cell.versions.items()),
        settings=json.dumps(cell.settings, indent=2, ensure_ascii=False, default=str),
    )
