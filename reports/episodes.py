"""A few episodes to look at: which ones, and what a reader sees of each decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from horizon_bench.credit import ESTIMATORS, NEEDS_VALUES, CreditBatch
from reports.boards import Board, boards_of
from reports.panels import board_words, study_board
from reports.records import StoredEpisode
from reports.results import Run

PER_BOARD = 4
"""Episodes shown of a study on one board."""
LONGEST = 40
"""Decisions shown of an episode."""


Candidate = tuple[Run, StoredEpisode, Sequence[StoredEpisode]]
"""A run, one of its episodes, and all attempts at the same puzzle, itself included."""


@dataclass(frozen=True)
class Step:
    """One decision."""

    number: int
    board: Board
    """Board after it."""
    reply: str
    moves: str
    reward: str
    step_reward: str
    advantage: str
    """"" where none was stored."""
    problems: str
    """What was wrong with the reply, or ""."""
    subgoal: bool
    distance: str
    """Goal distance after it, or a word for a lost position."""


@dataclass(frozen=True)
class EpisodeView:
    """One episode."""

    title: str
    outcome: str
    solved: bool
    facts: str
    start: Board
    steps: tuple[Step, ...]
    left_out: int
    """Decisions that are not shown."""


def pick_episodes(runs: Iterable[Run], notes: list[str]) -> list[EpisodeView]:
    """Return views of a few telling episodes of each study; an unreadable file is noted and passed over."""
    candidates: dict[str, list[Candidate]] = defaultdict(list)
    for run in runs:
        try:
            stored = run.episodes()
        except ValueError as error:
            notes.append(str(error))
            continue
        candidates[study_board(run.cell)] += [(run, one, _peers(one, stored)) for one in stored if one.episode.turns]
    return [
        view(_name(run, one), replace(one, advantages=one.advantages or _advantages(run, one, peers)))
        for board in candidates.values()
        for run, one, peers in _telling(board)
    ]


def view(name: str, stored: StoredEpisode) -> EpisodeView:
    """Return what a reader sees of an episode called `name`."""
    episode = stored.episode
    boards = boards_of(stored)
    steps = tuple(_step(stored, index, board) for index, board in enumerate(boards[1 : LONGEST + 1]))
    outcome = "solved" if episode.solved else f"not solved: {episode.end_reason.replace('_', ' ')}"
    facts = (
        f"{board_words(stored.puzzle, stored.size)}, level {episode.level}, distance {episode.distance} atomic "
        f"actions, {episode.decisions} decisions, {episode.atomic_steps} atomic steps, {episode.tokens} tokens, "
        f"seed {stored.seed}, attempt {episode.attempt + 1}"
    )
    return EpisodeView(name, outcome, episode.solved, facts, boards[0], steps, left_out=len(episode.turns) - len(steps))


def _name(run: Run, stored: StoredEpisode) -> str:
    words = {"sft": " (SFT only)", "rl": " (after RL)"}.get(stored.phase, "")
    run_as = f", run as {stored.interface}" if stored.interface != run.cell.interface else ""
    return f"{stored.study}: {run.cell.label}{run_as}{words}"


def _step(stored: StoredEpisode, index: int, board: Board) -> Step:
    turn = stored.episode.turns[index]
    problems = [
        *([] if turn.format_ok else ["not readable"]),
        *([f"{turn.illegal_actions} illegal"] if turn.illegal_actions else []),
        *(["cut off at the token cap"] if turn.capped else []),
    ]
    advantage = f"{stored.advantages[index]:+.2f}" if index < len(stored.advantages) else ""
    return Step(
        number=index + 1,
        board=board,
        reply=turn.reply,
        moves=", ".join(turn.moves) or "no move",
        reward=f"{turn.reward:g}",
        step_reward=f"{turn.step_reward:g}",
        advantage=advantage,
        problems=", ".join(problems),
        subgoal=bool(turn.subgoals_reached),
        distance="out of reach" if turn.distance_after is None else f"{turn.distance_after} to go",
    )


def _peers(one: StoredEpisode, stored: Sequence[StoredEpisode]) -> list[StoredEpisode]:
    where = _where(one)
    return [other for other in stored if _where(other) == where]


def _where(one: StoredEpisode) -> tuple[object, ...]:
    return (one.phase, one.update, one.interface, one.variant, one.episode.instance_key, one.episode.start)


def _advantages(run: Run, one: StoredEpisode, peers: Sequence[StoredEpisode]) -> tuple[float, ...]:
    """Return what the run's own estimator makes of an attempt among its peers; () where it cannot say."""
    estimator = run.cell.estimator
    if estimator not in ESTIMATORS or estimator in NEEDS_VALUES:
        return ()
    played = [other for other in peers if other.episode.turns]
    batch = CreditBatch.from_episodes([other.episode for other in played])
    start = int(batch.offsets[[other is one for other in played].index(True)])
    values = ESTIMATORS[estimator](batch)[start : start + len(one.episode.turns)]
    return tuple(float(value) for value in values)


def _telling(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return episodes that differ in outcome, condition and interface, those after RL and of long distance first."""
    chosen: list[Candidate] = []
    seen: set[tuple[object, ...]] = set()
    ordered = sorted(
        candidates,
        key=lambda one: (
            one[1].phase != "rl",
            -one[1].episode.distance * one[1].episode.solved,
            one[1].episode.distance,
        ),
    )
    for wanted in ("interface", "condition"):
        for candidate in ordered:
            run, one, _ = candidate
            kinds = {"interface": one.interface, "condition": run.cell.label}
            if len(chosen) < PER_BOARD and (kinds[wanted], one.episode.solved) not in seen:
                seen |= {(kind, one.episode.solved) for kind in kinds.values()}
                chosen.append(candidate)
    return chosen
