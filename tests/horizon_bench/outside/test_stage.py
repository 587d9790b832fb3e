from __future__ import annotations

from typing import Any

import pytest
from corridor import CorridorSimulator

from horizon_bench.outside import CrashError, Stage, Trail, View, stage

START = Trail("hall 9", ())
HALF = "\ud800"
"""Half a character: text that cannot be written to a file."""


def teller(*told: Any) -> CorridorSimulator:
    """Return a simulator that tells one thing of the start, and the next of what follows."""

    class Own(CorridorSimulator):
        def reset(self, task: str) -> Any:
            return told[0]

        def step(self, command: str) -> Any:
            return told[-1]

    return Own()


def test_what_a_world_tells_is_kept_in_one_form() -> None:
    odd = View(f"a{HALF}b \N{FIRE}\r\n\t", ("Go  East.", "go east", "...", "", f"take {HALF}", "öffne TÜR"))
    view = Stage(lambda: teller(odd)).view(START)
    assert view.text == "a?b \N{FIRE}\r\n\t"
    assert view.commands == ("go east", "take ?", "öffne tür")


@pytest.mark.parametrize("over", [{"won": True}, {"lost": True}])
def test_nothing_is_possible_once_a_world_has_ended(over: dict[str, bool]) -> None:
    assert Stage(lambda: teller(View("", ("go east",), **over))).view(START).commands == ()


@pytest.mark.parametrize("told", [None, "a room", {"text": "a room"}, View(None), View("", None), View("", score=100)])  # type: ignore[arg-type]
def test_a_world_that_tells_no_view_has_crashed_and_is_closed(told: Any) -> None:
    running = len(CorridorSimulator.running)
    after = Stage(lambda: teller(View("a room"), told)).step(START, "go east")
    assert after.lost
    assert "Error: " in after.crash
    with pytest.raises(CrashError, match=r"task 'hall 9' cannot be started: \w+Error"):
        Stage(lambda: teller(told)).view(START)
    assert len(CorridorSimulator.running) == running


def test_why_a_world_went_down_is_one_line_that_can_be_written_to_a_file() -> None:
    class Falls(CorridorSimulator):
        def step(self, command: str) -> View:
            raise OSError(f"lost\n{HALF}")

    assert Stage(Falls).step(START, "go east").text == "The world has crashed: OSError: lost ?"


def test_simulators_that_went_down_together_cost_one_step() -> None:
    class Mortal(CorridorSimulator):
        dead = False

        def step(self, command: str) -> View:
            if self.dead:
                raise BrokenPipeError("the process is gone")
            return super().step(command)

    crowd = Stage(Mortal, most_live=3)
    for _ in range(3):
        crowd._views.clear()
        crowd.view(START)
    assert len(crowd._live) == 3
    for _, simulator in crowd._live:
        simulator.dead = True  # type: ignore[attr-defined]
    assert crowd.step(START, "go east").crash
    assert not crowd.step(START, "go east").crash
    crowd.close()


def test_long_lists_of_commands_push_older_ones_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "_MOST_COMMANDS", 2500)
    kept = Stage(lambda: teller(View("", tuple(f"take thing {number}" for number in range(1000)))))
    for task in ("hall 1", "hall 2", "hall 3", "hall 2", "hall 4"):
        assert len(kept.view(Trail(task, ())).commands) == 1000
    assert [trail.task for trail in kept._views] == ["hall 2", "hall 4"]
    kept.close()
