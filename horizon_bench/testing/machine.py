"""A state machine that drives an environment and its twin through legal, illegal and unreadable replies."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.testing.environment_laws import replies
from horizon_bench.testing.puzzle_laws import demand
from horizon_bench.testing.strategies import garbage
from horizon_bench.testing.subjects import Subject, find_subject
from puzzles.base import Puzzle


class PuzzleMachine(RuleBasedStateMachine):
    """Drives two environments of one puzzle side by side; subclass it with your puzzle and settings.

    Hypothesis searches for a sequence of replies, resets and snapshots after which the two differ, an observation lies
    outside its space, a budget is passed or a subgoal is paid twice.
    """

    subject: ClassVar[Subject]
    """What is driven; `find_subject` makes it."""
    arguments: ClassVar[dict[str, Any]] = {}
    """Further arguments of the environments."""

    def __init__(self) -> None:
        super().__init__()
        self.env: PuzzleEnv = self.subject.make(**self.arguments)
        self.twin: PuzzleEnv = self.subject.make(**self.arguments)
        self.snapshot: Any = None
        self.paid: list[int] = []

    @initialize(seed=st.integers(0, 2**31))
    def begin(self, seed: int) -> None:
        """Reset both with one seed."""
        self._both("reset", seed=seed)
        self.paid, self.snapshot = [], None

    @rule(index=st.integers(0, 99))
    def reset(self, index: int) -> None:
        """Begin another episode from any start."""
        start = self.subject.starts[index % len(self.subject.starts)]
        self._both("reset", options={"instance": start})
        self.paid, self.snapshot = [], None

    @precondition(lambda self: self.running)
    @rule(choice=st.integers(0, 9999))
    def legal(self, choice: int) -> None:
        """Reply with a legal action."""
        for reply in replies(self.env, choice):
            if self.running:
                self._step(reply)

    @precondition(lambda self: self.running)
    @rule(choice=st.integers(0, 9999))
    def any_action(self, choice: int) -> None:
        """Reply with any action, legal or not."""
        known = self.subject.known_moves
        self._step(self.env.puzzle.format_action(known[choice % len(known)]))

    @precondition(lambda self: self.running)
    @rule(text=garbage())
    def unreadable(self, text: str) -> None:
        """Reply with any text."""
        self._step(text)

    @rule()
    def keep(self) -> None:
        """Take a snapshot."""
        self.snapshot = (self.env.get_state(), list(self.paid))

    @precondition(lambda self: self.snapshot is not None)
    @rule()
    def restore(self) -> None:
        """Go back to the snapshot, in both."""
        snapshot, self.paid = self.snapshot[0], list(self.snapshot[1])
        self._both("set_state", snapshot)

    @property
    def running(self) -> bool:
        """Whether the episode goes on."""
        return not self.env.game.end_reason

    @invariant()
    def same_state(self) -> None:
        """Both stand in the same state, within the budgets."""
        if self.env.game.prepared is None:
            return
        demand(self.env.state == self.twin.state, "the twins stand in different states")
        demand(self.env.game.decisions <= self.env.game.max_decisions, "the budget of decisions is passed")
        demand(self.env.game.atomic_steps <= self.env.game.max_atomic_steps, "the budget of atomic steps is passed")

    def _step(self, reply: str) -> None:
        before = self.env.state
        info = self._both("step", reply)[4]
        if not info["format_ok"]:
            demand(self.env.state == before, f"unreadable reply {reply!r} changed the state")
        self.paid += info["subgoals_reached"]
        demand(len(set(self.paid)) == len(self.paid), f"a subgoal was paid twice: {self.paid}")

    def _both(self, method: str, *arguments: Any, **options: Any) -> Any:
        first = getattr(self.env, method)(*arguments, **options)
        second = getattr(self.twin, method)(*arguments, **options)
        if self.env.settings.observation != "array":
            demand(first == second, f"the twins differ after {method}: {first!r} and {second!r}")
        demand(self.env.observation_space.contains(first[0]), f"observation outside its space: {first[0]!r}")
        return first


def machine_for(
    puzzle: str | type[Puzzle[Any, Any]] | Puzzle[Any, Any], *, starts: tuple[str, ...] = (), **arguments: Any
) -> type[PuzzleMachine]:
    """Return a state machine for a puzzle; its `TestCase` runs under pytest and unittest.

    Args:
        puzzle: as `check_puzzle` takes it.
        starts: texts of starts.
        arguments: arguments of the environments.
    """
    kept = {key: arguments[key] for key in ("size", "level", "subgoals") if key in arguments}
    subject = find_subject(puzzle, starts, **kept)
    rest = {key: value for key, value in arguments.items() if key not in kept}
    return type("PuzzleMachineFor", (PuzzleMachine,), {"subject": subject, "arguments": rest})
