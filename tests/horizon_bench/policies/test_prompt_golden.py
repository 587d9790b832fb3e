"""What a language model reads, word for word: every puzzle through every interface, as the chat template writes it.

After a change that is meant: `python tests/horizon_bench/policies/test_prompt_golden.py` writes the files again.
"""

from __future__ import annotations

import difflib
import tempfile
from pathlib import Path

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.envs.interfaces import INTERFACES
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.split import halves
from horizon_bench.policies.chat import Message
from horizon_bench.policies.expert import expert_moves
from horizon_bench.policies.hf import HfPolicy
from puzzles import PUZZLES

GOLDEN = Path(__file__).parent / "golden"
LEVELS = {"sudoku": "T1", "rush-hour": "R1", "shop": "S1"}
"""Level whose first test instance is shown."""
CASES = [(puzzle, interface) for puzzle in PUZZLES for interface in INTERFACES]


def expert_reply(env: PuzzleEnv) -> str:
    """Return a reply of a reasoning model: thought, rationale, action."""
    interface = env.game.interface
    moves = expert_moves(env, 1 if interface.single else interface.fixed or 2, np.random.default_rng(0))
    texts = [env.puzzle.format_action(move) for move in moves]
    if interface.halves:
        what, where = halves(env.puzzle, moves[0])
        texts = [f"what({what})" if env.game.pending is None else f"where({where})"]
    return f"<think>Long thoughts, never shown again. {texts[0]}?</think>It is on the way.\nAction: {' '.join(texts)}"


def shown(policy: HfPolicy, puzzle: str, interface: str) -> str:
    """Return prompts and replies of the first three turns."""
    instance = load_bank(LEVELS[puzzle], "test")[0]
    env = PuzzleEnv(puzzle, size=instance.size or None, instance=instance.start, interface=interface, on_error="stay",
                    max_decisions=9)  # fmt: skip
    observation, _ = env.reset(seed=0)
    parts = []
    for reply in (expert_reply(env), "I do not know.", ""):
        parts.append(f"=== prompt\n{policy.render([Message('user', observation)])}")
        if reply:
            parts.append(f"=== reply\n{reply}")
            observation = env.step(reply)[0]
    whole = policy.render([Message("user", observation)])
    quiet = policy.with_sampling(thinking=False).render([Message("user", observation)])
    assert quiet.startswith(whole)
    return "\n".join([*parts, f"=== the same without thinking goes on with\n{quiet[len(whole) :]}"])


@pytest.mark.parametrize(("puzzle", "interface"), CASES)
def test_prompts_are_as_they_were(language_policy, puzzle, interface):
    text, path = shown(language_policy, puzzle, interface), GOLDEN / f"{puzzle}-{interface}.txt"
    assert path.is_file(), f"run `python {Path(__file__).name}` to write it"
    expected = path.read_text(encoding="utf8")
    difference = "\n".join(difflib.unified_diff(expected.splitlines(), text.splitlines(), lineterm="", n=1))
    assert text == expected, difference


def test_no_golden_file_is_left_over():
    assert {path.stem for path in GOLDEN.iterdir()} == {f"{puzzle}-{interface}" for puzzle, interface in CASES}


@pytest.mark.parametrize(("puzzle", "interface"), CASES)
def test_thoughts_are_never_shown_again(puzzle, interface):
    prompts = (GOLDEN / f"{puzzle}-{interface}.txt").read_text(encoding="utf8").split("=== reply")[1:]
    assert all("Long thoughts" not in text.partition("=== prompt")[2] for text in prompts)
    assert "- It is on the way. Action: " in prompts[-1]


def write() -> None:
    """Write every golden file."""
    from horizon_bench.policies.random_model import write_random_model

    with tempfile.TemporaryDirectory() as folder:
        policy = HfPolicy.load(write_random_model(folder))
        GOLDEN.mkdir(exist_ok=True)
        for puzzle, interface in CASES:
            text = shown(policy, puzzle, interface)
            (GOLDEN / f"{puzzle}-{interface}.txt").write_text(text, encoding="utf8")


if __name__ == "__main__":
    write()
