"""Plans written by a model: a prompt with worked examples, an answer in JSON, every line of it checked.

An answer that fails a check is asked for again with the reasons; after the last try the solver's plan takes its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from horizon_bench.envs.parsing import split_thought
from horizon_bench.milestones.conditions import CONDITIONS, Condition, read_condition
from horizon_bench.milestones.plan import MilestonePlan, solver_plan
from horizon_bench.policies.base import Policy, Seat
from puzzles.base import Puzzle
from solvers import oracle as make_oracle
from solvers.base import Oracle

MOST_MILESTONES = 12
"""Milestones of a plan, at most."""

MOST_OBJECTS = 8
"""Objects that are tried from the end of an answer; the earlier ones of a flood are passed over."""

LONGEST_STATEMENT = 500
"""Characters of one milestone; a longer one is cut, also where the next try is told what was wrong."""

Ask = Callable[[str], str]
"""Return a model's answer to a prompt."""


@dataclass(frozen=True)
class Generated:
    """A plan, and what it took to get it."""

    plan: MilestonePlan
    tries: int
    """Answers that were asked for."""
    problems: tuple[str, ...]
    """Everything that was wrong with the answers, in order."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Every prompt with its answer, for the count of tokens."""

    @property
    def from_model(self) -> bool:
        """Whether an answer passed all checks; otherwise the plan is the solver's."""
        return self.plan.source == "model"


def generate_plan(
    ask: Ask,
    puzzle: Puzzle[Any, Any],
    oracle: Oracle[Any, Any],
    examples: Sequence[str] = (),
    tries: int = 3,
) -> Generated:
    """Return a plan that a model wrote for the oracle's instance.

    Args:
        ask: the model; see `ask_policy`.
        puzzle: the rules.
        oracle: bound to the instance; checks milestones, and writes the plan if every answer fails.
        examples: starts of other instances, shown with the solver's plans.
        tries: answers to ask for, at most.

    Raises:
        ValueError: if `tries` is under 1.
    """
    if tries < 1:
        raise ValueError(f"tries is {tries}, must be at least 1")
    prompt = generation_prompt(puzzle, oracle.start, examples)
    problems: list[str] = []
    prompts: list[tuple[str, str]] = []
    asked = prompt
    for number in range(1, tries + 1):
        prompts.append((asked, ask(asked)))
        found = read_plan(prompts[-1][1], puzzle, oracle)
        if isinstance(found, MilestonePlan):
            return Generated(found, number, tuple(problems), tuple(prompts))
        problems += found
        asked = f"{prompt}\n\nYour last answer could not be used: {'; '.join(found)}. Answer again."
    return Generated(solver_plan(puzzle, oracle), tries, tuple(problems), tuple(prompts))


@dataclass
class ModelPlanner:
    """Asks a model for the plan of each episode; a planner for `MilestonePolicy`."""

    ask: Ask
    examples: tuple[str, ...] = ()
    """Starts of other instances, shown with the solver's plans."""
    tries: int = 3
    """Answers to ask for, at most."""
    made: list[Generated] = field(default_factory=list)
    """Every plan so far, with what it took."""
    prompts: list[tuple[str, str]] = field(default_factory=list)
    """Every prompt with its answer, for the count of tokens; the wrapper empties it."""

    def __call__(self, seat: Seat) -> MilestonePlan:
        """Return the plan of the episode that a seat begins."""
        self.made.append(generate_plan(self.ask, seat.puzzle, seat.oracle, self.examples, self.tries))
        self.prompts += self.made[-1].prompts
        return self.made[-1].plan


def generation_prompt(puzzle: Puzzle[Any, Any], start: Any, examples: Sequence[str] = ()) -> str:
    """Return the prompt that asks for a plan.

    Args:
        puzzle: the rules.
        start: the start to plan for.
        examples: starts of other instances; each is shown with the solver's plan as its answer.
    """
    language = CONDITIONS.get(puzzle.name)
    forms = language.grammar if language else "names of the puzzle's subgoals, as in the examples"
    parts = [
        puzzle.rules(),
        "Split the way to the goal into milestones, in the order in which they are best met. Write each in one of "
        f"these forms: {forms}. At most {MOST_MILESTONES}, none that holds already. "
        'Answer with JSON only: {"milestones": ["...", "..."]}',
    ]
    for text in examples:
        state = puzzle.parse(text)
        plan = solver_plan(puzzle, make_oracle(puzzle, state))
        parts.append(f"Board:\n{puzzle.render(state)}\nAnswer: {answer_text(puzzle, plan)}")
    parts.append(f"Board:\n{puzzle.render(start)}\nAnswer:")
    return "\n\n".join(parts)


def answer_text(puzzle: Puzzle[Any, Any], plan: MilestonePlan) -> str:
    """Return a plan as the JSON that a model is asked for, in the forms of the puzzle's language."""
    texts = [one.text for one in plan.milestones]
    if puzzle.name == "sudoku":
        texts = [f"box {text[1:]}" if text[:1] == "b" and text[1:].isdigit() else text for text in texts]
    return json.dumps({"milestones": texts})


def read_plan(answer: str, puzzle: Puzzle[Any, Any], oracle: Oracle[Any, Any]) -> MilestonePlan | tuple[str, ...]:
    """Return the plan that an answer holds, or everything that is wrong with it; never raises on text.

    Args:
        answer: the model's whole answer; the last JSON object outside its thought counts.
        puzzle: the rules.
        oracle: bound to the instance.
    """
    held = _last_object(split_thought(answer)[2])
    if held is None:
        return ('there is no JSON object such as {"milestones": ["..."]}',)
    texts = held.get("milestones")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return ("`milestones` must be a list of texts",)
    if not 1 <= len(texts) <= MOST_MILESTONES:
        return (f"{len(texts)} milestones, where 1 to {MOST_MILESTONES} belong",)
    conditions, problems = _conditions(texts, puzzle, oracle)
    return tuple(problems) if problems else MilestonePlan(tuple(conditions), "model")


def _conditions(
    texts: Sequence[str], puzzle: Puzzle[Any, Any], oracle: Oracle[Any, Any]
) -> tuple[list[Condition], list[str]]:
    """Return the conditions that texts state, and what is wrong with them."""
    conditions: list[Condition] = []
    problems: list[str] = []
    for text in texts:
        try:
            one = read_condition(puzzle, oracle, _short(text) if len(text) > LONGEST_STATEMENT else text)
        except ValueError as error:
            problems.append(str(error))
            continue
        if any(one.meaning == other.meaning for other in conditions):
            problems.append(f"{_short(text)!r} stands there twice")
        elif one.holds(oracle.start, "solver"):
            problems.append(f"{_short(text)!r} holds already")
        conditions.append(one)
    return conditions, problems


def random_plan(puzzle: Puzzle[Any, Any], oracle: Oracle[Any, Any], rng: np.random.Generator) -> MilestonePlan:
    """Return a plan of random statements, as many as the solver's plan has where there are so many: a baseline.

    Args:
        puzzle: one with a language of milestones.
        oracle: bound to the instance.
        rng: chooses and orders.

    Raises:
        ValueError: if the puzzle has no language of milestones.
    """
    if puzzle.name not in CONDITIONS:
        raise ValueError(f"puzzle {puzzle.name!r} has no language of milestones; known: {', '.join(CONDITIONS)}")
    texts = CONDITIONS[puzzle.name].units(puzzle, oracle)
    known = [read_condition(puzzle, oracle, text) for text in texts]
    free = [one for one in known if not one.holds(oracle.start, "solver")]
    wanted = min(len(solver_plan(puzzle, oracle)), len(free))
    return MilestonePlan(tuple(free[index] for index in rng.permutation(len(free))[:wanted]), "random")


def _short(text: str) -> str:
    """Return a model's statement, cut so that a flood of text does not come back in the next prompt."""
    return text if len(text) <= 60 else f"{text[:60]}..."


def _last_object(text: str) -> dict[str, Any] | None:
    """Return the last JSON object of a text that names milestones, else the first object, None where there is none."""
    names = [match.start() for match in re.finditer(r'\{\s*"milestones"', text)]
    for place in (*reversed(names[-MOST_OBJECTS:]), text.find("{")):
        try:
            held, _ = json.JSONDecoder().raw_decode(text, place)
        except (ValueError, RecursionError):
            continue
        if isinstance(held, dict):
            return held
    return None


def ask_policy(policy: Policy, generator: np.random.Generator) -> Ask:
    """Return a function that asks a chat policy, or any policy that reads nothing but its prompt.

    Args:
        policy: one with `chat`, as language models have, or with `reply`.
        generator: the only source of chance.
    """

    def ask(prompt: str) -> str:
        chat = getattr(policy, "chat", None)
        if chat is None:
            return policy.reply([prompt], [_NO_SEAT], [generator])[0].text
        from horizon_bench.policies.chat import as_conversation

        answer: str = chat([as_conversation(prompt)], [generator])[0].text
        return answer

    return ask


_NO_SEAT: Any = None
