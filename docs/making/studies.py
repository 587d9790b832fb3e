"""A page for each study: question, cells, cost, command, how to read its figures."""

from __future__ import annotations

import importlib
from dataclasses import fields
from typing import Any

from making.markdown import MADE, prose, table
from making.study_notes import NOTES
from reports.figures import FIGURES
from studies.factors import FAMILIES, Cell
from studies.matrix import SCALES, STUDIES
from studies.presets import PRESETS

OF_A_CELL = ("puzzle", "family", "interface", "train", "learner", "estimator", "module")
"""Fields that have columns of their own, or none."""


def scale_of(name: str) -> str:
    """Return the family that the `cpu` preset asks a study on."""
    usual = PRESETS["cpu"].family
    return (
        usual if STUDIES[name].cells(SCALES[usual]) else next(key for key in SCALES if STUDIES[name].cells(SCALES[key]))
    )


def differences(cell: Cell) -> str:
    """Return the factors of a cell that differ from the defaults."""
    found = [
        f"`{field.name}={getattr(cell, field.name)!r}`"
        for field in fields(cell)
        if field.name not in OF_A_CELL and getattr(cell, field.name) != field.default
    ]
    return ", ".join(found)


def schedule(cell: Cell) -> str:
    """Return the levels that a cell is trained on."""
    return ", then ".join(" and ".join(phase) for phase in cell.train) or "-"


def cost(name: str) -> str:
    """Return the table of costs."""
    rows = []
    for preset in (PRESETS["smoke"], PRESETS["cpu"]):
        cells = STUDIES[name].cells(SCALES[scale_of(name)])
        minutes = preset.study_seconds(cells) * preset.seeds / 60
        rows.append((f"`{preset.name}`", preset.seeds, preset.updates, preset.test_puzzles, f"{minutes:.1f}"))
    return table(
        ("preset", "seeds", "updates of a trained cell", "test puzzles a level", "processor minutes, estimated"), rows
    )


def commands(name: str) -> str:
    """Return the commands that run a study and draw its report."""
    return (
        f"```sh\nhorizon-bench study list --cells                  # cells and cost of every study\n"
        f"horizon-bench study run {name} --preset smoke      # minutes, one seed\n"
        f"horizon-bench study run {name} --preset cpu        # the preset of the findings\n"
        f"horizon-bench report results/{name}\n```"
    )


def page(name: str) -> str:
    """Return the page of a study."""
    study, note = STUDIES[name], NOTES[name]
    module: Any = importlib.import_module(f"studies.questions.{name.replace('-', '_')}")
    cells = study.cells(SCALES[scale_of(name)])
    boards = ", ".join(f"`{key}` ({FAMILIES[key].puzzle})" for key, scale in SCALES.items() if study.cells(scale))
    figures = "\n".join(f"- [{FIGURES[key].title}](../figure_by_figure.md#{key})" for key in note.figures)
    parts = [
        f"# {name}",
        MADE,
        f"**{study.question}**",
        "## How it answers",
        "Its cells: " + joined(prose(module.cells)).removeprefix("Return "),
        table(
            ("cell", "interface", "trained on", "learner", "else"),
            [
                (f"`{cell.name}`", cell.interface, schedule(cell), f"`{cell.learner}`", differences(cell))
                for cell in cells
            ],
        ),
        f"Boards that it can be asked on (`--family`): {boards}.",
        "## What it costs",
        cost(name),
        "## Run it",
        commands(name),
        "## How to read its report",
        note.reading,
        f"Look at:\n\n{figures}",
        "## What was found",
        f"<!-- findings: {name} -->",
        "All that was measured so far stands in [findings](../findings.md), what failed in the [log](../log.md).",
    ]
    return "\n\n".join(parts) + "\n"


def joined(text: str) -> str:
    """Return a text with the lines of each paragraph joined."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def index() -> str:
    """Return the page that lists all studies."""
    minutes = PRESETS["cpu"]
    rows = []
    for name, study in STUDIES.items():
        cells = study.cells(SCALES[scale_of(name)])
        rows.append(
            (
                f"[{name}]({name}.md)",
                study.question,
                len(cells),
                round(minutes.study_seconds(cells) * minutes.seeds / 60),
            )
        )
    parts = [
        "# Study by study",
        MADE,
        "How cells are named, run and resumed: [Studies](../studies.md). A study of your own: [Your study](../your_study.md).",
        table(("study", "question", "cells", "processor minutes with `--preset cpu`, estimated"), rows),
    ]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Return every page of a study by its path in `docs`."""
    return {"studies/all.md": index()} | {f"studies/{name}.md": page(name) for name in STUDIES}
