"""Who says whether a milestone is met: a program, or a model as a judge."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, get_args

from horizon_bench.envs.parsing import split_thought
from horizon_bench.milestones.conditions import Knowledge
from horizon_bench.milestones.plan import MilestonePlan
from horizon_bench.policies.base import Seat
from puzzles.names import check_name


class Checker(Protocol):
    """Verifies the vector z of a plan."""

    def done(self, plan: MilestonePlan, seat: Seat) -> tuple[bool, ...]:
        """Return which milestones are met in the seat's state, shape [milestones]."""


@dataclass(frozen=True)
class ProgramChecker:
    """Checks each milestone by program."""

    knowledge: Knowledge = "solver"
    """`solver`: as the subgoals of rewards, which know the solution; where wrong moves stay, its verdicts tell the
    policy that something is wrong. `rules`: only what the board shows; a full box counts, right or not."""

    def __post_init__(self) -> None:
        """Check the field."""
        check_name("knowledge", self.knowledge, get_args(Knowledge))

    def done(self, plan: MilestonePlan, seat: Seat) -> tuple[bool, ...]:
        """Return which milestones are met in the seat's state."""
        return plan.done(seat.state, self.knowledge)


_VERDICT = re.compile(r"(?<!\d)(\d{1,2})\s*[:.)=-]\s*(yes|no)\b", re.IGNORECASE)


@dataclass
class ModelJudge:
    """Asks a model; what it does not clearly answer with yes is not met."""

    ask: Callable[[str], str]
    """Return the model's answer to a prompt; see `ask_policy`."""
    prompts: list[tuple[str, str]] = field(default_factory=list)
    """Every question with its answer, for the count of tokens; the wrapper empties it."""

    def done(self, plan: MilestonePlan, seat: Seat) -> tuple[bool, ...]:
        """Return which milestones the model says are met."""
        listed = "\n".join(f"{number}. {one.meaning}" for number, one in enumerate(plan.milestones, start=1))
        prompt = (
            f"{seat.puzzle.rules()}\n\nBoard:\n{seat.puzzle.render(seat.state)}\n\nMilestones:\n{listed}\n\n"
            "Judge each milestone by the board alone. Answer with one line for each: NUMBER: yes or NUMBER: no."
        )
        answer = self.ask(prompt)
        self.prompts.append((prompt, answer))
        verdicts = {int(number): word.lower() == "yes" for number, word in _VERDICT.findall(split_thought(answer)[2])}
        return tuple(verdicts.get(number, False) for number in range(1, len(plan) + 1))
