"""The estimators once more, as plain loops over lists: slow, and easy to check against the formulas by eye.

Tests compare every vectorised estimator with its loop, and the benchmark measures how much faster it is. Defaults are
those of the vectorised functions; `REFERENCES` lists the loops by the estimators' names.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from horizon_bench.credit.batch import CreditBatch

Rows = list[list[float]]

EPSILON = 1e-6


def rows(batch: CreditBatch, values: Sequence[float]) -> Rows:
    """Return a flat list over decisions as one list for each episode."""
    bounds = batch.offsets.tolist()
    return [list(values[start:end]) for start, end in itertools.pairwise(bounds)]


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean; 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def deviation(values: Sequence[float], ddof: int) -> float:
    """Return the standard deviation; 0 of equal values."""
    if len(values) <= ddof or max(values) - min(values) <= 1e-14 * max(map(abs, values)):
        return 0.0
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - ddof))


def standardize(values: list[float], ddof: int = 0, epsilon: float = 0.0) -> list[float]:
    """Return (x - mean) / (deviation + epsilon); zeros of equal values."""
    centre, scale = mean(values), deviation(values, ddof)
    return [(value - centre) / (scale + epsilon) if scale else 0.0 for value in values]


def returns(rewards: Rows, gamma: float, cuts: Rows | None = None) -> Rows:
    """Return the discounted return-to-go of each episode, ending behind every cut."""
    result = []
    for index, row in enumerate(rewards):
        total, backwards = 0.0, []
        for time in range(len(row) - 1, -1, -1):
            behind = 0.0 if cuts is not None and cuts[index][time] else gamma * total
            total = row[time] + behind
            backwards.append(total)
        result.append(backwards[::-1])
    return result


def flatten(nested: Rows) -> list[float]:
    """Return all decisions in one list."""
    return [value for row in nested for value in row]


def members(labels: Sequence[object]) -> dict[object, list[int]]:
    """Return the indices that carry each label."""
    found: dict[object, list[int]] = {}
    for index, label in enumerate(labels):
        found.setdefault(label, []).append(index)
    return found


def within_groups(
    values: list[float], labels: Sequence[object], change: Callable[[list[float]], list[float]]
) -> list[float]:
    """Return the values, changed group by group."""
    result = [0.0] * len(values)
    for indices in members(labels).values():
        for index, value in zip(indices, change([values[index] for index in indices]), strict=True):
            result[index] = value
    return result


def spread(batch: CreditBatch, per_episode: list[float]) -> list[float]:
    """Return each episode's number at each of its decisions."""
    return [per_episode[episode] for episode in batch.episode_of_turn.tolist()]


def scores(batch: CreditBatch) -> list[float]:
    """Return the total reward of each episode."""
    return [math.fsum(row) for row in rows(batch, batch.rewards.tolist())]


def centre(values: list[float]) -> list[float]:
    """Return the values minus their mean; zeros of equal values."""
    middle, equal = mean(values), not deviation(values, 0)
    return [0.0 if equal else value - middle for value in values]


def minus_others(values: list[float], alone: float | None = 0.0) -> list[float]:
    """Return each value minus the mean of the others; a lone value gives `alone`, or itself where that is None."""
    if len(values) == 1:
        return values if alone is None else [alone]
    total = math.fsum(values)
    return [value - (total - value) / (len(values) - 1) for value in values]


def with_step_rewards(values: list[float], batch: CreditBatch, alpha: float = 0.2) -> list[float]:
    """Return the values plus alpha times the standardized step rewards."""
    return [a + alpha * b for a, b in zip(values, standardize(batch.step_rewards.tolist()), strict=True)]


def reinforce(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.returns.reinforce` at its defaults."""
    return with_step_rewards(standardize(flatten(returns(rows(batch, batch.rewards.tolist()), 0.995))), batch)


def subgoal_next(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.returns.subgoal_next` at its defaults."""
    reached, rewards = batch.subgoals_reached.tolist(), batch.rewards.tolist()
    paid = [1.0 if hit and reward == 0 else reward for hit, reward in zip(reached, rewards, strict=True)]
    return with_step_rewards(standardize(flatten(returns(rows(batch, paid), 0.995, rows(batch, reached)))), batch)


def subgoal_own(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.returns.subgoal_own` at its defaults."""
    pairs = zip(batch.own_subgoal_turn.tolist(), batch.turn_in_episode.tolist(), strict=True)
    return with_step_rewards(standardize([0.995 ** (own - time) if own >= 0 else 0.0 for own, time in pairs]), batch)


def grpo(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.groups.grpo` at its defaults."""
    groups = batch.group.tolist()
    return spread(batch, within_groups(scores(batch), groups, lambda values: standardize(values, 1, EPSILON)))


def grpo_no_std(batch: CreditBatch) -> list[float]:
    """Return `grpo` without the deviation."""
    return spread(batch, within_groups(scores(batch), batch.group.tolist(), centre))


def rloo(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.groups.rloo` at its defaults."""
    return spread(batch, within_groups(scores(batch), batch.group.tolist(), minus_others))


def whiten(values: list[float]) -> list[float]:
    """Return (x - mean) / sqrt(variance + 1e-8) with n - 1."""
    middle, scale = mean(values), deviation(values, 1)
    return [(value - middle) / math.sqrt(scale**2 + 1e-8) if scale else 0.0 for value in values]


def reinforce_plus_plus(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.groups.reinforce_plus_plus` at its defaults."""
    return whiten(flatten(returns(rows(batch, batch.rewards.tolist()), 1.0)))


def reinforce_plus_plus_baseline(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.groups.reinforce_plus_plus_baseline` at its defaults."""
    return whiten(grpo_no_std(batch))


def per_turn(batch: CreditBatch) -> list[object]:
    """Return a label of group and index within the episode for each decision."""
    return list(zip(batch.group_of_turn.tolist(), batch.turn_in_episode.tolist(), strict=True))


def leave_one_out_decisions(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.decisions.leave_one_out_decisions` at its defaults."""
    to_go = flatten(returns(rows(batch, batch.rewards.tolist()), 1.0))
    return within_groups(to_go, per_turn(batch), lambda values: minus_others(values, None))


def group_mean_decisions(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.decisions.group_mean_decisions` at its defaults."""
    return within_groups(flatten(returns(rows(batch, batch.rewards.tolist()), 1.0)), per_turn(batch), centre)


def summed_centred_turns(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.decisions.summed_centred_turns` at its defaults."""
    centred = within_groups(batch.rewards.tolist(), per_turn(batch), centre)
    return flatten(returns(rows(batch, centred), 1.0))


def differences(batch: CreditBatch, gamma: float) -> Rows:
    """Return r + gamma V' - V of each decision."""
    known = [] if batch.values is None else batch.values.tolist()
    tails = [0.0] * batch.episodes if batch.final_values is None else batch.final_values.tolist()
    result = []
    for index, (rewards, values) in enumerate(
        zip(rows(batch, batch.rewards.tolist()), rows(batch, known), strict=True)
    ):
        tail = 0.0 if batch.terminated[index] else tails[index]
        following = [*values[1:], tail][: len(values)]
        result.append([r + gamma * v1 - v0 for r, v1, v0 in zip(rewards, following, values, strict=True)])
    return result


def ppo(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.critics.ppo` at its defaults."""
    return flatten(returns(differences(batch, 0.995), 0.995 * 0.95))


def vineppo(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.critics.vineppo` at its defaults."""
    return flatten(differences(batch, 1.0))


def per_state(batch: CreditBatch) -> list[object]:
    """Return a label of group and state for each decision."""
    return list(zip(batch.group_of_turn.tolist(), batch.states.tolist(), strict=True))


def gigpo(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.states.gigpo` at its defaults."""
    to_go = flatten(returns(rows(batch, batch.rewards.tolist()), 0.95))
    step = within_groups(to_go, per_state(batch), lambda values: standardize(values, 1, EPSILON))
    return [whole + part for whole, part in zip(grpo(batch), step, strict=True)]


def hindsight(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.states.hindsight` at its defaults."""
    score = spread(batch, scores(batch))
    pairs: list[object] = list(zip(per_state(batch), batch.actions.tolist(), strict=True))
    of_state = within_groups(score, per_state(batch), lambda values: [mean(values)] * len(values))
    of_pair = within_groups(score, pairs, lambda values: [mean(values)] * len(values))
    return [whole + pair - state for whole, pair, state in zip(grpo(batch), of_pair, of_state, strict=True)]


def segments(batch: CreditBatch) -> list[list[int]]:
    """Return the number of subgoals completed before each decision."""
    result = []
    for row in rows(batch, batch.subgoals_reached.tolist()):
        result.append([int(sum(row[:time])) for time in range(len(row))])
    return result


def shaped(batch: CreditBatch, gamma: float, reward: float) -> Rows:
    """Return reward * gamma^(distance to the next subgoal), 0 after the last."""
    result = []
    for row in rows(batch, batch.subgoals_reached.tolist()):
        following = [next((end for end in range(time, len(row)) if row[end]), None) for time in range(len(row))]
        result.append([0.0 if end is None else reward * gamma ** (end - time) for time, end in enumerate(following)])
    return result


def beacon_segments(batch: CreditBatch, gamma: float) -> list[float]:
    """Return the segment term of `horizon_bench.credit.beacon.beacon` in mode `paper`."""
    rewards, numbers, groups = shaped(batch, gamma, 1.0), segments(batch), batch.group.tolist()
    complete = [[value > 0 for value in row] for row in shaped(batch, 1.0, 1.0)]
    means: dict[tuple[int, int], list[float]] = {}
    for group, values, labels, done in zip(groups, rewards, numbers, complete, strict=True):
        for label in sorted({label for label, kept in zip(labels, done, strict=True) if kept}):
            own = [value for value, other in zip(values, labels, strict=True) if other == label]
            means.setdefault((group, label), []).append(mean(own))
    return [
        value - mean(means[group, label]) if kept else 0.0
        for group, values, labels, done in zip(groups, rewards, numbers, complete, strict=True)
        for value, label, kept in zip(values, labels, done, strict=True)
    ]


def beacon(batch: CreditBatch, gamma: float = 0.95) -> list[float]:
    """Return `horizon_bench.credit.beacon.beacon` in mode `paper`."""
    return [whole + part for whole, part in zip(grpo(batch), beacon_segments(batch, gamma), strict=True)]


def beacon_released(batch: CreditBatch) -> list[float]:
    """Return `horizon_bench.credit.beacon.beacon` in mode `released`."""
    of_turn = batch.group_of_turn.tolist()
    alone = {label for label, indices in members(of_turn).items() if len(indices) == 1}
    whole = within_groups(spread(batch, scores(batch)), of_turn, centre)
    raw = spread(batch, scores(batch))
    whole = [raw[i] if of_turn[i] in alone else value for i, value in enumerate(whole)]
    labels: list[object] = list(zip(of_turn, [n for row in segments(batch) for n in row], strict=True))
    step = within_groups(flatten(shaped(batch, 0.95, 10.0)), labels, centre)
    return [a + b for a, b in zip(whole, step, strict=True)]


REFERENCES: dict[str, Callable[[CreditBatch], list[float]]] = {
    "reinforce": reinforce,
    "subgoal": subgoal_next,
    "subgoal-next": subgoal_next,
    "subgoal-own": subgoal_own,
    "grpo": grpo,
    "grpo-no-std": grpo_no_std,
    "rloo": rloo,
    "reinforce++": reinforce_plus_plus,
    "reinforce++-baseline": reinforce_plus_plus_baseline,
    "rloo-decision": leave_one_out_decisions,
    "centred-decision": group_mean_decisions,
    "centred-turns": summed_centred_turns,
    "ppo": ppo,
    "vineppo": vineppo,
    "gigpo": gigpo,
    "hindsight": hindsight,
    "beacon": beacon,
    "beacon-released": beacon_released,
    "beacon-gamma-0": lambda batch: beacon(batch, 0.0),
    "beacon-gamma-1": lambda batch: beacon(batch, 1.0),
    "beacon-segment": lambda batch: beacon_segments(batch, 0.95),
    "beacon-trajectory": grpo,
}
"""Loops by estimator name; estimators that draw random cuts have none."""
