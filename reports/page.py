"""The report: one self-contained HTML page with figures, tables and episodes, and the same as files beside it.

Everything comes from the records; the same records give the same bytes. What is missing or damaged is said on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.comparisons import Comparison, compare
from reports.conditions import Condition, conditions_of
from reports.diagnostics import masked_warnings
from reports.episodes import pick_episodes
from reports.figures import FIGURES, Drawable, draw, named_panels, timeline_size, write_figure
from reports.inline import inline_svg
from reports.panels import Timeline
from reports.published import PUBLISHED_RECIPE
from reports.results import Results, load_results
from reports.tables import Table, all_tables, write_tables
from reports.views import comparisons_by_board, levels_by_board, reaches, runs_by_cell, tiles

MINOR = (
    "macro-length", "invalid-share", "voided-share", "entropy", "gradient-norm", "cost-calls", "cost-seconds",
    "subgoal-times", "sample-size", "masked-share", "conflict-share", "gradient-ratio", "zero-share",
    "subgoal-contrast",
)  # fmt: skip
"""Figures that the page folds away until asked for."""

PIXELS = 86
"""Width on the page of an inch of a wide figure."""


@dataclass(frozen=True)
class PanelView:
    """One panel of a figure on the page."""

    svg: str
    note: str
    title: str = ""
    """Where the page shows it beside the drawing: of a wide panel."""
    detail: str = ""
    width: int = 0
    """Of a wide panel, which scrolls in its place where that is narrower, in pixels; 0: as wide as its place."""


@dataclass(frozen=True)
class FigureView:
    """One figure of the registry on the page."""

    name: str
    title: str
    caption: str
    minor: bool
    panels: tuple[PanelView, ...]
    missing: tuple[str, ...] = ()
    """What the records lack for this figure."""


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
    comparisons = compare(conditions)
    tables = all_tables(loaded, conditions, comparisons)
    files = page.parent / f"{page.stem}_files"
    figures = _figures(loaded, conditions, files / "figures")
    write_tables(tables, files / "tables")
    html = _render(loaded, conditions, comparisons, tables, figures)
    draft = page.with_name(page.name + ".part")
    draft.write_text(html, encoding="utf8")
    draft.replace(page)
    return page


def _render(
    results: Results,
    conditions: Sequence[Condition],
    comparisons: Sequence[Comparison],
    tables: Sequence[Table],
    figures: Sequence[FigureView],
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
        tiles=tiles(results),
        reaches=reaches(conditions),
        tables=named,
        levels=levels_by_board(conditions),
        comparisons=comparisons_by_board(comparisons),
        figures=figures,
        masked=masked_warnings(results.runs),
        findings=[(run, finding) for run in results.runs for finding in run.findings],
        episodes=episodes,
        recipe=PUBLISHED_RECIPE,
        runs=runs_by_cell(results.runs),
        notes=[_relative(note, results.folder) for note in notes],
    )


def _relative(note: str, folder: Path) -> str:
    return note.replace(f"{folder}/", "")


def _figures(results: Results, conditions: Sequence[Condition], folder: Path) -> list[FigureView]:
    """Draw every figure once, write its files, and return what the page shows: of H50 it has bars of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    views = []
    for name, kind in FIGURES.items():
        shown = []
        for stem, panel in named_panels(name, results, conditions):
            svg, _ = write_figure(draw(kind, panel), folder, stem)
            shown.append(_panel_view(panel, inline_svg(svg.read_bytes(), stem, f"{kind.title}. {panel.title}")))
        missing = kind.missing(results)
        if (shown or missing) and name != "h50":
            views.append(FigureView(name, kind.title, kind.caption, name in MINOR, tuple(shown), missing))
    return views


def _panel_view(panel: Drawable, svg: str) -> PanelView:
    if not isinstance(panel, Timeline):
        return PanelView(svg, panel.note)
    return PanelView(svg, panel.note, panel.title, panel.outcome, round(PIXELS * timeline_size(panel)[0]))
