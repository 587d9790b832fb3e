"""Which decisions count as lost: those of which nothing was tried."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.policies import Policy, Reply, Seat
from horizon_bench.rollout import rollout
from puzzles.thoughts import missing_digits


class Scripted:
    """Says one thing once, then nothing that can be read."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        (seat,) = seats
        kind, self.kind = self.kind, "unreadable"
        return [Reply(text(kind, seat))]

    def at_temperature(self, temperature: float) -> Policy:
        return self


def text(kind: str, seat: Seat) -> str:
    """Return a reply whose thought about the first box is true or false, and whose move is legal or not."""
    if kind == "unreadable":
        return "nothing that can be read"
    boxes = seat.puzzle.layout.boxes  # type: ignore[attr-defined]
    box = next(index for index, cells in enumerate(boxes) if missing_digits(seat.state.values, cells))
    digits = [str(digit) for digit in missing_digits(seat.state.values, boxes[box])]
    claim = digits[:-1] if kind == "false thought" else digits
    move = seat.oracle.expert_moves(seat.state)[0]
    if kind == "illegal action":
        legal = set(seat.puzzle.moves(seat.state))
        move = next(one for one in seat.puzzle.all_moves() if one not in legal)
    thought = f"<think> b{box + 1} {' '.join(claim)} </think>" if claim else f"<think> b{box + 1} 9 </think>"
    return f"{thought} {seat.puzzle.format_action(move)}"


@pytest.mark.parametrize(
    ("kind", "lost", "moved"),
    [
        ("right action", False, True),
        ("illegal action", False, False),
        ("false thought", True, False),
        ("unreadable", True, False),
    ],
)
@pytest.mark.parametrize("on_void", ["turn", "end"])
def test_a_decision_is_lost_if_nothing_of_it_was_tried(kind: str, lost: bool, moved: bool, on_void: str) -> None:
    settings = Settings(observation="compact", thought="checked", on_error="semi", on_void=on_void)
    episode = rollout(Scripted(kind), load_bank("T3", "test")[:1], settings)[0]
    assert episode.turns[0].lost is lost
    assert bool(episode.turns[0].moves) is moved
    assert all(turn.lost for turn in episode.turns[1:])
