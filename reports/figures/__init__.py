"""The figures by name: what each gathers from results, how it draws a panel, and its caption.

`FIGURES` is the registry: adding a figure is one entry. `draw` makes a matplotlib figure of one panel without touching
global state; `write_figures` writes all panels of all figures as SVG and PNG.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from puzzles.names import check_name
from reports.conditions import Condition
from reports.failures_tables import share_maps, subgoal_maps
from reports.figures.charts import draw_bands, draw_differences, draw_forest, draw_points, row_name
from reports.figures.maps import draw_map
from reports.figures.style import DPI, SETTINGS, png_bytes, svg_bytes, write_figure
from reports.figures.timeline import draw_timeline, timeline_size
from reports.gather_credit import credit_map, credit_pictures, missing_pictures
from reports.gather_critics import calibration_panels, critic_pictures
from reports.gather_edge import edge_panels
from reports.gather_success import horizon_panels, success_panels, technique_maps
from reports.gather_training import cost_panels, metric_panels, training_panels
from reports.panels import Heat, Panel, Timeline
from reports.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FIGURES",
    "Drawable",
    "FigureKind",
    "credit_map",
    "draw",
    "draw_bands",
    "draw_differences",
    "draw_forest",
    "draw_map",
    "draw_points",
    "draw_timeline",
    "find_figure",
    "named_panels",
    "png_bytes",
    "svg_bytes",
    "timeline_size",
    "write_figure",
    "write_figures",
]

Drawable = Panel | Heat | Timeline

WIDTH, HEIGHT = 4.5, 3.1
"""Of one panel's axes, in inches."""


@dataclass(frozen=True)
class FigureKind:
    """One figure of the registry."""

    title: str
    caption: str
    """What is seen and how to read it; n and interval are added from the panels."""
    gather: Callable[[Results, Sequence[Condition]], Sequence[Drawable]]
    draw: Callable[[Axes, Any], Axes]
    missing: Callable[[Results], tuple[str, ...]] = lambda results: ()
    """Sentences on what the results lack for this figure."""


def _of_conditions(gather: Callable[..., Any], *options: str) -> Callable[[Results, Sequence[Condition]], Any]:
    return lambda results, conditions: gather(conditions, *options)


def _of_runs(gather: Callable[..., Any], *options: str) -> Callable[[Results, Sequence[Condition]], Any]:
    return lambda results, conditions: gather(results.runs, *options)


FIGURES: dict[str, FigureKind] = {
    "h50": FigureKind(
        "How far a policy can be trusted: H50",
        "The goal distance at which success falls to one half, from a curve fitted over all distances. A value beyond "
        "the distances tested is cut off at a quarter past the furthest one.",
        _of_conditions(horizon_panels),
        draw_forest,
    ),
    "success-by-distance": FigureKind(
        "Success by goal distance",
        "Mean success over attempts, then puzzles, with the curve exp(\N{MINUS SIGN}(d / scale)^shape) fitted to it. "
        "Hollow: SFT only. Collapsed runs count as failed.",
        _of_conditions(success_panels),
        draw_points,
    ),
    "pass-by-distance": FigureKind(
        "At least one success by goal distance",
        "Unbiased estimate of the chance that one of k attempts solves a puzzle.",
        _of_conditions(success_panels, "pass"),
        draw_points,
    ),
    "training": FigureKind(
        "Success during training",
        "Success at the evaluations during RL, on the levels that every evaluation covers.",
        _of_runs(training_panels),
        draw_bands,
    ),
    "rollout-success": FigureKind(
        "Success of the training episodes",
        "Share of the rollouts solved at each update; a change of training levels shows as a jump.",
        _of_runs(metric_panels, "success"),
        draw_bands,
    ),
    "cost-tokens": FigureKind(
        "Success for the same number of tokens",
        "The curves of training against what they cost: tokens generated in training.",
        _of_runs(cost_panels, "tokens"),
        draw_bands,
    ),
    "cost-calls": FigureKind(
        "Success for the same number of environment calls",
        "As above, against the decisions that environments carried out in training.",
        _of_runs(cost_panels, "calls"),
        draw_bands,
    ),
    "cost-seconds": FigureKind(
        "Success in the same time",
        "As above, against wall-clock time of training; machines and load differ, so compare within a study.",
        _of_runs(cost_panels, "seconds"),
        draw_bands,
    ),
    "macro-edge": FigureKind(
        "When does a macro help? Its edge against the risk of a decision",
        "Success of macros minus single actions, against the share of decisions that are lost to a slip, whatever they "
        "contain. Measure that share for your own agent and read off what macros would bring.",
        _of_conditions(edge_panels),
        draw_differences,
    ),
    "technique": FigureKind(
        "Distance against difficulty",
        "Success by goal distance and by the hardest technique that a puzzle needs: how long against how hard.",
        _of_conditions(technique_maps),
        draw_map,
    ),
    "macro-length": FigureKind(
        "Length of macros", "Atomic actions written in a decision.", _of_runs(metric_panels, "macro_length"), draw_bands
    ),
    "invalid-share": FigureKind(
        "Illegal actions",
        "Share of the written actions that the rules refused.",
        _of_runs(metric_panels, "invalid_share"),
        draw_bands,
    ),
    "voided-share": FigureKind(
        "Lost decisions",
        "Share of the decisions that were unreadable or voided by a false thought.",
        _of_runs(metric_panels, "voided_share"),
        draw_bands,
    ),
    "entropy": FigureKind(
        "Entropy", "Mean entropy of the sampling distribution.", _of_runs(metric_panels, "entropy"), draw_bands
    ),
    "gradient-norm": FigureKind(
        "Gradient norm", "Before clipping.", _of_runs(metric_panels, "gradient_norm"), draw_bands
    ),
    "sample-size": FigureKind(
        "Effective sample size",
        "(sum of weights)\N{SUPERSCRIPT TWO} over n times the sum of their squares: 100 % if all replies count alike.",
        _of_runs(metric_panels, "effective_sample_size"),
        draw_bands,
    ),
    "masked-share": FigureKind(
        "Masked replies",
        "Share of the replies that the importance correction leaves out; above one half the rest is a biased sample.",
        _of_runs(metric_panels, "masked_share"),
        draw_bands,
    ),
    "conflict-share": FigureKind(
        "Conflicting credit: CAR",
        "Of state-action pairs that two attempts of a group share: those with advantages of both signs.",
        _of_runs(metric_panels, "car"),
        draw_bands,
    ),
    "gradient-ratio": FigureKind(
        "What conflicts leave: EGR",
        "Net over total push on the pairs that attempts of a group share; 100 % without conflict.",
        _of_runs(metric_panels, "egr"),
        draw_bands,
    ),
    "zero-share": FigureKind(
        "Decisions without credit: ZAR",
        "Share of the decisions with an advantage of exactly 0.",
        _of_runs(metric_panels, "zar"),
        draw_bands,
    ),
    "subgoal-contrast": FigureKind(
        "Contrast at subgoals: CCR",
        "Mean size of the advantages of decisions that complete a subgoal, over that of all others; 1 is no contrast.",
        _of_runs(metric_panels, "ccr"),
        draw_bands,
    ),
    "failures": FigureKind(
        "Why attempts failed",
        "What became of the attempts of each condition, before and after training. A failed attempt belongs to the "
        "first class, from left to right, whose criterion holds.",
        share_maps,
        draw_map,
    ),
    "subgoal-times": FigureKind(
        "How far failed attempts came, and when",
        "Share of the failed episodes that had completed so many subgoals by each tenth of their decisions: a row that "
        "fills late was cut off at work, one that stays as it is had stopped getting on.",
        subgoal_maps,
        draw_map,
    ),
    "calibration": FigureKind(
        "Can the critics be believed?",
        "What MiRA's critics predicted of new episodes, before they learned from them, against what came: success for "
        "the value critic, progress labels of solved episodes for the potential critic.",
        _of_runs(calibration_panels),
        draw_points,
    ),
    "critics": FigureKind(
        "What the critics expect along an episode",
        "Predictions of MiRA's critics at every state of one solved and one failed episode. Chosen by rule among those "
        "of the last update: of the solved ones that with most decisions, of the failed ones that with most subgoals.",
        _of_runs(critic_pictures),
        draw_points,
    ),
    "credit": FigureKind(
        "Who gets the credit?",
        "One failed attempt and one that made a detour, decision by decision, and the advantage that each estimator "
        "gives to each decision; its group are all attempts at the same puzzle. Chosen by rule: groups with both "
        "outcomes first; of failed attempts the one with most subgoals, of detours a solved one with most decisions "
        "that brought the goal no nearer.",
        _of_runs(credit_pictures),
        draw_timeline,
        lambda results: missing_pictures(results.runs),
    ),
}
"""Every figure by name, in the page's order."""


def find_figure(name: str) -> FigureKind:
    """Return a figure of the registry.

    Raises:
        ValueError: if there is none of that name, with the nearest one.
    """
    return FIGURES[check_name("figure", name, FIGURES)]


def named_panels(name: str, results: Results, conditions: Sequence[Condition]) -> list[tuple[str, Drawable]]:
    """Return what a figure draws of some results, each panel with the name of its files."""
    panels = find_figure(name).gather(results, conditions)
    return [(name if len(panels) == 1 else f"{name}-{index}", panel) for index, panel in enumerate(panels, start=1)]


def draw(kind: FigureKind, panel: Drawable) -> Figure:
    """Return a figure of one panel, its legend below the axes."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(SETTINGS):
        figure = Figure(figsize=_size(kind, panel), dpi=DPI)
        FigureCanvasAgg(figure)
        axes = kind.draw(figure.add_axes((0.0, 0.0, 1.0, 1.0)), panel)
        if isinstance(panel, Panel) and kind.draw is not draw_forest:
            handles, labels = axes.get_legend_handles_labels()
            columns = 2 if max(map(len, labels), default=0) <= 26 else 1
            axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(-0.02, -0.16), ncols=columns, handlelength=3)
    return figure


def write_figures(results: Results, conditions: Sequence[Condition], folder: Path) -> list[Path]:
    """Write every figure that the results allow as SVG and PNG into `folder`; returns the paths."""
    paths: list[Path] = []
    for name, kind in FIGURES.items():
        for stem, panel in named_panels(name, results, conditions):
            paths += write_figure(draw(kind, panel), folder, stem)
    return paths


def _size(kind: FigureKind, panel: Drawable) -> tuple[float, float]:
    """Return width and height of the axes in inches."""
    if isinstance(panel, Timeline):
        return timeline_size(panel)
    if isinstance(panel, Heat):
        return WIDTH, 0.8 + (0.27 if panel.diverging else 0.38) * len(panel.rows)
    if kind.draw is draw_forest:
        lines = max((row_name(series.label).count("\n") for series in panel.series), default=0)
        return WIDTH, 0.55 + (0.38 + 0.12 * lines) * len(panel.series)
    return WIDTH, HEIGHT
