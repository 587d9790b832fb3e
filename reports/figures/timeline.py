"""The credit picture: an attempt board by board, and below each decision what every estimator makes of it.

Data units are inches, the vertical axis points down, so that boards are square and texts fit on any axes of
`timeline_size`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.boards import fills_square
from reports.figures.small_boards import SmallBoards
from reports.figures.style import DARK, GRID, INK, PAPER
from reports.panels import Change, Moment, Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UP, DOWN, SUBGOAL, DETOUR = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
"""Colours of encouraged and discouraged decisions, of completed subgoals, and of decisions that led no nearer."""
CHANGES: dict[Change, str] = {"nearer": INK, "same": DETOUR, "farther": DETOUR, "lost": DOWN}
"""Colours of what a decision did to the goal distance."""
GUTTER = 1.5
"""Width of the names at the left."""
ROW, FAMILY_GAP = 0.205, 0.07
NUMBER, ACTION, CURVE, GAP = 0.24, 0.14, 0.62, 0.1
"""Heights of the decision's number, of a line of actions, of the distance curve, and between parts."""
MOST_ACTIONS = 4
"""Lines of actions under a board."""
STRONGEST = 0.92
"""Opacity of a row's largest advantage."""


@dataclass(frozen=True)
class _Places:
    """Where the parts stand, in inches."""

    column: float
    side: float
    """Of a board; 0 where none can be drawn."""
    actions: int
    """Lines of actions."""
    rows: tuple[float, ...]
    """Top of each estimator's row."""

    @property
    def board(self) -> float:
        return NUMBER

    @property
    def text(self) -> float:
        return self.board + self.side + 0.07

    @property
    def curve(self) -> float:
        return self.text + self.actions * ACTION + GAP

    @property
    def legend(self) -> float:
        return self.rows[-1] + ROW + 0.2

    def middle(self, index: int) -> float:
        return (index + 0.5) * self.column


def timeline_size(timeline: Timeline) -> tuple[float, float]:
    """Return width and height in inches of the axes that a timeline asks for."""
    places = _places(timeline)
    return GUTTER + max(len(timeline.moments) * places.column, 5.0), places.legend + 0.42


def draw_timeline(axes: Axes, timeline: Timeline) -> Axes:
    """Draw boards, actions and distance of an attempt, and a row of advantages for each estimator."""
    places = _places(timeline)
    width, height = timeline_size(timeline)
    axes.set_xlim(-GUTTER, width - GUTTER)
    axes.set_ylim(height, 0)
    axes.set_aspect("equal", anchor="NW")
    axes.set_axis_off()
    axes.set_title(timeline.title, pad=21, x=0.0)
    _text(axes, -GUTTER, -0.16, timeline.outcome, size=8.5, ha="left", alpha=0.85)
    _draw_boards(axes, timeline, places)
    _draw_words(axes, timeline, places)
    _draw_distance(axes, timeline, places)
    _draw_rows(axes, timeline, places)
    _draw_subgoals(axes, timeline, places)
    _draw_legend(axes, places)
    return axes


def _places(timeline: Timeline) -> _Places:
    drawable = fills_square(timeline.size, timeline.start)
    narrow = min(max(0.1 * timeline.size, 0.62), 0.92) if drawable else 0.75
    column = max(narrow, min(1.0, 6.0 / max(len(timeline.moments), 1)))
    longest = max((len(moment.actions) for moment in timeline.moments), default=1)
    actions = min(longest, MOST_ACTIONS) + any(moment.problem for moment in timeline.moments)
    side = column - 0.1 if drawable else 0.0
    top = NUMBER + side + 0.07 + actions * ACTION + GAP + CURVE + 0.16
    rows = []
    for index, family in enumerate(timeline.families):
        top += FAMILY_GAP if index and family != timeline.families[index - 1] else 0.0
        rows.append(top)
        top += ROW
    return _Places(column, side, actions, tuple(rows))


def _draw_boards(axes: Axes, timeline: Timeline, places: _Places) -> None:
    if not places.side:
        return
    from matplotlib.patches import Rectangle

    boards = SmallBoards(timeline.puzzle, timeline.size, places.side, timeline.start)
    boards.add(-places.side - 0.14, places.board, timeline.start)
    before: Sequence[str] = timeline.start
    for index, moment in enumerate(timeline.moments):
        left = places.middle(index) - places.side / 2
        boards.add(left, places.board, moment.cells, before)
        before = moment.cells
        colour = _edge(moment)
        if colour:
            corner = (left - 0.02, places.board - 0.02)
            side = places.side + 0.04
            axes.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=colour, linewidth=1.6, zorder=4))
    boards.draw(axes)


def _edge(moment: Moment) -> str:
    if moment.subgoals:
        return SUBGOAL
    return "" if moment.change == "nearer" else CHANGES[moment.change]


def _draw_words(axes: Axes, timeline: Timeline, places: _Places) -> None:
    middle = -places.side / 2 - 0.14 if places.side else -0.3
    _text(axes, middle, NUMBER - 0.09, "start", size=7, alpha=0.75)
    _text(axes, -GUTTER, NUMBER - 0.09, "decision", size=7, ha="left", alpha=0.75)
    for index, moment in enumerate(timeline.moments):
        x = places.middle(index)
        _text(axes, x, NUMBER - 0.09, str(index + 1), size=7.5, weight="bold")
        lines = list(moment.actions)
        if len(lines) > MOST_ACTIONS:
            lines[MOST_ACTIONS - 1 :] = [f"+ {len(lines) - MOST_ACTIONS + 1} more"]
        for line, action in enumerate(lines):
            _text(axes, x, places.text + (line + 0.5) * ACTION, action, size=6.6)
        if moment.problem:
            _text(
                axes, x, places.text + (len(lines) + 0.5) * ACTION, moment.problem, size=6.6, color=DOWN, style="italic"
            )
    _text(axes, -GUTTER, places.text + 0.5 * ACTION, "action", size=7, ha="left", alpha=0.75)


def _draw_distance(axes: Axes, timeline: Timeline, places: _Places) -> None:
    """Draw the goal distance after each decision as a curve with its numbers."""
    _text(axes, -0.14, places.curve + CURVE * 0.62, "goal distance", size=7.5, ha="right")
    _text(axes, -0.14, places.curve + CURVE * 0.62 + 0.13, "(atomic actions)", size=6.3, ha="right", alpha=0.75)
    distances = [timeline.distance, *(moment.distance for moment in timeline.moments)]
    highest = max((distance for distance in distances if distance is not None), default=1) or 1

    def height(distance: int) -> float:
        return places.curve + CURVE * (1 - 0.72 * distance / highest)

    points = [
        (0.0 if index == 0 else places.middle(index - 1), height(distance))
        for index, distance in enumerate(distances)
        if distance is not None
    ]
    if timeline.distance is not None:
        _text(axes, -0.05, height(timeline.distance), str(timeline.distance), size=7, ha="right")
    if points:
        axes.plot(*zip(*points, strict=True), color=INK, linewidth=0.9, alpha=0.55, zorder=2)
    for index, moment in enumerate(timeline.moments):
        x = places.middle(index)
        if moment.distance is None:
            _text(axes, x, places.curve + CURVE * 0.55, "out of\nreach", size=6.3, color=DOWN)
            continue
        y = height(moment.distance)
        colour, weight = CHANGES[moment.change], "normal" if moment.change == "nearer" else "bold"
        axes.plot([x], [y], marker="o", markersize=3.2, color=colour, zorder=3)
        _text(axes, x + 0.06, y - 0.085, str(moment.distance), size=7, ha="left", color=colour, weight=weight)


def _draw_rows(axes: Axes, timeline: Timeline, places: _Places) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    cells, colours = [], []
    for name, top, values in zip(timeline.estimators, places.rows, timeline.advantages, strict=True):
        _text(axes, -0.14, top + ROW / 2, name, size=7.5, ha="right")
        largest = max(map(abs, values), default=0.0) or 1.0
        for index, value in enumerate(values):
            strength = STRONGEST * abs(value) / largest
            cells.append(Rectangle((index * places.column + 0.012, top + 0.01), places.column - 0.024, ROW - 0.02))
            colours.append(to_rgba(UP if value > 0 else DOWN, strength) if value else to_rgba(GRID, 0.35))
            look: dict[str, Any] = {
                "color": _ink_on(value, strength),
                "alpha": 1.0 if value else 0.55,
                "in_layout": False,
            }
            _text(axes, places.middle(index), top + ROW / 2, number_text(value), size=6.5, **look)
    axes.add_collection(PatchCollection(cells, facecolors=colours, linewidths=0, zorder=1.5))


def _ink_on(value: float, strength: float) -> str:
    """Return the colour of a number that can be read on its field, on a light page and on a dark one."""
    if value > 0:
        return PAPER if strength > 0.75 else INK
    return DARK if strength > 0.6 else INK


def number_text(value: float) -> str:
    """Return an advantage in at most five characters or so, its sign in front; 0 stands for exactly zero."""
    if not value:
        return "0"
    if abs(value) < 0.005:
        return "+0.00" if value > 0 else "\N{MINUS SIGN}0.00"
    text = f"{abs(value):.2f}" if abs(value) < 10 else f"{abs(value):.1f}"
    return ("+" if value > 0 else "\N{MINUS SIGN}") + text


def _draw_subgoals(axes: Axes, timeline: Timeline, places: _Places) -> None:
    """Draw a flag over each decision that completed a subgoal, and the end of its segment through all rows."""
    for index, moment in enumerate(timeline.moments):
        if moment.subgoals:
            x = (index + 1) * places.column
            axes.plot(
                [x, x], [places.curve, places.rows[-1] + ROW], color=SUBGOAL, linewidth=1.1, zorder=4, clip_on=False
            )
            flags = "\N{BLACK STAR}" * min(moment.subgoals, 3)
            _text(axes, places.middle(index) + places.side / 2, NUMBER - 0.09, flags, size=7, ha="right", color=SUBGOAL)


def _draw_legend(axes: Axes, places: _Places) -> None:
    from matplotlib.patches import Rectangle

    entries = (
        (UP, STRONGEST, "A > 0, encouraged"),
        (DOWN, STRONGEST, "A < 0, discouraged"),
        (SUBGOAL, 1.0, "\N{BLACK STAR} subgoal reached"),
        (DETOUR, 1.0, "goal no nearer"),
        (DOWN, 1.0, "goal out of reach"),
    )
    for index, (colour, alpha, words) in enumerate(entries):
        x, y = -GUTTER + 1.3 * index, places.legend
        filled = index < 2
        look: dict[str, Any] = {"facecolor": colour if filled else "none", "edgecolor": colour, "linewidth": 1.4}
        axes.add_patch(Rectangle((x, y), 0.14, 0.12, alpha=alpha, **look))
        _text(axes, x + 0.2, y + 0.065, words, size=7, ha="left")
    words = "Advantage A in the estimator's own units; each row shaded by its largest |A| in this attempt."
    _text(axes, -GUTTER, places.legend + 0.28, words, size=7, ha="left", alpha=0.85)


def _text(axes: Axes, x: float, y: float, words: str, **look: Any) -> None:
    style = {"ha": "center", "va": "center", "color": INK, "zorder": 5, **look}
    axes.text(x, y, words, **style)
