"""The report: one self-contained HTML page with figures, tables and episodes, and the same as files beside it.

Everything comes from the records; the same records give the same bytes. What is missing or damaged is said on the page.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.conditions import Condition, conditions_of
from reports.episodes import pick_episodes
from reports.figures import FIGURES, draw, png_bytes, svg_bytes
from reports.figures.style import colour_of
from reports.inline import css_colour, inline_svg
from reports.intervals import Estimate
from reports.panels import Heat, Panel, board_name
from reports.published import PUBLISHED_RECIPE
from reports.results import Results, Run, load_results
from reports.tables import Table, all_tables, write_tables

MINOR = ("macro-length", "invalid-share", "voided-share", "entropy", "gradient-norm", "cost-calls", "cost-seconds")
"""Figures that the page folds away until asked for."""


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
class FigureView:
    """One figure of the registry on the page."""

    name: str
    title: str
    caption: str
    minor: bool
    panels: tuple[tuple[str, str], ...]
    """SVG and note."""


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


def write_report(results: Path, out: Path | None = None) -> Path:
    """Write the report of a results folder; returns the page's path.

    Beside `report.html` stand `report_files/figures` (SVG, PNG) and `report_files/tables` (CSV, Markdown, LaTeX).

    Args:
        results: a results folder, or a part of one: a study, a cell, a run.
        out: the page (`*.html`) or the folder for it; the results folder unless given.

    Raises:
        ValueError: if there is nothing readable in `results`; the message says what and the way out.
    """
    loaded = load_results(results)
    page = results if out is None else out
    page = page if page.suffix == ".html" else page / "report.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    conditions = conditions_of(loaded)
    tables = all_tables(loaded, conditions)
    files = page.parent / f"{page.stem}_files"
    figures = _figures(loaded, conditions, files / "figures")
    write_tables(tables, files / "tables")
    html = _render(loaded, conditions, tables, figures)
    draft = page.with_name(page.name + ".part")
    draft.write_text(html, encoding="utf8")
    draft.replace(page)
    return page


def _render(
    results: Results, conditions: Sequence[Condition], tables: Sequence[Table], figures: Sequence[FigureView]
) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    notes = list(results.notes)
    episodes = pick_episodes(results.runs, notes)
    environment = Environment(
        loader=PackageLoader("reports"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    named = {table.name: table for table in tables}
    return environment.get_template("report.html.j2").render(
        studies=sorted({run.cell.study for run in results.runs}),
        tiles=_tiles(results),
        reaches=_reaches(conditions),
        tables=named,
        levels=_levels(conditions),
        figures=figures,
        findings=[(run, finding) for run in results.runs for finding in run.findings],
        episodes=episodes,
        recipe=PUBLISHED_RECIPE,
        runs=_runs(results.runs),
        notes=[_relative(note, results.folder) for note in notes],
    )


def _relative(note: str, folder: Path) -> str:
    return note.replace(f"{folder}/", "")


def _tiles(results: Results) -> list[tuple[str, str]]:
    attempts = sum(len(run.evaluations) for run in results.runs)
    trained = [run for run in results.runs if run.updates and run.cell.train_levels]
    collapsed = sum(run.collapse is not None for run in trained)
    puzzles = len({(row.puzzle, row.instance_key) for run in results.runs for row in run.evaluations})
    return [
        (str(len(results.runs)), "runs" if all(run.done for run in results.runs) else "runs, some unfinished"),
        (str(len({run.cell.seed for run in results.runs})), "seeds"),
        (f"{puzzles:,}", "puzzles"),
        (f"{attempts:,}", "attempts"),
        (f"{collapsed} of {len(trained)}", "trained runs collapsed"),
    ]


def _boards(conditions: Sequence[Condition]) -> dict[str, list[Condition]]:
    groups: dict[str, list[Condition]] = defaultdict(list)
    for one in conditions:
        groups[f"{one.cell.study}: {board_name(one.cell)}"].append(one)
    return groups


def _reaches(conditions: Sequence[Condition]) -> list[ReachGroup]:
    return [_reach_group(title, members) for title, members in _boards(conditions).items()]


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
    puzzles = sorted({len({row.instance_key for row in one.records}) for one in members})
    seeds = sorted({len(one.seeds) for one in members})
    attempts = sorted({one.k for one in members})
    words = (("puzzles", puzzles), ("seeds", seeds), ("attempts", attempts))
    parts = (
        f"{numbers[0]} to {numbers[-1]} {word}" if len(numbers) > 1 else f"{numbers[0]} {word}"
        for word, numbers in words
    )
    return "n = " + " \N{MULTIPLICATION SIGN} ".join(parts)


def _levels(conditions: Sequence[Condition]) -> list[LevelGroup]:
    groups = []
    for title, members in _boards(conditions).items():
        distances = {level: one.distance(level) for one in members for level in one.levels}
        levels = sorted(distances, key=lambda level: (distances[level], level))
        rows = tuple(
            (one.label, tuple(_score(one, level) if level in one.levels else None for level in levels))
            for one in members
        )
        heads = tuple((level, f"{distances[level]:.0f}") for level in levels)
        groups.append(LevelGroup(title, min(one.k for one in members), heads, rows, _level_sizes(members)))
    return groups


def _level_sizes(members: Sequence[Condition]) -> str:
    estimates: list[Estimate] = [one.estimate("avg", level) for one in members for level in one.levels]
    puzzles = sorted({estimate.puzzles for estimate in estimates})
    between = f"{puzzles[0]}" if len(puzzles) == 1 else f"{puzzles[0]} to {puzzles[-1]}"
    return f"{between} puzzles a level"


def _score(one: Condition, level: str) -> Score:
    average, any_success = one.estimate("avg", level), one.estimate("pass", level)
    (number, interval), (other, other_interval) = (
        estimate.format().split(" ", 1) for estimate in (average, any_success)
    )
    return Score(number, interval, other, other_interval, average.value)


def _figures(results: Results, conditions: Sequence[Condition], folder: Path) -> list[FigureView]:
    """Draw every figure once, write its files, and return what the page shows."""
    folder.mkdir(parents=True, exist_ok=True)
    views = []
    for name, kind in FIGURES.items():
        panels: list[Panel | Heat] = list(kind.gather(results, conditions))
        shown = []
        for index, panel in enumerate(panels, start=1):
            stem = name if len(panels) == 1 else f"{name}-{index}"
            figure = draw(kind, panel)
            svg = svg_bytes(figure, stem)
            (folder / f"{stem}.svg").write_bytes(svg)
            (folder / f"{stem}.png").write_bytes(png_bytes(figure))
            shown.append((inline_svg(svg, stem, f"{kind.title}. {panel.title}"), panel.note))
        if shown and name != "h50":
            views.append(FigureView(name, kind.title, kind.caption, name in MINOR, tuple(shown)))
    return views


def _runs(runs: Sequence[Run]) -> list[RunView]:
    cells: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        cells[run.cell.study, run.cell.cell].append(run)
    return [_run_view(members) for members in cells.values()]


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
        settings=_settings(cell.settings),
    )


def _settings(settings: Any) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False, default=str)
