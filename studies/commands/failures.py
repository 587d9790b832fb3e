"""`horizon-bench failures RESULTS`: why attempts failed, by class, before and after training."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro

if TYPE_CHECKING:
    from reports.conditions import Condition
    from reports.failures import FailureRules
    from reports.results import Results
    from reports.table import Table

Class = Literal["stopped-wrongly", "stuck-midway", "no-reasonable-attempt", "out-of-budget", "other"]


@dataclass(frozen=True)
class Failures:
    """Say why attempts failed: one class for each, the first in this order whose criterion holds.

    stopped-wrongly: declared itself done, or ended where the goal was out of reach or no legal move was left.
    stuck-midway: the last decisions repeat one action on the same board, or go round in a short circle.
    no-reasonable-attempt: most of what was written was unreadable or refused.
    out-of-budget: a budget ran out. other: none of these.
    """

    results: tyro.conf.Positional[Path] = Path("results")
    """A results folder, or the folder of one study, cell or run in it."""
    show: Class | None = None
    """List the stored episodes of this class instead, with the index that `replay` takes."""
    identical: int = 3
    """Last decisions that repeat one action on one board: stuck."""
    longest_cycle: int = 4
    """Decisions of the longest circle that counts as short."""
    cycle_repeats: int = 2
    """Times that the last decisions go round in it: stuck."""
    bad_share: float = 0.5
    """Share of unreadable replies and refused actions from which on no attempt was reasonable."""
    out: Path | None = None
    """Also write tables (CSV, Markdown, LaTeX) and figures (SVG, PNG) into this folder."""

    def run(self) -> int:
        """Print shares, or a list of episodes."""
        from reports.conditions import conditions_of
        from reports.failures import FailureRules
        from reports.results import load_results

        rules = FailureRules(self.identical, self.longest_cycle, self.cycle_repeats, self.bad_share)
        results = load_results(self.results)
        if self.show is not None:
            return self._print_list(results, rules)
        conditions = conditions_of(results)
        tables = self._tables(results, conditions, rules)
        if not any(table.rows for table in tables):
            raise ValueError(
                f"{self.results} holds no classes of failure and no stored episodes; records from before there were "
                "classes need episodes.parquet beside them, or run the study again into an empty folder"
            )
        for table in tables:
            print(text_of(table))
        if self.out is not None:
            self._write(results, conditions, tables)
        for note in results.notes[:3]:
            print(note, file=sys.stderr)
        return 0

    def _tables(self, results: Results, conditions: tuple[Condition, ...], rules: FailureRules) -> list[Table]:
        from reports.failures_shares import changes, classified, shares_of
        from reports.failures_tables import changes_table, failures_table

        shares = [shares_of(one, stored) for one, stored in classified(results, conditions, rules)]
        return [table for table in (failures_table(shares), changes_table(changes(shares))) if table.rows]

    def _write(self, results: Results, conditions: tuple[Condition, ...], tables: list[Table]) -> None:
        from reports.figures import FIGURES, draw, named_panels, write_figure
        from reports.tables import write_tables

        folder = self.out or Path()
        paths = write_tables(tables, folder)
        for name in ("failures", "subgoal-times"):
            for stem, panel in named_panels(name, results, conditions):
                paths += write_figure(draw(FIGURES[name], panel), folder, stem)
        print(f"{len(paths)} files in {folder}")

    def _print_list(self, results: Results, rules: FailureRules) -> int:
        """Print one line for each stored episode of the class."""
        from reports.failures import classify
        from reports.failures_divergence import divergence_of

        for run in results.runs:
            for index, stored in enumerate(run.episodes()):
                verdict = classify(stored.episode, rules)
                if verdict.failure == self.show:
                    left = divergence_of(stored)
                    where = f"; left the expert's way by {left.move}, decision {left.decision + 1}" if left else ""
                    print(f"{run.folder} --index {index}: {stored.phase}, {verdict.reason}{where}")
        return 0


def text_of(table: Table) -> str:
    """Return a table for the screen: a block of lines for each of its rows."""
    lines = [table.title, ""]
    study = ""
    for first, label, *cells in table.rows:
        if first != study:
            study = first
            lines += [study, ""]
        lines.append(f"  {label}")
        for name, cell in zip(table.columns[2:], cells, strict=True):
            lines.append(f"    {name:<32}{cell.replace(';', ' ')}")
        lines.append("")
    return "\n".join([*lines, table.note, ""])
