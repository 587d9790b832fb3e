"""The pages of environments and their pictures, from the code."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
from PIL import Image

from curricula.levels import LEVELS
from horizon_bench.envs import INTERFACES, ON_ERROR, REWARDS, PuzzleEnv, Settings, ready_id, settings
from horizon_bench.envs.infos import INFO
from making.markdown import MADE, argument_notes, first_paragraph, table

PAGES: dict[str, dict[str, Any]] = {
    "sudoku": {
        "id": "horizon_bench/Sudoku-v0",
        "start": "12..3.....4....2",
        "picture": "24736951.15382479..9671543.3792.61545.4.93.6.6815.732.71293864.9654...834386.2971",
    },
    "rush-hour": {
        "id": "horizon_bench/RushHour-v0",
        "start": "AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR.",
        "picture": "AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR.",
    },
}


def field_notes(source: str) -> dict[str, str]:
    """Return the string beneath each field of a dataclass."""
    body = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    notes = {}
    for field, note in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(note, ast.Expr) and isinstance(note.value, ast.Constant):
            notes[field.target.id] = " ".join(str(note.value.value).split())  # type: ignore[union-attr]
    return notes


def arguments(puzzle: str) -> str:
    """Return the table of arguments."""
    parameters = inspect.signature(PuzzleEnv.__init__).parameters
    own = [
        (f"`{name}`", f"`{parameters[name].default!r}`", note)
        for name, note in argument_notes(PuzzleEnv.__init__).items()
        if name in parameters and name not in ("settings", "puzzle") and (name != "subgoals" or puzzle == "rush-hour")
    ]
    notes = field_notes(inspect.getsource(Settings))
    rest = [
        (f"`{field.name}`", f"`{field.default!r}`", notes[field.name])
        for field in Settings.__dataclass_fields__.values()
    ]
    return table(("argument", "default", "meaning"), own + rest)


def spaces(env_id: str, start: str) -> str:
    """Return the table of spaces."""
    rows = []
    for observation in settings.OBSERVATIONS:
        for interface in ("atomic", "macro", "macro-fixed-2") if observation == "array" else ("any",):
            try:
                env = gymnasium.make(
                    env_id,
                    instance=start,
                    observation=observation,
                    interface="atomic" if interface == "any" else interface,
                )
            except ValueError:
                continue
            rows.append(
                (f"`{observation}`", interface, space_text(env.observation_space), space_text(env.action_space))
            )
    return table(("`observation`", "interface", "observation space", "action space"), rows)


def space_text(space: gymnasium.Space[Any]) -> str:
    """Return a space in few words."""
    if isinstance(space, gymnasium.spaces.Text):
        return f"`Text({space.min_length}, {space.max_length})` over {len(space.character_set)} characters"
    return f"`{space}`"


def examples(env_id: str, start: str) -> tuple[str, str, str]:
    """Return a prompt, a compact observation and a reply, all of the same start."""
    text = gymnasium.make(env_id, instance=start, interface="macro")
    compact = gymnasium.make(env_id, instance=start, interface="macro", observation="compact")
    base: Any = text.unwrapped
    prompt, tokens = text.reset(seed=0)[0], compact.reset(seed=0)[0]
    plan = base.oracle.plan(base.state)[:2]
    return prompt, tokens, " ".join(" ".join(base.puzzle.compact_action(move)) for move in plan)


def picture(env_id: str, start: str) -> Image.Image:
    """Return a picture of a board after three moves."""
    env = gymnasium.make(env_id, instance=start, render_mode="rgb_array")
    env.reset(seed=1)
    base: Any = env.unwrapped
    for move in base.oracle.plan(base.state)[:3]:
        env.step(base.puzzle.format_action(move))
    return Image.fromarray(env.render())


def page(puzzle: str) -> str:
    """Return the page of a puzzle."""
    env_id, start = PAGES[puzzle]["id"], PAGES[puzzle]["start"]
    made: Any = gymnasium.make(env_id, instance=start).unwrapped
    prompt, tokens, reply = examples(env_id, start)
    levels = [
        (
            f"`{entry.name}`",
            f"{entry.size}x{entry.size}",
            f"{entry.low} to {entry.high}",
            f"`{ready_id(entry.name, 'macro')}`",
        )
        for entry in LEVELS.values()
        if entry.puzzle == puzzle
    ]
    subgoals = ", ".join(f"`{name}`" for name in (made.reset(seed=0), made.oracle.subgoals)[1])
    rewards = [(f"`{name}`", first_paragraph(reward)) for name, reward in REWARDS.items()]
    parts = [
        f"# {env_id}",
        MADE,
        f"![a board, its last move marked](./{puzzle}.png)",
        made.puzzle.rules(),
        "## Levels and ids",
        f"`{env_id}` takes every argument below. Ready ids exist for each level that ships a bank and each interface "
        f"({', '.join(f'`{name}`' for name in INTERFACES)}).",
        table(("level", "board", "goal distance (atomic actions)", "ready id, for example"), levels),
        "## Spaces",
        spaces(env_id, start),
        "## Text form",
        f"```text\n{prompt}\n```",
        "## Compact form",
        f"Observation: `{tokens}`",
        f"Reply: `{reply}`",
        "## Interfaces",
        table(
            ("interface", "what the prompt asks for"),
            [(f"`{each.name}`", each.instruction()) for each in INTERFACES.values()],
        ),
        "## Rewards",
        table(("`reward`", "meaning"), rewards),
        f"Subgoals of the instance above: {subgoals}.",
        "## After an error",
        table(("`on_error`", "meaning"), [(f"`{name}`", meaning) for name, meaning in ON_ERROR.items()]),
        "## Arguments",
        arguments(puzzle),
        "## Info",
        table(("key", "meaning"), [(f"`{key}`", meaning) for key, meaning in INFO.items()]),
    ]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Return every page of an environment by its path in `docs`."""
    return {f"environments/{puzzle}.md": page(puzzle) for puzzle in PAGES}


def write_pictures(docs: Path) -> None:
    """Write the picture of every page."""
    for puzzle, facts in PAGES.items():
        picture(facts["id"], facts["picture"]).save(docs / "environments" / f"{puzzle}.png", optimize=True)
