"""Figures of series: each takes a panel and axes, draws, and returns the axes; none computes a number."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reports.figures.style import INK, PAPER, look_of
from reports.panels import Panel, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_WIDTH = 72
"""Letters of a condition's name in one line of a forest."""
_CHARACTER = 4.4
"""Width of a letter of a level's name, in points."""


def draw_points(axes: Axes, panel: Panel) -> Axes:
    """Draw success against distance: estimates with interval bars, over their fitted curves where there are any."""
    _frame(axes, panel)
    width = _span(panel) * 0.008
    for index, series in enumerate(panel.series):
        look = look_of(series, index)
        shift = width * (index - (len(panel.series) - 1) / 2)
        if series.curve:
            line = {**look, "marker": "", "alpha": 0.55 * look["alpha"]}
            axes.plot([x for x, _ in series.curve], _scaled(panel, [y for _, y in series.curve]), **line)
        _bars(axes, panel, series, {**look, "linestyle": "none" if series.curve else look["linestyle"]}, shift)
        _label(axes, series, look)
    _level_ticks(axes, panel)
    return axes


def draw_bands(axes: Axes, panel: Panel) -> Axes:
    """Draw curves over training: means with interval bands, single runs thin, collapses marked."""
    _frame(axes, panel)
    for index, series in enumerate(panel.series):
        look = look_of(series, index)
        thin = {"color": look["color"], "linewidth": 0.7, "alpha": 0.35}
        for run in series.runs:
            axes.plot([x for x, _ in run], _scaled(panel, [y for _, y in run]), **thin)
        places = [point.x for point in series.points]
        low, high = ([getattr(point.estimate, end) for point in series.points] for end in ("low", "high"))
        if low != high:
            axes.fill_between(
                places, _scaled(panel, low), _scaled(panel, high), color=look["color"], alpha=0.13, linewidth=0
            )
        values = _scaled(panel, [point.estimate.value for point in series.points])
        few = len(places) <= 15
        axes.plot(places, values, **{**look, "marker": look["marker"] if few else "", "markersize": 4})
        _label(axes, series, look if few else {**look, "marker": ""})
        for x, y in series.collapses:
            _mark_collapse(axes, x, _scaled(panel, [y])[0], look["color"])
    return axes


def draw_differences(axes: Axes, panel: Panel) -> Axes:
    """Draw differences with interval bars around a zero line."""
    axes.axhline(0.0, color=INK, linewidth=0.9)
    _titles(axes, panel)
    width = _span(panel) * 0.008
    for index, series in enumerate(panel.series):
        look = look_of(series, index)
        _bars(axes, panel, series, look, width * (index - (len(panel.series) - 1) / 2))
        _label(axes, series, look)
    return axes


def draw_forest(axes: Axes, panel: Panel) -> Axes:
    """Draw one estimate a row with its interval, the best at the top of its place in reading order."""
    _titles(axes, panel)
    for index, series in enumerate(panel.series):
        look = look_of(series, index)
        point = series.points[0]
        y = -index
        axes.plot([point.estimate.low, point.estimate.high], [y, y], color=look["color"], linewidth=2.4, alpha=0.55)
        axes.plot(
            [point.x],
            [y],
            marker=look["marker"],
            color=look["color"],
            markerfacecolor=look["markerfacecolor"],
            markersize=7,
            markeredgewidth=1.4,
        )
        words: dict[str, Any] = {"textcoords": "offset points", "color": INK}
        # Beside the axes, so that no condition's name reaches it.
        axes.annotate(
            point.label,
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            va="center",
            fontsize=7.5,
            alpha=0.8,
            **words,
        )
        axes.annotate(
            row_name(series.label),
            (0.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(0, 5),
            va="bottom",
            fontsize=8,
            linespacing=1.1,
            **words,
        )
    axes.set_ylim(-len(panel.series) + 0.5, 0.75)
    axes.set_yticks([])
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlim(left=0)
    return axes


def row_name(label: str) -> str:
    """Return what stands over a row of a forest, in lines that are no wider than the axes."""
    return "\n".join(textwrap.wrap(label, ROW_WIDTH, break_long_words=False))


def _frame(axes: Axes, panel: Panel) -> None:
    _titles(axes, panel)
    if panel.percent:
        axes.set_ylim(-2, 102)
        axes.set_yticks(range(0, 101, 20))
    else:
        axes.margins(y=0.08)


def _titles(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)


def _bars(axes: Axes, panel: Panel, series: Series, look: dict[str, Any], shift: float) -> None:
    values = [point.estimate.value for point in series.points]
    lows = [point.estimate.value - point.estimate.low for point in series.points]
    highs = [point.estimate.high - point.estimate.value for point in series.points]
    axes.errorbar(
        [point.x + shift for point in series.points],
        _scaled(panel, values),
        yerr=(_scaled(panel, lows), _scaled(panel, highs)),
        elinewidth=1.0,
        capsize=0,
        **look,
    )


def _label(axes: Axes, series: Series, look: dict[str, Any]) -> None:
    axes.plot([], [], label=series.label, **look)


def _mark_collapse(axes: Axes, x: float, y: float, colour: str) -> None:
    style: dict[str, Any] = {"marker": "X", "linestyle": "none", "markersize": 11, "zorder": 5}
    axes.plot([x], [y], color=colour, markeredgecolor=PAPER, markeredgewidth=1.0, **style)


def _level_ticks(axes: Axes, panel: Panel) -> None:
    """Write the levels' names along the upper edge; those that would print over each other stand together."""
    places = {point.label: point.x for series in panel.series for point in series.points if point.label}
    names: list[tuple[str, float]] = []
    for label, x in sorted(places.items(), key=lambda place: place[1]):
        while names and _gap(axes, names[-1], (label, x)) < _CHARACTER:
            before, there = names.pop()
            label, x = f"{before}, {label}", (there + x) / 2
        names.append((label, x))
    for label, x in names:
        axes.annotate(
            label,
            (x, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 1),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=7,
            color=INK,
            alpha=0.65,
        )


def _gap(axes: Axes, one: tuple[str, float], other: tuple[str, float]) -> float:
    """Return the space between two names of levels, in points."""
    low, high = axes.get_xlim()
    width = axes.get_window_extent().width * 72 / axes.figure.dpi
    return width * (other[1] - one[1]) / (high - low) - _CHARACTER * (len(one[0]) + len(other[0])) / 2


def _span(panel: Panel) -> float:
    places = [point.x for series in panel.series for point in series.points]
    return max(places) - min(places) if places and max(places) > min(places) else 1.0


def _scaled(panel: Panel, values: Sequence[float]) -> list[float]:
    return [100.0 * value for value in values] if panel.percent else list(values)
