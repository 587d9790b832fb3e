"""How well the failure analyser agrees with 100 episodes labelled by hand: `python benchmarks/failure_agreement.py`.

The labels were written while reading the episodes, by the definitions in `reports.failures.CLASSES`, before the
analyser had seen any of them, and never changed since.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from horizon_bench.episodes import Episode, Turn
from reports.failures import CLASSES, USUAL_RULES, FailureRules, classify
from reports.intervals import wilson

LABELLED = Path(__file__).parent.parent / "tests" / "reports" / "data" / "hand_labelled.json"


def labelled_episodes(path: Path = LABELLED) -> list[tuple[str, Episode, dict[str, Any]]]:
    """Return label, episode and everything that stands with it, for every hand-labelled episode."""
    rows = json.loads(path.read_text(encoding="utf8"))
    return [(row["label"], _episode(row), row) for row in rows]


def agreement(rules: FailureRules = USUAL_RULES) -> tuple[int, float, list[tuple[int, str, str]]]:
    """Return the number of episodes that agree, Cohen's kappa, and index, label and class of those that do not."""
    pairs = [(label, classify(episode, rules).failure) for label, episode, _ in labelled_episodes()]
    agreed = sum(label == found for label, found in pairs)
    labels, classes = (Counter(side) for side in zip(*pairs, strict=True))
    chance = sum(labels[name] * classes[name] for name in CLASSES) / len(pairs) ** 2
    kappa = (agreed / len(pairs) - chance) / (1 - chance)
    return agreed, kappa, [(index, *pair) for index, pair in enumerate(pairs) if pair[0] != pair[1]]


def _episode(row: dict[str, Any]) -> Episode:
    return Episode(
        instance_key="",
        start=row["start"],
        level=row["level"],
        distance=row["distance"],
        group=0,
        attempt=0,
        turns=tuple(_turn(turn) for turn in row["turns"]),
        solved=False,
        terminated=row["terminated"],
        truncated=row["truncated"],
        end_reason=row["end"],
    )


def _turn(turn: dict[str, Any]) -> Turn:
    none = np.zeros(0)
    return Turn(
        observation="",
        reply=turn["reply"],
        prompt_ids=none.astype(np.int64),
        reply_ids=none.astype(np.int64),
        sampling_logprobs=none.astype(np.float32),
        entropy=0.0,
        capped=False,
        format_ok=not turn["lost"],
        legal=not turn["lost"] and not turn["illegal"],
        actions_written=turn["written"],
        moves=tuple(turn["moves"]),
        illegal_actions=turn["illegal"],
        reward=0.0,
        step_reward=-1.0 if turn["lost"] else 0.0,
        subgoals_reached=tuple(turn["subgoals"]),
        own_subgoal=None,
        state_hash=turn["board"],
        distance_before=turn["before"],
        distance_after=turn["after"],
    )


def main() -> None:
    """Print agreement, kappa, and every episode on which analyser and reader differ."""
    episodes = labelled_episodes()
    agreed, kappa, differing = agreement()
    low, high = wilson(agreed, len(episodes))
    print(f"{agreed} of {len(episodes)} agree [{low:.0%}, {high:.0%}], Cohen's kappa {kappa:.2f}")
    counts = Counter(label for label, _, _ in episodes)
    print("labels:", ", ".join(f"{name} {counts[name]}" for name in CLASSES))
    for index, label, found in differing:
        row = episodes[index][2]
        print(f"  episode {index}: read as {label}, analysed as {found} ({row['policy']}, {row['on_error']})")


if __name__ == "__main__":
    main()
