"""Tables that answer the question of one study: the edge of macros, and errors that add up."""

from __future__ import annotations

from collections.abc import Sequence

from reports.conditions import PHASES, Condition
from reports.execution import accumulations
from reports.gather_edge import ALL, SMALLEST_SPREAD, edges
from reports.table import MISSING, Table


def edge_table(conditions: Sequence[Condition]) -> Table:
    """Return what macros gain over single actions, a line for each risk of a decision, phase and rule on errors.

    Only studies in which decisions are lost have lines.
    """
    found = edges(conditions)
    risky = {edge.study for edge in found if edge.risk >= SMALLEST_SPREAD}
    rows = tuple(
        (
            edge.study,
            PHASES.get(edge.phase, edge.phase),
            edge.rule or MISSING,
            f"{edge.risk:.1f}",
            edge.gaps[ALL].format(sign=True),
            "; ".join(f"{level} {gap.format(sign=True)}" for level, gap in edge.gaps.items() if level != ALL),
        )
        for edge in found
        if edge.study in risky
    )
    columns = ("study", "phase", "on error", "lost decisions (%)", "macro minus atomic, all levels", "by level")
    note = (
        "Points of success, paired by seed and puzzle, with 95 % intervals over both. Lost decisions: unreadable or "
        "voided by a false thought, in percent of the atomic policy's. Find your agent's own share and read on."
    )
    return Table("macro-edge", "Macro minus atomic by the risk of a decision", columns, rows, note, (columns[4],))


def closed_form_table(conditions: Sequence[Condition]) -> Table:
    """Return noisy experts beside the closed form of independent errors, a line for each level."""
    found = accumulations(conditions)
    rows = tuple(
        (
            row.board,
            row.rule or MISSING,
            f"{row.mistake:.3g}",
            f"{row.level} ({row.distance:.1f})",
            row.measured.format(),
            f"{100 * row.closed_form:.1f}",
            row.difference.format(sign=True),
            "yes" if row.agrees else "no",
        )
        for row in found
    )
    columns = ("board", "on error", "e", "level (d)", "success (%)", "(1 - e)^d (%)", "difference", "holds 0")
    final = [row.agrees for row in found if row.final]
    note = (
        f"Where each error ended the episode, {sum(final)} of {len(final)} 95 % intervals hold 0; 95 in 100 should. "
        if final
        else ""
    ) + "Where errors can be repaired, the difference is what recovery saves, and the closed form does not hold."
    title = "Errors that add up: noisy experts and the closed form"
    return Table("closed-form", title, columns, rows, note, ("success (%)", "difference"))
