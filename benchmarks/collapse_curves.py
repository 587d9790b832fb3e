"""The labelled curves that `benchmarks/collapse_detection.py` judges the collapse detector by.

Real curves come from finished runs: `python benchmarks/collapse_curves.py extract RESULTS...` adds those of results
folders to the stored set, without a label; `... sheets FOLDER` draws the unlabelled ones, numbered and shuffled, with
no name and no mark of the detector, so that whoever labels them sees the curves alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reports.collapse import RunCurves, SuccessCurve, curves_of
from reports.results import load_results

STORED = Path(__file__).parent.parent / "tests" / "reports" / "data" / "collapse_curves.json.gz"
METRICS = (
    "success",
    "group_reward_std",
    "capped_share",
    "invalid_share",
    "gradient_norm",
    "effective_sample_size",
    "masked_share",
    "approximate_kl",
    "entropy",
)
"""Metrics of an update that a criterion reads; loss and the like were finite in every run and are not stored."""
COLLAPSED, HEALTHY, DOUBTFUL = "collapsed", "not", "doubtful"
DEFINITION = (
    "collapsed: at least half of a success rate already reached is lost, and still lost at the end or for three "
    "evaluations in a row, on the validation puzzles of all levels or in the training episodes (blocks of 5 updates); "
    "onset: the last update drawn before the fall begins; doubtful: the loss is half by a hair, or the height before "
    "it cannot be read off; not: everything else"
)


@dataclass(frozen=True)
class Labelled:
    """One run's curves and what a reader of them said."""

    name: str
    curves: RunCurves
    label: str
    """`collapsed`, `not`, `doubtful`, or nothing yet."""
    onset: int
    """Update after which success did not come back, for a collapse; -1 otherwise."""
    half: int
    """Half of the set: what is mended is mended by looking at half 0 alone; half 1 only reports."""


def stored(path: Path = STORED) -> list[Labelled]:
    """Return the stored real curves."""
    return [_labelled(row) for row in _rows(path)]


def extract(folders: Iterable[Path], path: Path = STORED) -> int:
    """Add the curves of the finished runs under results folders to the stored ones; returns how many are new."""
    rows = _rows(path) if path.exists() else []
    known = {_content(row) for row in rows}
    before = len(rows)
    for folder in folders:
        for run in load_results(folder).runs:
            if not (run.done and run.updates and run.evaluations):
                continue
            row = _row(f"{run.cell.study}/{run.cell.cell}/{run.cell.seed}", curves_of([*run.evaluations, *run.updates]))
            if row["curves"] and row["updates"] and _content(row) not in known:
                known.add(_content(row))
                rows.append(row)
    _write(rows, path)
    return len(rows) - before


def _content(row: dict[str, Any]) -> str:
    """Return what makes two runs the same: studies share cells, whose runs are equal to the last digit."""
    return json.dumps([row["curves"], row["updates"], row["metrics"]])


def _row(name: str, curves: RunCurves) -> dict[str, Any]:
    return {
        "run": name,
        "label": "",
        "onset": -1,
        "curves": [
            [one.level, list(one.updates), [round(value, 3) for value in one.success], list(one.puzzles)]
            for one in curves.success
        ],
        "updates": list(curves.updates),
        "metrics": {
            key: [round(float(value), 3) for value in curves.metrics[key]] for key in METRICS if key in curves.metrics
        },
    }


def _labelled(row: dict[str, Any]) -> Labelled:
    success = tuple(
        SuccessCurve(level, tuple(updates), tuple(values), tuple(puzzles))
        for level, updates, values, puzzles in row["curves"]
    )
    metrics = {key: np.array(values, dtype=np.float64) for key, values in row["metrics"].items()}
    curves = RunCurves(success, tuple(row["updates"]), metrics)
    return Labelled(row["run"], curves, row["label"], row["onset"], row.get("half", 0))


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
    return rows


def _write(rows: list[dict[str, Any]], path: Path) -> None:
    path.write_bytes(gzip.compress(json.dumps(rows, separators=(",", ":")).encode(), mtime=0))


def sheets(folder: Path, path: Path = STORED, columns: int = 5, lines: int = 5) -> list[Path]:
    """Draw the unlabelled curves, `columns` by `lines` a page, in an order that tells nothing; returns the pages."""
    from matplotlib.figure import Figure

    runs = stored(path)
    unlabelled = [index for index, one in enumerate(runs) if not one.label]
    order = np.random.default_rng(20).permutation(unlabelled)
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for start in range(0, len(order), columns * lines):
        figure = Figure(figsize=(3.6 * columns, 2.5 * lines), layout="tight")
        for place, index in enumerate(order[start : start + columns * lines]):
            axes = figure.add_subplot(lines, columns, place + 1)
            for one in runs[index].curves.success:
                if one.level in ("all", "rollout"):
                    look = "o-" if one.level == "all" else ".--"
                    axes.plot(one.updates, one.success, look, label=one.level, linewidth=1)
            axes.set(ylim=(-0.02, 1.02), title=f"number {index}")
            axes.grid(alpha=0.4)
        pages.append(folder / f"sheet{len(pages)}.png")
        figure.savefig(pages[-1], dpi=70)
    return pages


def label(text: str, path: Path = STORED) -> None:
    """Write labels into the set: lines `number label onset`, the numbers those of the sheets."""
    rows = _rows(path)
    for line in filter(None, map(str.strip, text.splitlines())):
        number, word, onset = line.split()
        if word not in (COLLAPSED, HEALTHY, DOUBTFUL):
            raise ValueError(f"unknown label {word!r}; known: {COLLAPSED}, {HEALTHY}, {DOUBTFUL}")
        rows[int(number)] |= {"label": word, "onset": int(onset)}
    halved(rows)
    _write(rows, path)


def halved(rows: list[dict[str, Any]]) -> None:
    """Deal the newly labelled runs of each label to the two halves, by turns in a drawn order."""
    for word in (COLLAPSED, HEALTHY, DOUBTFUL):
        new = [row for row in rows if row["label"] == word and "half" not in row]
        for place, index in enumerate(np.random.default_rng(21).permutation(len(new))):
            new[index]["half"] = place % 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="command", required=True)
    kinds.add_parser("extract", help="add curves of results folders").add_argument("folders", nargs="+", type=Path)
    kinds.add_parser("sheets", help="draw unlabelled curves").add_argument("folder", type=Path)
    kinds.add_parser("label", help="write labels from a file of lines `number label onset`").add_argument(
        "file", type=Path
    )
    arguments = parser.parse_args()
    if arguments.command == "extract":
        print(f"{extract(arguments.folders)} new curves in {STORED}")
    elif arguments.command == "sheets":
        print(*sheets(arguments.folder), sep="\n")
    else:
        label(arguments.file.read_text(encoding="utf8"))


if __name__ == "__main__":
    main()
