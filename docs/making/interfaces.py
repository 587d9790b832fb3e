"""A page for each interface: what it is, what one and the same reply does under it, when to use it."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium

from horizon_bench.envs import INTERFACES
from horizon_bench.envs.interfaces import Interface, find_interface
from making.markdown import MADE, table
from studies.matrix import SCALES, STUDIES
from studies.options import INTERFACE_FORMS, INTERFACE_WORDS

START = "12343412.143..2."
"""Four blanks: r3c1, r4c1, r4c2, r4c4."""
SINGLE, MACRO = "value(2, r3c1)", "value(2, r3c1) value(4, r4c1) value(3, r4c2)"


class Note(NamedTuple):
    """What the code does not say."""

    holds: str
    carried: str
    when: str
    pitfall: str


NOTES: dict[str, Note] = {
    "atomic": Note(
        "one atomic action",
        "that action",
        "The base line: one decision for each step of the goal distance, so that horizon and distance are the same number.",
        "A reply of two actions is unreadable and carries out nothing: it costs a turn.",
    ),
    "macro": Note(
        "any number of actions",
        "in order, up to the first illegal one, the goal, or a budget (under `semi` an illegal one is skipped)",
        "To shorten the horizon without changing the puzzle. It helps as far as a turn, rather than an action, is risky; "
        "the study `turn-risk` measures how far.",
        "Without a thought in the reply RL shrinks macros to single actions; look at *Length of macros* in the report. Counts "
        "of decisions can no longer be compared with those of `atomic`; compare atomic steps, tokens or success.",
    ),
    "macro-capped": Note(
        "any number of actions",
        "the first k; the rest is dropped unread",
        "To bound the length of macros without teaching other replies. The cap is an intervention: the policy is not told.",
        "An illegal action behind the cap goes unnoticed, so that a smaller k shows a smaller share of illegal actions.",
    ),
    "macro-fixed": Note(
        "exactly k actions, fewer only where they end the puzzle",
        "all of them",
        "To set the number of decisions to distance / k exactly, as a policy that chooses its own lengths does not.",
        "A reply of another number is unreadable. Each k has an SFT of its own, except 2.",
    ),
    "macro-stepwise": Note(
        "any number of actions",
        "the first one",
        "To restore the horizon: the policy keeps its habit of writing macros, while the environment takes one step a decision. "
        "If the edge of macros lies in the horizon, it vanishes here; the study `restore` shows that it does.",
        "Its tokens are those of macros for each single step. Compare success and decisions, not tokens.",
    ),
    "split": Note(
        "half an action: first what, then where",
        "the whole action, after the second half",
        "To lengthen the horizon: the same moves take twice as many decisions.",
        "SFT must teach both halves and takes three times the steps. Of an action with one argument the name is the first half, "
        "so that there may be little to choose in it.",
    ),
}
COUNTED = {"macro-capped": "macro-capped-3", "macro-fixed": "macro-fixed-2"}
"""The member of a family that its page shows."""


def member(name: str) -> Interface:
    """Return the interface that a page shows."""
    return find_interface(COUNTED.get(name, name))


def replies(interface: Interface) -> tuple[str, ...]:
    """Return the replies of the example."""
    if interface.halves:
        return ("what(2)", "where(r3c1)")
    if interface.single:
        return (SINGLE,)
    return ("value(2, r3c1) value(4, r4c1)" if interface.fixed == 2 else MACRO + " value(1, r4c4)",)


def example(name: str) -> str:
    """Return replies on one board and what becomes of them, as the code says it."""
    shown = member(name).name
    make = f'gymnasium.make("horizon_bench:horizon_bench/Sudoku-v0", instance="{START}", interface="{shown}")'
    env: Any = gymnasium.make("horizon_bench/Sudoku-v0", instance=START, interface=shown)
    lines = [
        ">>> import gymnasium",
        f">>> env = {make}",
        ">>> prompt, info = env.reset(seed=0)",
        '>>> info["distance"]',
    ]
    lines.append(str(env.reset(seed=0)[1]["distance"]))
    for reply in replies(member(name)):
        info = env.step(reply)[4]
        lines.append(f'>>> info = env.step("{reply}")[4]')
        lines.append('>>> info["moves"], info["decisions"], info["distance_to_go"]')
        lines.append(repr((info["moves"], info["decisions"], info["distance_to_go"])))
    return "\n".join(lines) + "\n"


def word(name: str) -> str:
    """Return the word for an interface in the names of cells."""
    back = {value: word for word, value in INTERFACE_WORDS.items()}
    return back.get(name) or next(form for form in INTERFACE_FORMS if form.startswith(name.removeprefix("macro-")))


def studies_with(name: str) -> list[str]:
    """Return the studies whose cells are trained or evaluated through an interface."""
    found = []
    for study in STUDIES.values():
        used = {
            interface
            for scale in SCALES.values()
            for cell in study.cells(scale)
            for interface in (cell.interface, cell.evaluation_interface)
        }
        if any(interface == name or (name in COUNTED and interface.startswith(name)) for interface in used):
            found.append(f"[{study.name}](../studies/{study.name}.md)")
    return found


def page(name: str) -> str:
    """Return the page of an interface."""
    note, shown = NOTES[name], member(name)
    title = f"{name}-k" if name in COUNTED else name
    parts = [
        f"# {title}",
        MADE,
        table(
            ("a reply holds", "carried out", "word in names of cells", "mode token of the compact form"),
            [(note.holds, note.carried, f"`{word(name)}`", f"`{shown.mode_token}`")],
        ),
        f"The prompt says: *{shown.instruction()}*",
        "## When to use it",
        note.when,
        "## Pitfalls",
        note.pitfall,
        "## On a board with four blanks",
        f"```python\n{example(name)}\n```",
        "## Studies with it",
        ", ".join(studies_with(name)) + ".",
    ]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """Return the page that compares all interfaces."""
    rows = [
        (
            f"[{name}{'-k' if name in COUNTED else ''}]({name}.md)",
            note.holds,
            note.carried,
            f"`{word(name)}`",
        )
        for name, note in NOTES.items()
    ]
    ready = ", ".join(f"`{name}`" for name in INTERFACES)
    parts = [
        "# Interfaces",
        MADE,
        "An interface says how a reply maps to moves. It changes how many decisions the way to the goal takes, and leaves the "
        "puzzle as it is. [Environments](../environments/index.md) says how a reply is read.",
        table(("name", "a reply holds", "carried out", "word in names of cells"), rows),
        "`macro-capped-k` and `macro-fixed-k` exist for every k from 1 to 999. What `macro-capped-k` and `macro-stepwise` leave "
        "out is not announced to the policy: they are interventions on a policy that writes macros. "
        f"Ready environment ids exist for {ready}.",
        "`horizon_bench.ActionInterface(env, name)` gives an environment another interface after it was made.",
    ]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Return every page of an interface by its path in `docs`."""
    return {"interfaces/index.md": index()} | {f"interfaces/{name}.md": page(name) for name in NOTES}
