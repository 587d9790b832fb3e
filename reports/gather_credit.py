"""From stored attempts to credit pictures: what every estimator makes of the same decisions."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from horizon_bench.credit import ESTIMATORS, NEEDS_VALUES, CreditBatch, Estimator
from horizon_bench.credit.table import usable_estimators
from horizon_bench.episodes import Turn
from reports.boards import cells_of
from reports.panels import Heat, Moment, Timeline, board_words, counted, study_board
from reports.records import StoredEpisode
from reports.results import Run
from reports.trajectories import Attempt, Group, change_of, detour_decisions, groups_of, pick_attempts

MISSING = {
    "failed": "no failed attempt",
    "detour": "no attempt that made a detour (under most error rules a mistake ends the attempt)",
}
"""What to say where there is no attempt of a kind."""

log = logging.getLogger(__name__)


def credit_pictures(runs: Iterable[Run]) -> tuple[Timeline, ...]:
    """Return a failed and a detouring attempt of each study and board, chosen as `reports.trajectories` says.

    Boards on which some group holds both outcomes come first, those after RL before others: without both outcomes most
    estimators give nothing but zeros.
    """
    boards = sorted(_boards(runs).values(), key=_worth, reverse=True)
    return tuple(credit_timeline(one.group, one.index) for groups in boards for one in chosen(groups).values())


def missing_pictures(runs: Iterable[Run]) -> tuple[str, ...]:
    """Return a sentence for each study and board that stored no failed or no detouring attempt."""
    sentences = []
    for board, groups in _boards(runs).items():
        found = chosen(groups)
        if lacking := [words for kind, words in MISSING.items() if kind not in found]:
            sentences.append(f"{board}: {' and '.join(lacking)} among {len(groups)} groups of stored attempts.")
    return tuple(sentences)


def chosen(groups: Sequence[Group]) -> dict[str, Attempt]:
    """Return the attempts that are drawn of some groups, by kind (`failed`, `detour`); those that they have."""
    failed, detour = pick_attempts(groups)
    return {kind: one for kind, one in (("failed", failed), ("detour", detour)) if one is not None}


def credit_timeline(
    group: Sequence[StoredEpisode],
    index: int,
    *,
    values: ArrayLike | None = None,
    final_values: ArrayLike | None = None,
) -> Timeline:
    """Return the picture of one attempt: its boards, and the advantage of each decision under every estimator.

    Args:
        group: all attempts at the puzzle, since estimators compare within groups.
        index: which of them is drawn.
        values: value of the state that each decision of the group saw, shape [turns]; without them estimators that
            need values are left out.
        final_values: value of the state after each attempt's last decision, shape [attempts].
    """
    stored, attempt = group[index], Attempt(tuple(group), index)
    batch = CreditBatch.from_episodes([one.episode for one in group], values, final_values)
    rows = _advantages(batch, slice(int(batch.offsets[index]), int(batch.offsets[index + 1])))
    cells = cells_of(stored)
    turns = stored.episode.turns
    return Timeline(
        title=_title(attempt),
        outcome=_outcome(attempt),
        puzzle=stored.puzzle,
        size=stored.size,
        start=cells[0],
        distance=turns[0].distance_before,
        moments=tuple(_moment(turn, board) for turn, board in zip(turns, cells[1:], strict=True)),
        estimators=tuple(rows),
        families=tuple(_family(name) for name in rows),
        advantages=tuple(tuple(row) for row in rows.values()),
        note=_note(attempt, rows),
    )


def credit_map(
    advantages: Mapping[str, Sequence[float]], *, title: str = "", subgoals: Sequence[int] = (), note: str = ""
) -> Heat:
    """Return a plain picture of the credit that estimators give to the decisions of one episode, without its boards.

    Each row is scaled by its own largest absolute advantage, so that rows compare in shape, not in size.

    Args:
        advantages: by estimator, one number a decision.
        title: above the picture.
        subgoals: decisions that reached a subgoal, from 0.
        note: for the caption.

    Raises:
        ValueError: if there is no estimator or their numbers of decisions differ.
    """
    lengths = {name: len(values) for name, values in advantages.items()}
    if not lengths or len(set(lengths.values())) != 1:
        raise ValueError(f"a credit picture needs estimators over the same decisions, not {lengths or 'none'}")
    rows = []
    for values in advantages.values():
        largest = float(np.max(np.abs(values), initial=0.0))
        rows.append(tuple(float(value) / largest if largest else 0.0 for value in values))
    count = next(iter(lengths.values()))
    texts = tuple(tuple(f"{value:+.2f}" if value else "0" for value in values) for values in advantages.values())
    return Heat(
        title,
        "decision",
        "",
        tuple(str(index + 1) for index in range(count)),
        tuple(advantages),
        tuple(rows),
        texts if count <= 12 else (),
        diverging=True,
        marks=tuple(subgoals),
        note=note,
    )


def _boards(runs: Iterable[Run]) -> dict[str, list[Group]]:
    """Return the groups of each study and board."""
    boards: dict[str, list[Group]] = defaultdict(list)
    for run in runs:
        try:
            stored = run.episodes()
        except ValueError as error:
            log.info("no credit picture of %s: %s", run.folder, error)
            continue
        for group in groups_of(stored):
            boards[study_board(run.cell)].append(group)
    return dict(boards)


def _worth(groups: Sequence[Group]) -> tuple[bool, bool]:
    return max((attempt.mixed, attempt.reinforced) for attempt in (Attempt(group, 0) for group in groups))


def _moment(turn: Turn, cells: tuple[str, ...]) -> Moment:
    problems = (
        (not turn.format_ok, "unreadable"),
        (turn.illegal_actions > 0, "illegal"),
        (turn.capped, "cut off"),
    )
    return Moment(
        actions=tuple(short_action(move) for move in turn.moves) or (short_action(turn.reply),),
        cells=cells,
        distance=turn.distance_after,
        change=change_of(turn),
        subgoals=len(turn.subgoals_reached),
        problem=next((word for wrong, word in problems if wrong), ""),
    )


def short_action(text: str) -> str:
    """Return an action in as few letters as a reader needs: `r1c1 = 5`, `B up`; other text is cut short."""
    if fill := re.fullmatch(r"value\((\w+), (r\d+c\d+)\)", text):
        return f"{fill[2]} = {fill[1]}"
    if slide := re.fullmatch(r"move\((\w+), (\w+), (\d+)\)", text):
        return f"{slide[1]} {slide[2]}" + (f" {slide[3]}" if slide[3] != "1" else "")
    words = " ".join(re.sub(r"[(),]", " ", text).split())
    return words if len(words) <= 12 else f"{words[:11]}\N{HORIZONTAL ELLIPSIS}"


def _title(attempt: Attempt) -> str:
    stored = attempt.stored
    phase = {"sft": " after SFT", "rl": " after RL"}.get(stored.phase, f", {stored.phase}")
    return f"{stored.study}: {board_words(stored.puzzle, stored.size)}, {stored.interface}{phase}"


def _outcome(attempt: Attempt) -> str:
    episode = attempt.episode
    outcome = "solved" if episode.solved else f"not solved ({episode.end_reason.replace('_', ' ')})"
    detour = len(detour_decisions(episode))
    made = f"; a detour of {counted([detour], 'decision')} that led no nearer" if detour else ""
    return f"Attempt {episode.attempt + 1} of {len(attempt.group)}: {outcome}{made}"


def _note(attempt: Attempt, drawn: Iterable[str]) -> str:
    functions = [ESTIMATORS[name] for name in drawn]
    left_out = [name for name, estimator in ESTIMATORS.items() if estimator not in functions]
    valued = [name for name in left_out if name in NEEDS_VALUES]
    failing = [name for name in left_out if name not in NEEDS_VALUES]
    group = attempt.group
    episode = attempt.episode
    solved = sum(one.episode.solved for one in group)
    lengths = {len(one.episode.turns) for one in group}
    parts = [
        f"Seed {attempt.stored.seed}, level {episode.level}, goal distance {episode.distance} atomic actions. "
        f"Group: n = {len(group)} attempts at this puzzle, {solved} solved, "
        f"{counted(lengths, 'decision')} long.",
        f"Left out: {', '.join(valued)}, which need values of states that are not stored." if valued else "",
        f"Left out because they failed on this group: {', '.join(failing)}." if failing else "",
    ]
    return " ".join(part for part in parts if part)


def _family(name: str) -> str:
    """Return what an estimator's relatives share: the module of its function."""
    estimator = ESTIMATORS[name]
    return str(getattr(getattr(estimator, "func", estimator), "__module__", ""))


def _advantages(batch: CreditBatch, part: slice) -> dict[str, list[float]]:
    """Return every estimator's advantages of one attempt; a second name of the same function is left out."""
    rows: dict[str, list[float]] = {}
    seen: list[Estimator] = []
    for name in usable_estimators(batch):
        estimator = ESTIMATORS[name]
        if estimator in seen:
            continue
        try:
            values = np.asarray(estimator(batch), dtype=np.float64)
        except (ValueError, TypeError) as error:
            log.warning("estimator %s left out of the credit picture: %s", name, error)
            continue
        if values.shape != (batch.turns,):
            log.warning("estimator %s left out of the credit picture: shape %s", name, values.shape)
            continue
        seen.append(estimator)
        rows[name] = [round(float(value), 9) + 0.0 for value in values[part]]
    return rows
