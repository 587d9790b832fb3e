"""A page for each estimator, from the registry, the docstrings, the tables of credit.md and a few notes."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import Any

from horizon_bench.credit import ESTIMATORS, CreditBatch, find_estimator
from horizon_bench.credit.registry import NEEDS_VALUES
from making.estimator_notes import NOTES
from making.markdown import MADE, argument_notes, first_paragraph, prose, table
from studies.learners import LEARNERS

CREDIT = Path(__file__).resolve().parents[1] / "credit.md"
FACTS = ("source", "assumes", "known bias", "cost in further episodes")
PROBE = ("scale", "tilt (± sampling)", "cosine of the mean", "cosine of one batch", "noise")

BATCH = """\
>>> from horizon_bench.credit import CreditBatch, find_estimator
>>> batch = CreditBatch.from_ragged(
...     rewards=[[0, 0, 0, 1], [0, 0, 0], [0, 0, 0, 0, 1]],
...     subgoals_reached=[[0, 1, 0, 1], [0, 1, 0], [0, 0, 1, 0, 1]],
...     own_subgoal_turn=[[1, 1, 3, 3], [1, 1, -1], [2, 2, 2, 4, 4]],
...     states=["sabc", "sab", "sadbc"],
...     actions=["1234", "129", "15234"],
"""
VALUES = "...     values=[[0.6, 0.7, 0.7, 0.9], [0.6, 0.7, 0.7], [0.6, 0.7, 0.6, 0.7, 0.9]],\n"


def parent(name: str) -> tuple[Any, dict[str, Any]]:
    """Return the function behind an estimator and the options that the name fixes."""
    estimator = ESTIMATORS[name]
    return (estimator.func, estimator.keywords) if isinstance(estimator, partial) else (estimator, {})


def family(name: str) -> str:
    """Return the plain estimator that shares the function of `name`; an alias has the name it stands for."""
    function, fixed = parent(name)
    same = [other for other in ESTIMATORS if parent(other) == (function, {})]
    return same[-1] if not fixed and len(same) > 1 else (same[0] if fixed else name)


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """Return the table below a heading of credit.md: each row's cells behind the first, by the names in the first."""
    found: dict[str, list[str]] = {}
    for line in page.split(f"\n## {heading}")[1].split("\n## ")[0].split("\n"):
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            for name in (part.strip("` ") for part in cells[0].replace("alias", "").split(",")):
                found[name] = cells[1:]
    return found


def options(name: str) -> str:
    """Return the table of options, with the values that this name fixes."""
    function, fixed = parent(name)
    notes = argument_notes(function)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return table(
        ("option", "value here", "meaning"),
        [
            (f"`{each.name}`", f"`{fixed.get(each.name, each.default)!r}`", notes[each.name])
            for each in sorted(parameters, key=lambda each: each.name not in fixed)
        ],
    )


def example(name: str) -> str:
    """Return a worked example whose numbers are those of the code."""
    needs = name in NEEDS_VALUES
    code = BATCH + (VALUES if needs else "") + "... )"
    names: dict[str, Any] = {"CreditBatch": CreditBatch}
    exec("\n".join(line[4:] for line in code.split("\n")), names)
    batch = names["batch"]
    lines = [
        code,
        f'>>> for attempt in batch.split(find_estimator("{name}")(batch)):',
        "...     print(attempt.round(2).tolist())",
    ]
    lines += [str(attempt.round(2).tolist()) for attempt in batch.split(find_estimator(name)(batch))]
    return "\n".join(lines) + "\n"


def use(name: str) -> str:
    """Return how to train with an estimator."""
    word = next((word for word, learner in LEARNERS.items() if learner.estimator == name), None)
    alias = family(name) if word is None else name
    word = word or next(word for word, learner in LEARNERS.items() if learner.estimator == alias)
    lines = [
        f'In Python `find_estimator("{name}")`, in training `UpdateConfig(estimator="{name}")`; in names of cells `{word}`:'
    ]
    lines.append(f"```sh\nhorizon-bench study run study-sudoku-atomic-t3-{word} --preset smoke\n```")
    needs = NEEDS_VALUES.get(name)
    if needs:
        from_where = {
            "critic": "a critic that training adds",
            "rollouts": "continuations from snapshots that training plays",
        }
        lines.append(f"It reads `batch.values`, which come from {from_where[needs]}.")
    return "\n\n".join(lines)


def page(name: str) -> str:
    """Return the page of an estimator."""
    credit = CREDIT.read_text(encoding="utf8")
    function, fixed = parent(name)
    table_rows = rows(credit, "The estimators")
    facts = table_rows.get(name) or table_rows[family(name)]
    parts = [f"# {name}", MADE, f"**{first_paragraph(function).removeprefix('Return ')}**"]
    if fixed:
        changed = ", ".join(f"`{key}={value!r}`" for key, value in fixed.items())
        parts.append(f"`{name}` is [{family(name)}]({slug(family(name))}.md) with {changed}.")
    elif family(name) != name:
        parts.append(f"`{name}` is another name of [{family(name)}]({slug(family(name))}.md).")
    parts += [table(FACTS, [facts[1:]]), "## Formula", *prose(function).split("\n\n")[1:]]
    parts += ["## When to use it", NOTES[name].when, "## Pitfalls", NOTES[name].pitfall, "## Options", options(name)]
    parts += [
        "## On a small batch",
        "Three attempts at one puzzle: solved straight on, failed at the third decision, solved with a detour at the second. "
        "One line for each attempt, one number for each decision:",
        f"```python\n{example(name)}\n```",
        "## Against the exact gradient",
        "On a chain where the policy gradient is known; how to read it: [the probe](../credit.md#bias-variance-direction-the-probe).",
        table(PROBE, [rows(credit, "Bias, variance, direction")[name]]),
        "## Train with it",
        use(name),
    ]
    return "\n\n".join(parts) + "\n"


def slug(name: str) -> str:
    """Return the file name of a page, without its ending."""
    return name.replace("++", "-plus-plus")


def index() -> str:
    """Return the page that lists all estimators."""
    lines = [
        (f"[{name}]({slug(name)}.md)", first_paragraph(parent(name)[0]).removeprefix("Return "), NOTES[name].when)
        for name in ESTIMATORS
    ]
    parts = [
        "# Estimators",
        MADE,
        "An estimator gives each decision of a batch of episodes one number, its advantage. All of them are pure functions of a "
        "`CreditBatch`. [Credit assignment](../credit.md) compares them and says how their biases were measured; "
        "[Your own estimator](../your_estimator.md) adds one. [MiRA](../mira.md) has an objective of its own.",
        table(("name", "advantage", "when to use it"), lines),
    ]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Return every page of an estimator by its path in `docs`."""
    return {"estimators/index.md": index()} | {f"estimators/{slug(name)}.md": page(name) for name in ESTIMATORS}
