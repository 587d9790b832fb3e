"""`horizon-bench report`: draw the page, figures and tables of a results folder again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Report:
    """Draw the report of a results folder from its records."""

    results: tyro.conf.Positional[Path] = Path("results")
    """A results folder, or the folder of one study in it."""
    out: Path | None = None
    """The page; report.html in the results folder by default. Figures and tables go beside it."""

    def run(self) -> int:
        """Write the page and say where it is."""
        from reports.page import write_report

        print(f"report: {write_report(self.results, self.out or self.results / 'report.html')}")
        return 0
