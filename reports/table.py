"""A table of texts, and the three forms that it is written in."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import chain

MISSING = "\N{EM DASH}"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    name: str
    """Of its files."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """What n, k and the intervals are."""
    estimates: tuple[str, ...] = ()
    """Columns whose cells are single estimates as `Estimate.format` writes them, or missing."""

    def to_csv(self) -> str:
        """Return the table as comma-separated values.

        A column of estimates becomes three of numbers (value, low, high; `nan` where missing); minus signs are ASCII.
        """
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        heads = ((name, f"{name} low", f"{name} high") if name in self.estimates else (name,) for name in self.columns)
        writer.writerow(chain.from_iterable(heads))
        for row in self.rows:
            cells = zip(self.columns, row, strict=True)
            writer.writerow(chain.from_iterable(_plain(cell, name in self.estimates) for name, cell in cells))
        return buffer.getvalue()

    def to_markdown(self) -> str:
        """Return the table as Markdown, its note below."""
        lines = [self.columns, tuple("---" for _ in self.columns), *self.rows]
        cells = (
            "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
        )
        return "\n".join([*cells, *(["", self.note] if self.note else [])]) + "\n"

    def to_latex(self) -> str:
        """Return the table as a LaTeX `table` with `booktabs` rules."""
        lines = [" & ".join(map(_latex, row)) + r" \\" for row in self.rows]
        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{_latex(self.title)}. {_latex(self.note)}}}",
                rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}",
                r"\toprule",
                " & ".join(map(_latex, self.columns)) + r" \\",
                r"\midrule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )


_LATEX = {
    "\\": r"\textbackslash{}",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    MINUS: r"$-$",
    MISSING: "---",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{INFINITY}": r"$\infty$",
    "\N{MIDDLE DOT}": r"$\cdot$",
}


def _plain(cell: str, estimate: bool) -> list[str]:
    """Return the fields of a cell in CSV: three numbers for an estimate, else its text."""
    if not estimate:
        return [cell.replace(MINUS, "-")]
    if cell == MISSING:
        return ["nan"] * 3
    return cell.replace(MINUS, "-").replace(MISSING, "nan nan").translate(str.maketrans("", "", "+[],")).split()


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
