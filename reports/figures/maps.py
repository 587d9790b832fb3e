"""Coloured tables: each takes what stands in the fields and axes, draws, and returns the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reports.figures.style import DARK, INK
from reports.panels import Heat

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap


def draw_map(axes: Axes, heat: Heat) -> Axes:
    """Draw a coloured table with what stands in each field."""
    values = np.array(heat.values, dtype=np.float64)
    limit = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    low, high = (-limit, limit) if heat.diverging else (0.0, 1.0)
    colours = _colours(heat.diverging)
    axes.imshow(np.ma.masked_invalid(values), cmap=colours, vmin=low, vmax=high, aspect="auto")
    axes.set_title(heat.title)
    axes.set_xlabel(heat.x_label)
    axes.set_ylabel(heat.y_label)
    axes.set_xticks(range(len(heat.columns)), heat.columns, fontsize=7.5)
    axes.set_yticks(range(len(heat.rows)), heat.rows)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    _write_fields(axes, heat, values, colours, (low, high))
    for column in heat.marks:
        axes.plot([column], [-0.62], marker="v", color=INK, markersize=4, clip_on=False)
    return axes


def _colours(diverging: bool) -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    ends = ["#D55E00", "#f4f2ee", "#0072B2"] if diverging else ["#eef3f6", "#56B4E9", "#003f66"]
    return LinearSegmentedColormap.from_list("horizon", ends).with_extremes(bad=(0.0, 0.0, 0.0, 0.0))


def _write_fields(axes: Axes, heat: Heat, values: np.ndarray, colours: Colormap, limits: tuple[float, float]) -> None:
    low, high = limits
    for row, texts in enumerate(heat.texts):
        for column, text in enumerate(texts):
            if text:
                red, green, blue, _ = colours((values[row, column] - low) / (high - low))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
                axes.text(
                    column,
                    row,
                    text,
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color="#fdfdfd" if dark else DARK,
                )
