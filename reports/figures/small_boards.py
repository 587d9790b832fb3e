"""Many small boards on one pair of axes, drawn in a few collections so that long timelines stay quick to draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reports.boards import PRIMARY, WALL, box_shape, vehicles_of
from reports.figures.style import DARK, GRID, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILLED = "#0072B2"
"""Colour of digits that were not given."""
BENEATH, LINES, LETTERS = 2.0, 2.5, 3.0
"""Drawing order inside a board."""

Segment = tuple[tuple[float, float], tuple[float, float]]


@dataclass
class SmallBoards:
    """Collects the boards of one puzzle and draws them together; lengths are data units of the axes, one inch each."""

    puzzle: str
    size: int
    side: float
    """Of one board."""
    start: Sequence[str] = ()
    """Cells at the start: digits that stand there already are drawn as given."""
    _thin: list[Segment] = field(default_factory=list)
    _thick: list[Segment] = field(default_factory=list)
    _digits: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    _names: list[tuple[float, float, str]] = field(default_factory=list)
    _patches: list[Any] = field(default_factory=list)

    def add(self, left: float, top: float, cells: Sequence[str], before: Sequence[str] = ()) -> None:
        """Add a board with its upper left corner at (left, top), the vertical axis pointing down; mark what changed."""
        cell = self.side / self.size
        for index, (now, was) in enumerate(zip(cells, before, strict=False)):
            row, column = divmod(index, self.size)
            if now != was:
                self._square(left + column * cell, top + row * cell, cell, color=FILLED, alpha=0.17)
        self._grid(left, top, cell)
        if self.puzzle == "rush-hour":
            self._traffic(left, top, cell, cells)
        else:
            self._fill(left, top, cell, cells)

    def draw(self, axes: Axes) -> None:
        """Draw everything that was added."""
        from matplotlib.collections import LineCollection

        for patch in self._patches:
            axes.add_patch(patch)
        axes.add_collection(LineCollection(self._thin, colors=GRID, linewidths=0.4, zorder=LINES))
        axes.add_collection(LineCollection(self._thick, colors=INK, linewidths=0.55, alpha=0.75, zorder=LINES))
        points = 72 * self.side / self.size
        for (digit, colour), places in self._digits.items():
            x, y = zip(*places, strict=True)
            marker = f"$\\mathrm{{{digit}}}$"
            axes.scatter(x, y, marker=marker, s=(0.56 * points) ** 2, color=colour, linewidths=0, zorder=LETTERS)
        look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": DARK, "zorder": LETTERS}
        for across, down, name in self._names:
            axes.text(across, down, name, fontsize=0.45 * points, **look).set_in_layout(False)

    def _square(self, x: float, y: float, side: float, **look: Any) -> None:
        from matplotlib.patches import Rectangle

        self._patches.append(Rectangle((x, y), side, side, linewidth=0, zorder=BENEATH, **look))

    def _grid(self, left: float, top: float, cell: float) -> None:
        rows, columns = box_shape(self.puzzle, self.size)
        for number in range(self.size + 1):
            across = ((left, top + number * cell), (left + self.side, top + number * cell))
            down = ((left + number * cell, top), (left + number * cell, top + self.side))
            (self._thin if number % rows else self._thick).append(across)
            (self._thin if number % columns else self._thick).append(down)

    def _fill(self, left: float, top: float, cell: float, cells: Sequence[str]) -> None:
        for index, digit in enumerate(cells):
            if digit:
                row, column = divmod(index, self.size)
                colour = INK if self.start and self.start[index] else FILLED
                place = (left + (column + 0.5) * cell, top + (row + 0.5) * cell)
                self._digits[digit, colour].append(place)

    def _traffic(self, left: float, top: float, cell: float, cells: Sequence[str]) -> None:
        from matplotlib.patches import FancyBboxPatch, Rectangle

        for index, name in enumerate(cells):
            if name == WALL:
                row, column = divmod(index, self.size)
                self._square(left + column * cell, top + row * cell, cell, color=INK, alpha=0.35)
        for one in vehicles_of(self.size, cells):
            x, y = left + (one.left + 0.1) * cell, top + (one.top + 0.1) * cell
            width, height = (one.width - 0.2) * cell, (one.height - 0.2) * cell
            shape = f"round,pad=0,rounding_size={0.24 * cell}"
            look: dict[str, Any] = {"facecolor": one.colour, "linewidth": 0, "zorder": LINES + 0.1}
            self._patches.append(FancyBboxPatch((x, y), width, height, boxstyle=shape, **look))
            self._names.append((x + width / 2, y + height / 2, one.name))
            if one.primary:
                gate = (left + self.side - 0.012, top + one.top * cell)
                self._patches.append(Rectangle(gate, 0.024, cell, color=PRIMARY, linewidth=0, zorder=LETTERS))
