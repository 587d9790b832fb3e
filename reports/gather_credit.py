"""From stored episodes to credit pictures: what every estimator makes of the same decisions."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from horizon_bench.credit import ESTIMATORS, NEEDS_VALUES, CreditBatch
from reports.panels import Heat, board_words
from reports.records import StoredEpisode
from reports.results import Run

LONGEST = 24
"""Most decisions of an episode that is drawn."""

log = logging.getLogger(__name__)


def credit_pictures(runs: Iterable[Run]) -> tuple[Heat, ...]:
    """Return one picture a study: all estimators on a group of attempts of which some failed and some reached subgoals.

    Estimators that need a critic's values are left out; so are aliases that equal an earlier row.
    """
    pictures = []
    for study, group in _groups(runs).items():
        episodes = [stored.episode for stored in group]
        chosen = max(range(len(episodes)), key=lambda index: _telling(group[index]))
        batch = CreditBatch.from_episodes(episodes)
        advantages = _advantages(batch, slice(int(batch.offsets[chosen]), int(batch.offsets[chosen + 1])))
        turns = episodes[chosen].turns
        stored = group[chosen]
        outcome = "solved" if stored.episode.solved else f"not solved ({stored.episode.end_reason})"
        pictures.append(
            credit_map(
                advantages,
                title=f"{study}: {stored.interface}, attempt {stored.episode.attempt + 1}, {outcome}",
                subgoals=[index for index, turn in enumerate(turns) if turn.subgoals_reached],
                note=f"n = {len(episodes)} attempts at one puzzle, distance {stored.episode.distance} atomic actions",
            )
        )
    return tuple(pictures)


def credit_map(
    advantages: Mapping[str, Sequence[float]], *, title: str = "", subgoals: Sequence[int] = (), note: str = ""
) -> Heat:
    """Return the picture of the credit that estimators give to the decisions of one episode.

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
    return Heat(
        title,
        "decision",
        "",
        tuple(str(index + 1) for index in range(count)),
        tuple(advantages),
        tuple(rows),
        tuple(tuple(f"{value:+.2f}" if value else "0" for value in values) for values in advantages.values())
        if count <= 12
        else (),
        diverging=True,
        marks=tuple(subgoals),
        note=note,
    )


def _groups(runs: Iterable[Run]) -> dict[str, Sequence[StoredEpisode]]:
    """Return for each study the group of attempts that differ most, longest episodes first."""
    best: dict[str, tuple[float, Sequence[StoredEpisode]]] = {}
    for run in runs:
        try:
            stored = run.episodes()
        except ValueError:
            continue
        groups: dict[tuple[object, ...], list[StoredEpisode]] = defaultdict(list)
        for one in stored:
            where = (one.phase, one.update, one.interface, one.variant)
            groups[(*where, one.episode.instance_key, one.episode.group, one.episode.start)].append(one)
        for group in groups.values():
            longest = max(len(one.episode.turns) for one in group)
            if len(group) > 1 and all(one.episode.turns for one in group) and longest <= LONGEST:
                mixed = float(np.std([one.episode.solved for one in group]))
                worth = mixed + longest / 1000 + (group[0].phase == "rl")
                if worth > best.get(run.cell.study, (0.0, ()))[0] and len({one.episode.solved for one in group}) > 1:
                    best[run.cell.study] = (worth, group)
    return {f"{study}: {board_words(group[0].puzzle, group[0].size)}": group for study, (_, group) in best.items()}


def _telling(stored: StoredEpisode) -> tuple[bool, int, int]:
    """Return how much an attempt shows: a failed one that reached subgoals on the way most."""
    reached = sum(bool(turn.subgoals_reached) for turn in stored.episode.turns)
    return not stored.episode.solved and reached > 0, min(reached, 3), len(stored.episode.turns)


def _advantages(batch: CreditBatch, part: slice) -> dict[str, list[float]]:
    rows: dict[str, list[float]] = {}
    for name, estimator in ESTIMATORS.items():
        if name in NEEDS_VALUES:
            continue
        try:
            values = [round(float(value), 9) for value in estimator(batch)[part]]
        except (ValueError, TypeError) as error:
            log.info("estimator %s left out of the credit picture: %s", name, error)
            continue
        if values not in rows.values():
            rows[name] = values
    return rows
