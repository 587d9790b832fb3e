"""Dynamic milestoning at inference: a wrapper that plays any policy with a plan before its eyes.

At each decision the checker verifies which milestones are met (z); the plan with z and the current milestone enters
the prompt; the policy's reply reflects on it; a milestone that is claimed but not met is blocked, which the next prompt
says. Text policies get words, small models with a milestone field get tokens; policies that read no prompt play as
ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from horizon_bench.milestones.checking import Checker, ProgramChecker
from horizon_bench.milestones.field import field_tokens, with_field
from horizon_bench.milestones.plan import MilestonePlan, current_of, solver_plan
from horizon_bench.milestones.reflection import false_claims, plan_text, read_reflection, with_plan
from horizon_bench.policies import reads
from horizon_bench.policies.base import Policy, Reply, Seat

Planner = Callable[[Seat], MilestonePlan]
"""Return the plan of the episode that a seat begins."""


@dataclass
class MilestoneCosts:
    """What milestoning cost and what it caught, over all decisions of a wrapper."""

    decisions: int = 0
    prompt_tokens: int = 0
    """Tokens that the plan added to prompts."""
    reply_tokens: int = 0
    """Tokens that reflections took in replies; part of the generated tokens that the budget counts."""
    judge_tokens: int = 0
    """Tokens of a model judge, prompts and answers."""
    plan_tokens: int = 0
    """Tokens of a model that writes plans, prompts and answers."""
    reflections: int = 0
    """Replies that held a readable reflection."""
    blocked: int = 0
    """Claims of milestones that were not met."""

    def text(self) -> str:
        """Return the costs as one line."""
        shares = max(1, self.decisions)
        return (
            f"milestones: {self.prompt_tokens / shares:.1f} prompt and {self.reply_tokens / shares:.1f} reply tokens a "
            f"decision, {self.plan_tokens} tokens for plans, {self.judge_tokens} for a judge; {self.reflections} of "
            f"{self.decisions} replies reflected, {self.blocked} false claims blocked"
        )


@dataclass(eq=False)
class Tracker:
    """How far one episode has come on its plan."""

    oracle: Any
    plan: MilestonePlan
    decisions: int
    """Decisions of the environment when it was last asked."""
    done: tuple[bool, ...] = ()
    """Verified vector z of the last board."""
    confirmed: tuple[bool, ...] = ()
    """Milestones that the policy claimed and the checker confirmed."""
    blocked: tuple[int, ...] = ()
    """Milestones of the last reply that were claimed but not met."""

    @property
    def current(self) -> int | None:
        """Index of the milestone to work on, None where all are met."""
        return current_of(self.done)

    def goes_on(self, seat: Seat, decisions: int | None) -> bool:
        """Return whether the seat still plays this episode, after so many decisions, None if it counts none."""
        if self.oracle is not seat.oracle:
            return False
        return bool(seat.state != seat.oracle.start) if decisions is None else decisions == self.decisions + 1


@dataclass(eq=False)
class MilestonePolicy:
    """Plays a policy with a plan of milestones; one for all lanes."""

    policy: Policy
    """Any policy."""
    planner: Planner = field(default=lambda seat: solver_plan(seat.puzzle, seat.oracle))
    """Writes each episode's plan: the solver's by default; see `ModelPlanner` for a model's."""
    checker: Checker = field(default_factory=ProgramChecker)
    """Verifies z."""
    reveal: bool = True
    """Show the verified z. Otherwise the prompt marks only what the policy itself claimed and the checker confirmed."""
    count: Callable[[str], int] | None = None
    """Return the number of tokens of a text; by default the policy's tokenizer, else blank-separated words."""
    costs: MilestoneCosts = field(default_factory=MilestoneCosts)
    """Filled while playing."""

    def __post_init__(self) -> None:
        """Prepare the count of tokens and the memory of episodes."""
        self._count = self.count or token_counter(self.policy)
        self._trackers: WeakKeyDictionary[Seat, Tracker] = WeakKeyDictionary()

    @property
    def observation(self) -> str:
        """Form of observations that the policy reads."""
        return reads(self.policy)

    def at_temperature(self, temperature: float) -> MilestonePolicy:
        """Return the wrapper of the policy at this temperature; both fill the same costs."""
        return replace(self, policy=self.policy.at_temperature(temperature))

    def tracker(self, seat: Seat) -> Tracker:
        """Return how far the seat's episode has come.

        Raises:
            KeyError: before its first decision.
        """
        return self._trackers[seat]

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane, its reflection read and taken out."""
        trackers = [self._look(seat) for seat in seats]
        shown = [self._shown(*lane) for lane in zip(observations, seats, trackers, strict=True)]
        replies = self.policy.reply(shown, seats, generators)
        return [self._read(*lane) for lane in zip(replies, seats, trackers, strict=True)]

    def _look(self, seat: Seat) -> Tracker:
        """Return the seat's tracker with z verified for its board, a new one where an episode begins."""
        decisions = getattr(getattr(seat, "game", None), "decisions", None)
        tracker = self._trackers.get(seat)
        if tracker is None or not tracker.goes_on(seat, decisions):
            plan = self.planner(seat)
            self.costs.plan_tokens += self._drained(self.planner)
            tracker = self._trackers[seat] = Tracker(seat.oracle, plan, 0, confirmed=(False,) * len(plan))
        tracker.decisions = decisions or 0
        tracker.done = self.checker.done(tracker.plan, seat)
        self.costs.judge_tokens += self._drained(self.checker)
        self.costs.decisions += 1
        return tracker

    def _drained(self, source: object) -> int:
        """Return the tokens of what a model was asked since the last time; 0 for what asks none."""
        prompts: list[tuple[str, str]] = getattr(source, "prompts", [])
        tokens = sum(self._count(text) for pair in prompts for text in pair)
        prompts.clear()
        return tokens

    def _shown(self, observation: str, seat: Seat, tracker: Tracker) -> str:
        """Return the observation with the plan in it."""
        marks = tracker.done if self.reveal else tracker.confirmed
        if _is_compact(seat):
            return self._in_field(observation, seat, tracker.plan, marks)
        if not len(tracker.plan):
            return observation
        text = plan_text(tracker.plan, marks, tracker.blocked)
        self.costs.prompt_tokens += self._count(text)
        return with_plan(observation, text)

    def _in_field(self, observation: str, seat: Seat, plan: MilestonePlan, marks: tuple[bool, ...]) -> str:
        """Return a small model's observation with the plan in its field; other policies see theirs as it is."""
        slots = getattr(self.policy, "milestone_slots", None)
        if slots is None or not (slots or len(plan)):
            return observation
        if not slots:
            raise ValueError(
                "this small model has no milestone field; create it with milestone_slots=usual_slots(puzzle) and "
                "train it with the field"
            )
        tokens = field_tokens(seat.puzzle, slots, plan, marks)
        self.costs.prompt_tokens += len(tokens)
        return with_field(observation, tokens)

    def _read(self, reply: Reply, seat: Seat, tracker: Tracker) -> Reply:
        """Read the reflection of a reply, block false claims, and return the reply without it."""
        reflection, rest, line = read_reflection(reply.text, len(tracker.plan))
        tracker.blocked = false_claims(reflection, tracker.done)
        tracker.confirmed = tuple(
            was or (claimed and met)
            for was, claimed, met in zip(tracker.confirmed, reflection.done, tracker.done, strict=True)
        )
        self.costs.blocked += len(tracker.blocked)
        if not line:
            return reply
        self.costs.reflections += reflection.stated
        self.costs.reply_tokens += self._count(line)
        if not reply.tokens:
            tell = getattr(seat, "count_tokens", lambda tokens: None)
            tell(self._count(reply.text))
        return replace(reply, text=rest)


def _is_compact(seat: Seat) -> bool:
    return getattr(getattr(seat, "settings", None), "observation", "text") == "compact"


def token_counter(policy: Policy) -> Callable[[str], int]:
    """Return what counts a text's tokens: the policy's tokenizer where it has one, else blank-separated words."""
    tokenizer = getattr(policy, "tokenizer", None)
    if tokenizer is None:
        return lambda text: len(text.split())
    return lambda text: len(tokenizer(text, add_special_tokens=False)["input_ids"])
