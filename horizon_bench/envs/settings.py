"""Every choice of an environment as one frozen record, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real

from horizon_bench.envs.interfaces import find_interface
from horizon_bench.envs.rewards import REWARDS
from puzzles.names import check_name

OBSERVATIONS = ("text", "compact", "array")
"""What the policy sees: a prompt, blank-separated tokens, or arrays."""

THOUGHTS = ("none", "free", "checked")
"""Whether a reply may hold a thought, and whether its claims are checked."""

ON_ERROR: dict[str, str] = {
    "strict": "an illegal action, a wrong one and an unreadable reply each end the episode",
    "end": "a wrong action ends the episode; an illegal one costs the rest of the reply",
    "semi": "a wrong action ends the episode; illegal actions of a reply are skipped",
    "dead": "wrong actions stay and can be repaired; the episode ends when nothing new is legal any more",
    "stay": "wrong actions stay and can be repaired; the episode goes on to its budget",
}
"""What follows an error. A wrong action is a legal one after which the goal is out of reach for good."""

ON_VOID = ("auto", "turn", "end")
"""Whether an unreadable or void reply costs the decision or ends the episode; `auto` ends it under `strict` only."""


def check_number(name: str, value: object) -> None:
    """Check that an argument is a finite number.

    Raises:
        ValueError: naming the argument and its value.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise ValueError(f"{name} is {value!r}, must be a finite number")


def check_count(name: str, value: object, least: int = 0, otherwise: str = "") -> None:
    """Check that an argument is a whole number.

    Args:
        name: the argument.
        value: what was given.
        least: smallest value.
        otherwise: what else the error shall allow.

    Raises:
        ValueError: naming the argument and its value.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} is {value!r}, must be a whole number of at least {least}{otherwise}")


@dataclass(frozen=True)
class Settings:
    """How replies are read, judged and rewarded. Defaults are ours where the study that we follow publishes none."""

    interface: str = "atomic"
    """How a reply maps to moves; see `INTERFACES`."""
    reward: str = "outcome"
    """Task reward; see `REWARDS`."""
    observation: str = "text"
    """`text`, `compact` or `array`."""
    on_error: str = "end"
    """What follows an error; see `ON_ERROR`."""
    on_void: str = "auto"
    """What follows an unreadable or void reply; see `ON_VOID`."""
    thought: str = "none"
    """`none`, `free` or `checked`: a false claim voids the reply."""
    failure_probability: float = 0.0
    """Probability that a legal action has no effect."""
    max_decisions: int | None = None
    """Budget in decisions; by default the distance times `budget_slack`, twice that for `split`."""
    max_atomic_steps: int | None = None
    """Budget in atomic steps; by default the distance times `budget_slack`."""
    max_tokens: int | None = None
    """Budget in generated tokens; none by default."""
    budget_slack: float = 1.5
    """Default budgets as a multiple of the goal distance, rounded up."""
    gamma: float = 0.995
    """Discount of the potential reward for each decision, and for each atomic step with `discount_inside`."""
    discount_inside: bool = False
    """Discount rewards within a reply by gamma for each atomic step."""
    stop_at_subgoal: bool = False
    """A reply stops at the action that completes a subgoal; the rest is dropped."""
    memory_turns: int = 2
    """Earlier turns that the prompt repeats: rationale and action only."""

    def __post_init__(self) -> None:
        """Check every field.

        Raises:
            ValueError: naming the field, its value and the rule.
        """
        interface = find_interface(self.interface)
        check_name("reward", self.reward, REWARDS)
        check_name("observation", self.observation, OBSERVATIONS)
        check_name("on_error", self.on_error, ON_ERROR)
        check_name("on_void", self.on_void, ON_VOID)
        check_name("thought", self.thought, THOUGHTS)
        for name in ("failure_probability", "gamma", "budget_slack"):
            check_number(name, getattr(self, name))
        for name in ("discount_inside", "stop_at_subgoal"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {getattr(self, name)!r}, must be True or False")
        if not 0.0 <= self.failure_probability < 1.0:
            raise ValueError(f"failure_probability is {self.failure_probability}, must be at least 0 and under 1")
        if not 0.0 < self.gamma <= 1.0:
            raise ValueError(f"gamma is {self.gamma}, must be over 0 and at most 1")
        if not self.budget_slack >= 1.0:
            raise ValueError(f"budget_slack is {self.budget_slack}; under 1 no puzzle could be solved in its budget")
        for name in ("max_decisions", "max_atomic_steps", "max_tokens"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), least=1, otherwise=", or None for the default")
        check_count("memory_turns", self.memory_turns)
        if self.observation == "array" and not (
            interface.name == "atomic" or interface.fixed or interface.most_carried
        ):
            raise ValueError(
                f"interface {self.interface!r} has no fixed number of actions, so no array form; "
                "use atomic, macro-fixed-k or macro-capped-k, or observation='text'"
            )

    @property
    def void_ends(self) -> bool:
        """Whether an unreadable or void reply ends the episode."""
        return self.on_void == "end" or (self.on_void == "auto" and self.on_error == "strict")

    @property
    def wrong_ends(self) -> bool:
        """Whether a wrong action ends the episode."""
        return self.on_error in ("strict", "end", "semi")
