"""Laws of a puzzle's environments under every interface and error rule."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.split import halves
from horizon_bench.testing.puzzle_laws import demand
from horizon_bench.testing.strategies import Walk
from horizon_bench.testing.subjects import Subject
from puzzles.base import LISTED_MOVES, SNAPSHOTS

Step = tuple[Any, float, bool, bool, dict[str, Any]]


def make(subject: Subject, walk: Walk, **arguments: Any) -> PuzzleEnv:
    """Return the environment that a walk asks for."""
    chosen = {"instance": walk.start, "interface": walk.interface, "on_error": walk.on_error, **arguments}
    return subject.make(**chosen)


def replies(env: PuzzleEnv, choice: int) -> list[str]:
    """Return the reply, or both halves, of a legal move; a macro holds as many as its interface wants.

    A world whose list of moves is not exact may refuse one: the macro ends there.
    """
    puzzle, state, interface = env.puzzle, env.state, env.game.interface
    moves: list[Any] = []
    wanted = interface.fixed or (1 if interface.single else 1 + choice % 3)
    while len(moves) < wanted and not puzzle.solved(state) and puzzle.moves(state):
        legal = puzzle.moves(state)
        moves.append(legal[choice % len(legal)])
        if LISTED_MOVES in puzzle.lacks and puzzle.refusal(state, moves[-1]) is not None:
            break
        state = puzzle.apply(state, moves[-1])
    if interface.halves and moves:
        what, where = halves(puzzle, moves[0])
        return [f"what({what})", f"where({where})"]
    return [" ".join(puzzle.format_action(move) for move in moves)]


def play(env: PuzzleEnv, choices: tuple[int, ...]) -> list[Step]:
    """Return the steps of a walk of legal replies, to the end of the episode."""
    steps: list[Step] = []
    for choice in choices:
        for reply in replies(env, choice):
            if env.game.end_reason:
                return steps
            steps.append(env.step(reply))
    return steps


def observations(subject: Subject, walk: Walk) -> None:
    """Every observation lies in its space, in every form; infos are fresh and complete."""
    for form in ("text", "compact", *(("array",) if subject.puzzle.all_moves() and walk.interface == "atomic" else ())):
        env = make(subject, walk, observation=form, memory_turns=2)
        observation, info = env.reset(seed=walk.seed)
        demand(
            env.observation_space.contains(observation),
            f"{form} observation at reset is outside its space: {observation!r}",
        )
        if form == "array":
            continue
        for step in (*play(env, walk.choices[:4]), *([] if env.game.end_reason else [env.step(walk.text)])):
            demand(env.observation_space.contains(step[0]), f"{form} observation is outside its space: {step[0]!r}")
            demand(
                step[4] is not info and set(step[4]) == set(info), "info is shared between steps, or its keys change"
            )
            demand(not (step[2] and step[3]), "an episode is terminated and truncated at once")
            info = step[4]


def bad_replies(subject: Subject, walk: Walk) -> None:
    """An unreadable or illegal reply costs one decision and leaves the state as it is."""
    env = make(subject, walk)
    env.reset(seed=walk.seed)
    play(env, walk.choices[:3])
    legal = set(env.puzzle.moves(env.state))
    illegal = [env.puzzle.format_action(move) for move in subject.known_moves if move not in legal][:3]
    for reply in (f"§ {walk.text}", *([] if walk.interface in ("split", "macro-fixed-2") else illegal)):
        if env.game.end_reason:
            return
        before, decisions, taken = env.state, env.game.decisions, env.game.atomic_steps
        info = env.step(reply)[4]
        if info["format_ok"] and info["legal"]:
            continue
        demand(env.state == before and hash(env.state) == hash(before), f"reply {reply!r} changed the state")
        demand(info["decisions"] == decisions + 1, f"reply {reply!r} cost {info['decisions'] - decisions} decisions")
        demand(info["atomic_steps"] == taken, f"reply {reply!r} cost atomic steps")


def macro(subject: Subject, walk: Walk) -> None:
    """A macro gives the state, the summed reward and the subgoals of its actions one by one."""
    together = make(subject, walk, interface="macro", reward="subgoal", budget_slack=9.0)
    apart = make(subject, walk, interface="atomic", reward="subgoal", budget_slack=9.0)
    together.reset(seed=walk.seed)
    apart.reset(seed=walk.seed)
    for choice in walk.choices[:6]:
        if together.game.end_reason:
            break
        reply = replies(together, choice)[0]
        if not reply:
            break
        moves = together.workshop.parser.parse(reply).actions
        _, reward, *ended, info = together.step(reply)
        steps = []
        for (move,) in moves:
            if not apart.game.end_reason:
                steps.append(apart.step(apart.puzzle.format_action(move)))
        demand(together.state == apart.state, f"macro {reply!r} leads to another state than its actions one by one")
        total = sum(step[1] for step in steps)
        demand(abs(reward - total) < 1e-9, f"macro {reply!r} pays {reward}, its actions one by one {total}")
        reached = tuple(index for step in steps for index in step[4]["subgoals_reached"])
        demand(
            info["subgoals_reached"] == reached, f"macro {reply!r} reaches {info['subgoals_reached']}, not {reached}"
        )
        demand(
            ended[0] == any(step[2] for step in steps), f"macro {reply!r} ends otherwise than its actions one by one"
        )


def twins(subject: Subject, walk: Walk) -> None:
    """Two environments with one seed agree in everything, over several resets."""
    pair = [make(subject, walk, failure_probability=0.3) for _ in range(2)]
    for seed in (walk.seed, None):
        first, second = (env.reset(seed=seed) for env in pair)
        demand(first == second, "two environments with one seed differ at reset")
        for one, other in zip(*(play(env, walk.choices) for env in pair), strict=False):
            demand(one == other, f"two environments with one seed differ: {one!r} and {other!r}")
        demand(pair[0].state == pair[1].state, "two environments with one seed end in different states")


def snapshots(subject: Subject, walk: Walk) -> None:
    """An episode that goes on from a snapshot goes on as the first time, the generator included."""
    if SNAPSHOTS in subject.puzzle.lacks:
        return
    env = make(subject, walk, failure_probability=0.3)
    env.reset(seed=walk.seed)
    half = len(walk.choices) // 2
    play(env, walk.choices[:half])
    snapshot = env.get_state()
    first, state = play(env, walk.choices[half:]), env.state
    other = make(subject, walk, failure_probability=0.3)
    for again in (env, other):
        again.set_state(snapshot)
        demand(play(again, walk.choices[half:]) == first, "the replay from a snapshot differs")
        demand(again.state == state, "the replay from a snapshot ends in another state")


def farming(subject: Subject, walk: Walk) -> None:
    """No walk is paid twice for a subgoal: each pays at most once, all together at most 1, the goal at most 1."""
    env = make(subject, walk, interface="atomic", reward="subgoal", max_decisions=10**6, max_atomic_steps=10**6)
    env.reset(seed=walk.seed)
    steps = play(env, walk.choices * 4)
    reached = [index for step in steps for index in step[4]["subgoals_reached"]]
    demand(len(set(reached)) == len(reached), f"a subgoal was paid twice: {reached}")
    total = sum(step[1] for step in steps)
    demand(total <= 2.0 + 1e-9, f"the episode paid {total}")


def budgets(subject: Subject, walk: Walk) -> None:
    """An episode is cut at exactly its budget, in decisions and in atomic steps."""
    for name, limit in (("max_decisions", 2), ("max_atomic_steps", 2)):
        env = make(subject, walk, **{name: limit})
        env.reset(seed=walk.seed)
        unit = name.removeprefix("max_")
        for step in play(env, walk.choices):
            used = step[4][unit]
            demand(used <= limit, f"{used} {unit} with {name}={limit}")
            if used == limit:
                demand(step[2] or step[3], f"the episode goes on after {used} {unit} with {name}={limit}")


def generators(subject: Subject, walk: Walk) -> None:
    """No environment draws from, or seeds, the global generators."""
    # Hypothesis seeds both with 0 before each example; a puzzle that does the same would go unseen without these draws.
    random.random(), np.random.random()  # noqa: NPY002
    before, legacy = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    env = make(subject, walk, failure_probability=0.3)
    env.reset(seed=walk.seed)
    play(env, walk.choices[:4])
    demand(random.getstate() == before, "the global generator of `random` was used")
    demand(repr(np.random.get_state()) == legacy, "the global generator of numpy was used")  # noqa: NPY002
