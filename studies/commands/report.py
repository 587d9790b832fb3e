"""`horizon-bench report`: draw the page, figures and tables of a results folder again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Report:
    """Draw the report of a results folder from its records.

    Shows whatever can be read. The exit status is 1 if a file was missing or damaged.
    """

    results: tyro.conf.Positional[Path] = Path("results")
    """A results folder, or the folder of one study in it."""
    out: Path | None = None
    """The page; report.html in the results folder by default. Figures and tables go beside it."""

    def run(self) -> int:
        """Write the page, say where it is, and name what was missing or damaged."""
        from horizon_bench.files import naming
        from reports.page import write_report

        page = self.out or self.results / "report.html"
        with naming(page):
            written = write_report(self.results, page)
        print(f"report: {written}")
        damaged = damages(self.results)
        for line in damaged[:3]:
            print(line, file=sys.stderr)
        if len(damaged) > 3:
            print(f"{len(damaged) - 3} more; the report names all that is missing or damaged", file=sys.stderr)
        return 1 if damaged else 0


def damages(results: Path) -> list[str]:
    """Return one line for each file of a results folder that is missing or damaged; a run cut short is neither."""
    from reports.results import load_results

    loaded = load_results(results)
    unfinished = tuple(f"{run.folder}: " for run in loaded.runs if not run.done)
    lines = [note for note in loaded.notes if not note.startswith(unfinished)]
    for run in loaded.runs:
        try:
            run.episodes()
        except ValueError as error:
            lines.append(str(error))
    return lines
