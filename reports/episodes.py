"""A few episodes to look at: which ones, and what a reader sees of each decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.boards import Board, boards_of
from reports.panels import board_words
from reports.records import StoredEpisode
from reports.results import Run

PER_STUDY = 4
"""Episodes shown of a study."""
LONGEST = 40
"""Decisions shown of an episode."""


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
    candidates: dict[str, list[tuple[str, StoredEpisode]]] = defaultdict(list)
    for run in runs:
        try:
            stored = run.episodes()
        except ValueError as error:
            notes.append(str(error))
            continue
        candidates[run.cell.study] += [(run.cell.label, one) for one in stored]
    return [view(label, one) for study in candidates.values() for label, one in _telling(study)]


def view(label: str, stored: StoredEpisode) -> EpisodeView:
    """Return what a reader sees of an episode."""
    episode = stored.episode
    boards = boards_of(stored)
    steps = tuple(
        _step(stored, index, boards[min(index + 1, len(boards) - 1)])
        for index in range(min(LONGEST, len(episode.turns)))
    )
    outcome = "solved" if episode.solved else f"not solved: {episode.end_reason.replace('_', ' ')}"
    facts = (
        f"{board_words(stored.puzzle, stored.size)}, level {episode.level}, distance {episode.distance} atomic "
        f"actions, {episode.decisions} decisions, {episode.atomic_steps} atomic steps, {episode.tokens} tokens, "
        f"seed {stored.seed}, attempt {episode.attempt + 1}"
    )
    name = f"{stored.study}: {label}" + (f", run as {stored.interface}" if stored.interface not in label else "")
    phase = {"sft": "SFT only", "rl": "after RL"}.get(stored.phase, stored.phase)
    return EpisodeView(
        f"{name} ({phase})", outcome, episode.solved, facts, boards[0], steps, len(episode.turns) - len(steps)
    )


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


def _telling(candidates: Sequence[tuple[str, StoredEpisode]]) -> list[tuple[str, StoredEpisode]]:
    """Return episodes that differ in outcome, condition and interface, the longest distance first."""
    chosen: list[tuple[str, StoredEpisode]] = []
    seen: set[tuple[object, ...]] = set()
    ordered = sorted(
        (pair for pair in candidates if pair[1].episode.turns),
        key=lambda pair: (
            pair[1].phase != "rl",
            -pair[1].episode.distance * pair[1].episode.solved,
            pair[1].episode.distance,
        ),
    )
    for by_label in (False, True):
        for label, one in ordered:
            kinds = (one.interface, label)
            if len(chosen) < PER_STUDY and (kinds[by_label], one.episode.solved) not in seen:
                seen |= {(kind, one.episode.solved) for kind in kinds}
                chosen.append((label, one))
    return chosen
