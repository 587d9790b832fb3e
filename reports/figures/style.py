"""How every figure looks: Okabe-Ito colours by interface, line styles by reward, files that redraw to the same bytes.

Colours have one meaning everywhere. Nothing here touches matplotlib's global settings.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.panels import Series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INTERFACE_COLOURS: dict[str, str] = {
    "atomic": "#0072B2",
    "macro": "#D55E00",
    "macro-stepwise": "#CC79A7",
    "macro-capped": "#009E73",
    "macro-fixed": "#56B4E9",
    "split": "#E69F00",
}
"""Okabe-Ito colour of each interface; those with a number (`macro-fixed-2`) share one."""

DISTANCE_COLOURS = ("#a9c3a3", "#86b09b", "#629a97", "#458391", "#316b87", "#255279", "#1f3a63")
"""Shades of curves that stand for distances, short to long."""

OTHER_COLOURS = ("#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#0072B2", "#D55E00")
"""Colours of series that are no interfaces, such as levels, in order of appearance."""

REWARD_LINES: dict[str, Any] = {
    "outcome": "-",
    "subgoal": (0, (5, 2)),
    "potential": (0, (5, 1.5, 1, 1.5)),
    "step": (0, (1, 1.5)),
}
"""Line style of each reward scheme; unknown ones are drawn solid."""

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "*")

INK, GRID, PAPER = "#1c2430", "#c9ced6", "#ffffff"
"""Colours of text and axes, of grid lines, and of what lies behind; a page may replace them by its own."""

DPI = 180
"""Dots an inch of PNG files. Figures are measured at it too: words are some per cent wider or narrower at another."""

DARK = "#101418"
"""Colour of letters on coloured fields, on light and dark pages alike."""

SETTINGS: Any = {
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 17,
    "axes.labelsize": 9.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.facecolor": "none",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
}
"""Settings under which figures are drawn, in a context of their own."""


def colour_of(interface: str, position: int = 0) -> str:
    """Return the colour of an interface, or the one at `position` for `distance` and other names."""
    if interface == "distance":
        return DISTANCE_COLOURS[min(position, len(DISTANCE_COLOURS) - 1)]
    longest = sorted(INTERFACE_COLOURS, key=len, reverse=True)
    base = next((name for name in longest if interface == name or interface.startswith(f"{name}-")), None)
    return INTERFACE_COLOURS[base] if base else OTHER_COLOURS[position % len(OTHER_COLOURS)]


def look_of(series: Series, position: int = 0) -> dict[str, Any]:
    """Return colour, line style and marker of a series as plotting keywords.

    Args:
        series: what is drawn.
        position: index within its panel, for names that are no interfaces.
    """
    colour = colour_of(series.interface, position)
    return {
        "color": colour,
        "linestyle": REWARD_LINES.get(series.reward, "-"),
        "marker": MARKERS[series.mark % len(MARKERS)],
        "markerfacecolor": PAPER if series.phase == "sft" else colour,
        "markeredgecolor": colour,
        "alpha": 0.75 if series.phase == "sft" else 1.0,
    }


def svg_bytes(figure: Figure, name: str) -> bytes:
    """Return the figure as SVG, the same bytes every time: no date, and ids that depend on `name` alone."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context({**SETTINGS, "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches=_box(figure))
    return buffer.getvalue()


def png_bytes(figure: Figure) -> bytes:
    """Return the figure as PNG on white, without a date or the version of anything."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context(SETTINGS):
        figure.savefig(
            buffer, format="png", dpi=DPI, metadata={"Software": None}, bbox_inches=_box(figure), facecolor=PAPER
        )
    return buffer.getvalue()


def _box(figure: Figure) -> Any:
    """Return the part of the figure that holds something, in inches, with a margin."""
    return figure.get_tightbbox().padded(0.08)


def write_figure(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """Write the figure as `name.svg` and `name.png` into `folder`; returns both paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{name}.svg", folder / f"{name}.png"
    paths[0].write_bytes(svg_bytes(figure, name))
    paths[1].write_bytes(png_bytes(figure))
    return paths
