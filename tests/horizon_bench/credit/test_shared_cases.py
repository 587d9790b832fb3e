"""Numbers that the public implementations give, case by case; `docs/credit.md` maps each family to these calls."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS, CreditBatch
from horizon_bench.credit.archer import (
    DoubleCritic,
    archer_actor_losses,
    archer_advantages,
    archer_critic_gradients,
    archer_critic_losses,
)
from horizon_bench.credit.arrays import return_to_go, whiten
from horizon_bench.credit.batch import number_labels
from horizon_bench.credit.beacon import (
    match_milestones,
    paper_segment_advantages,
    released_segment_advantages,
    segment_numbers,
    shaped_rewards,
)
from horizon_bench.credit.critics import critic_targets, fill_values, ppo, stream_advantages, vineppo
from horizon_bench.credit.groups import group_relative, grpo, reinforce_plus_plus_baseline, rloo
from horizon_bench.credit.multi_objective import combined_advantages
from horizon_bench.credit.states import gigpo, similar_states, state_groups, step_advantages
from horizon_bench.credit.tokens import (
    bi_level_gae,
    token_gae,
    token_grpo,
    token_grpo_best,
    token_reinforce_plus_plus,
    token_reinforce_plus_plus_baseline,
    token_returns,
    token_rloo,
)

Case = dict[str, Any]
FAMILIES = (
    "grpo",
    "rloo",
    "reinforce_pp",
    "gae",
    "bilevel_gae",
    "gigpo",
    "beacon_paper",
    "beacon_released",
    "vineppo",
    "archer",
)


def test_every_shared_case_of_the_estimators_is_reproduced(shared_data: pathlib.Path) -> None:
    failures, count = [], 0
    for family in FAMILIES:
        for case in json.loads((shared_data / "credit" / f"{family}.json").read_text(encoding="utf8")):
            count += 1
            try:
                CHECKS[family](case["inputs"], case["expected"], case["tol"])
            except AssertionError as error:
                failures.append(f"{case['id']}: {error}")
    assert not failures, "\n".join(failures)
    assert count >= 149


def close(found: Any, expected: Any, tol: Case) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64), **tol)


def flat(rows: list[list[float]]) -> list[float]:
    return [item for row in rows for item in row]


def token_arrays(inputs: Case, *names: str) -> list[np.ndarray]:
    return [np.array(inputs[name], dtype=np.float64) for name in names]


def outcome_batch(episodes: list[Case], **fields: Any) -> CreditBatch:
    """Return episodes that earn their whole score at the last decision."""
    lengths = [
        episode.get("n_turns") or len(episode.get("milestones", episode.get("actions", ()))) for episode in episodes
    ]
    rewards = [
        [0.0] * (length - 1) + [episode.get("score", episode.get("R"))]
        for length, episode in zip(lengths, episodes, strict=True)
    ]
    return CreditBatch.from_ragged(rewards, group=[episode["group"] for episode in episodes], **fields)


def check_grpo(inputs: Case, expected: Case, tol: Case) -> None:
    variant = inputs.get("variant")
    if variant == "trl":
        rewards = np.array([[np.nan if x is None else x for x in row] for row in inputs["rewards_per_func"]])
        close(
            combined_advantages(
                rewards,
                np.array(inputs["reward_weights"]),
                np.arange(len(rewards)) // inputs["num_generations"],
                aggregation=inputs["aggregation"],
                scale=inputs["scale_rewards"],
                epsilon=inputs["epsilon"],
            ),
            expected["row_advantage"],
            tol,
        )
        return
    scale = "group" if inputs["norm_by_std"] else "none"
    if variant == "verl_agent":
        count = "turns" if inputs["cross_steps"] else "episodes"
        batch = outcome_batch(inputs["episodes"])
        found = grpo(batch, scale=scale, count=count, single="raw", epsilon=inputs["epsilon"])
        close(found, flat(expected["turn_advantage"]), tol)
    elif variant == "ragen_episode_dedup":
        close(ragen_rows(inputs, scale), expected["row_advantage"], tol)
    else:
        rewards, mask = token_arrays(inputs, "token_level_rewards", "response_mask")
        groups, epsilon = np.array(inputs["group"]), inputs["epsilon"]
        if variant == "pass_at_k":
            close(token_grpo_best(rewards, mask, groups, scale=scale, epsilon=epsilon), expected["advantages"], tol)
        else:
            floor = epsilon if variant == "vectorized" else 0.0
            found = token_grpo(rewards, mask, groups, scale=scale, epsilon=epsilon, variance_floor=floor)
            close(found, expected["advantages"], tol)


def ragen_rows(inputs: Case, scale: Any) -> np.ndarray:
    scores, groups, episodes = (np.array(inputs[name]) for name in ("row_score", "group", "episode"))
    if not inputs["dedup"]:
        return group_relative(scores, groups, scale=scale, epsilon=inputs["epsilon"], single="raw")
    pairs, first, back = np.unique(np.stack([groups, episodes]), axis=1, return_index=True, return_inverse=True)
    found = group_relative(scores[first], pairs[0], scale=scale, epsilon=inputs["epsilon"], single="raw")
    return found[back.ravel()]


def check_rloo(inputs: Case, expected: Case, tol: Case) -> None:
    variant = inputs["variant"]
    if variant == "trl":
        rewards = [[np.nan if x is None else x] for x in inputs["rewards"]]
        groups = [index // inputs["num_generations"] for index in range(len(rewards))]
        batch = CreditBatch.from_ragged(rewards, group=groups)
        close(rloo(batch, normalized=inputs["normalize_advantages"]), expected["row_advantage"], tol)
    elif variant == "verl_agent":
        count = "turns" if inputs["cross_steps"] else "episodes"
        found = rloo(outcome_batch(inputs["episodes"]), count=count, single="raw")
        close(found, flat(expected["turn_advantage"]), tol)
    else:
        rewards, mask = token_arrays(inputs, "token_level_rewards", "response_mask")
        single = "raw" if variant == "loop" else "zero"
        close(token_rloo(rewards, mask, np.array(inputs["group"]), single=single), expected["advantages"], tol)


def check_reinforce_plus_plus(inputs: Case, expected: Case, tol: Case) -> None:
    if inputs["variant"] == "verl_agent_baseline":
        found = reinforce_plus_plus_baseline(
            outcome_batch(inputs["episodes"]),
            count="turns" if inputs["cross_steps"] else "episodes",
            token_counts=np.array(flat(inputs["response_tokens_per_turn"]), dtype=np.float64),
            single="raw",
        )
        close(found, flat(expected["turn_advantage"]), tol)
        return
    rewards, mask = token_arrays(inputs, "token_level_rewards", "response_mask")
    if inputs["variant"] == "baseline":
        found = token_reinforce_plus_plus_baseline(rewards, mask, np.array(inputs["group"]))
        close(found, expected["advantages"], tol)
    else:
        close(token_returns(rewards, mask, gamma=inputs["gamma"]), expected["returns"], tol)
        close(token_reinforce_plus_plus(rewards, mask, gamma=inputs["gamma"]), expected["advantages"], tol)


def check_gae(inputs: Case, expected: Case, tol: Case) -> None:
    discounts = {"gamma": inputs["gamma"], "lam": inputs["lam"]}
    if inputs["variant"] == "stream_with_dones":
        rewards, values = token_arrays(inputs, "rewards", "values")
        found = stream_advantages(
            rewards,
            values,
            np.array(inputs["starts"]) > 0,
            final_value=inputs["bootstrap_value"],
            final_done=bool(inputs["next_done"]),
            **discounts,
        )
        close(found, expected["advantages_raw"], tol)
        close(found + values, expected["returns"], tol)
    elif inputs["variant"] == "turn_single_episode":
        batch = CreditBatch.from_ragged(
            [inputs["rewards"]],
            values=[inputs["values"]],
            final_values=[inputs["bootstrap_value"]],
            terminated=[inputs["ended"] == "terminated"],
        )
        close(ppo(batch, **discounts), expected["advantages_raw"], tol)
        close(critic_targets(batch, **discounts), expected["returns"], tol)
    else:
        rewards, values, mask = token_arrays(inputs, "token_level_rewards", "values", "response_mask")
        masked = "skip" if inputs["variant"] == "verl_token" else "ignore-mask"
        found = token_gae(rewards, values, mask, masked_tokens=masked, **discounts)
        close(found, expected["advantages_raw"], tol)
        close(whiten(found, weights=mask), expected["advantages_whitened"], tol)
        close(found + values, expected["returns"], tol)


def check_bi_level(inputs: Case, expected: Case, tol: Case) -> None:
    rewards, values, mask = token_arrays(inputs, "token_level_rewards", "values", "loss_mask")
    discounts = {"gamma": inputs["gamma"], "lam": inputs["lam"], "turn_gamma": inputs["high_level_gamma"]}
    if "error" in expected:
        with pytest.raises(ValueError, match="behind its last non-zero reward"):
            bi_level_gae(rewards, values, mask, **discounts)
        return
    found = bi_level_gae(rewards, values, mask, **discounts)
    close(found, expected["advantages_raw"], tol)
    close(whiten(found, weights=mask), expected["advantages_whitened"], tol)
    close((found + values) * mask, expected["returns"], tol)


def check_gigpo(inputs: Case, expected: Case, tol: Case) -> None:
    episodes = inputs["episodes"]
    rewards = [episode["rewards"] for episode in episodes]
    groups = [episode["group"] for episode in episodes]
    if inputs.get("variant") == "similarity_grouping":
        texts = [state for episode in episodes for state in episode["states"]]
        of_turn = number_labels([episode["group"] for episode in episodes for _ in episode["states"]])
        found = similar_states(texts, of_turn, inputs["threshold"])
        assert number_labels(found.tolist()).tolist() == number_labels(flat(expected["step_group_id"])).tolist()
        return
    batch = CreditBatch.from_ragged(rewards, group=groups, states=[episode["states"] for episode in episodes])
    scale = "group" if inputs["mode"] == "mean_std_norm" else "none"
    count = "turns" if inputs["cross_steps"] else "episodes"
    common = {"gamma": inputs["gamma"], "scale": scale, "epsilon": inputs["epsilon"]}
    close(return_to_go(batch.rewards, batch.offsets, inputs["gamma"]), flat(expected["returns_to_go"]), tol)
    labels = number_labels(state_groups(batch).tolist())
    assert labels.tolist() == number_labels(flat(expected["step_group_id"])).tolist()
    close(step_advantages(batch, **common), flat(expected["step_advantage"]), tol)
    found = gigpo(batch, weight=0.0, count=count, single="raw", **common)
    close(found, flat(expected["episode_advantage"]), tol)
    close(gigpo(batch, weight=inputs["w"], count=count, single="raw", **common), flat(expected["advantage"]), tol)


def check_beacon_paper(inputs: Case, expected: Case, tol: Case) -> None:
    episodes = inputs["episodes"]
    batch = outcome_batch(episodes, subgoals_reached=[episode["milestones"] for episode in episodes])
    shaped = shaped_rewards(batch, gamma=inputs["gamma"], subgoal_reward=inputs["R_ms"])
    segments = segment_numbers(batch)
    close(segments + 1, flat(expected["segments"]), tol)
    close(shaped, flat(expected["shaped_reward"]), tol)
    close(paper_segment_advantages(batch, shaped, segments), flat(expected["seg_advantage"]), tol)
    close(
        paper_segment_advantages(batch, shaped, segments, unfinished="baseline"),
        flat(expected["seg_advantage_unfinished_minus_baseline"]),
        tol,
    )
    options = {name: inputs[name] for name in ("gamma", "lam", "epsilon")} | {"subgoal_reward": inputs["R_ms"]}
    for name, ddof in (("population", 0), ("sample", 1)):
        whole = expected[f"traj_adv_{name}"]
        found = ESTIMATORS["beacon"](batch, ddof=ddof, **options)
        trajectory = ESTIMATORS["beacon"](batch, ddof=ddof, part="trajectory", epsilon=inputs["epsilon"])
        defined = np.array([value is not None for value in whole])
        rows = defined[batch.episode_of_turn]
        close(trajectory[batch.offsets[:-1]][defined], [value for value in whole if value is not None], tol)
        wanted = [np.nan if value is None else value for value in flat([row or [] for row in expected[f"adv_{name}"]])]
        if len(wanted) == len(found):
            close(found[rows], np.array(wanted, dtype=np.float64)[rows], tol)


def check_beacon_released(inputs: Case, expected: Case, tol: Case) -> None:
    if inputs["path"] == "glue":
        return
    episodes = inputs["episodes"]
    if inputs["path"] == "static":
        tasks, threshold = inputs["milestone_actions"], inputs["threshold"]
        matched = [match_milestones(e["actions"], tasks[e["task"]], threshold) for e in episodes]
        milestones, segments = [row[0] for row in matched], np.array(flat([row[1] for row in matched]))
    else:
        milestones, segments = [episode["milestones"] for episode in episodes], None
    batch = outcome_batch(episodes, subgoals_reached=milestones)
    found_segments = segment_numbers(batch) if segments is None else segments
    scale = "group" if inputs["mode"] == "mean_std_norm" else "none"
    shaped = shaped_rewards(batch, gamma=inputs["gamma"], subgoal_reward=10.0)
    options = {"mode": "released", "gamma": inputs["gamma"], "scale": scale, "epsilon": inputs["epsilon"]}
    step = released_segment_advantages(batch, shaped, found_segments, scale=scale, epsilon=inputs["epsilon"])
    whole = ESTIMATORS["beacon"](batch, part="trajectory", **options)
    total = whole + inputs["w"] * step
    close(shaped, flat(expected["step_reward"]), tol)
    if segments is None:
        close(total, ESTIMATORS["beacon"](batch, lam=inputs["w"], **options), tol)
    if inputs["path"] == "dynamic_rows_shuffled":
        assert not np.allclose(total, flat(expected["advantage"]))
        return
    close(found_segments, flat(expected["segment_id"]), tol)
    close(whole, flat(expected["episode_advantage"]), tol)
    close(step, flat(expected["step_advantage"]), tol)
    close(total, flat(expected["advantage"]), tol)


def check_vineppo(inputs: Case, expected: Case, tol: Case) -> None:
    rewards = np.array(inputs["step_rewards"])
    rollouts = inputs["mc_rollouts"]
    values = fill_values(
        rewards,
        [[rollout["reward"] for rollout in row] for row in rollouts],
        [[rollout["truncated"] for rollout in row] for row in rollouts],
        truncated_return=inputs["truncated_rollout_reward"],
    )
    close(values, expected["values"], tol)
    batch = CreditBatch.from_ragged([rewards.tolist()], values=[values[:-1].tolist()])
    close(vineppo(batch), expected["advantages"], tol)


def check_archer(inputs: Case, expected: Case, tol: Case) -> None:
    if inputs["variant"] == "mc_return":
        rewards = np.array(inputs["rewards"])
        found = return_to_go(rewards, np.array([0, len(rewards)]), inputs["gamma"])
        close(found, expected["mc_return"], tol)
    elif inputs["variant"] == "critic":
        pairs = [("q1", "q2"), ("v1", "v2"), ("target_q1", "target_q2"), ("target_v1_next", "target_v2_next")]
        critic = DoubleCritic(*(np.stack(token_arrays(inputs, *pair)) for pair in pairs))
        rewards, done = token_arrays(inputs, "reward", "done")
        losses = archer_critic_losses(critic, rewards, done, gamma=inputs["gamma"])
        close(np.concatenate(losses), [expected[f"{name}_loss"] for name in ("q1", "q2", "v1", "v2")], tol)
        gradients = archer_critic_gradients(critic, rewards, done, gamma=inputs["gamma"])
        close(np.concatenate(gradients), [expected[f"grad_{name}"] for name in ("q1", "q2", "v1", "v2")], tol)
        found = archer_advantages(critic.target_action_values, critic.state_values)
        assert found.shape == rewards.shape
        close(archer_advantages(critic.action_values, critic.state_values), expected["advantage_if_same_critic"], tol)
    else:
        advantages, logprobs, mask = token_arrays(inputs, "advantage", "token_logprob", "mask")
        values = None if inputs["token_values"] is None else np.array(inputs["token_values"])
        policy, baseline = archer_actor_losses(advantages, logprobs, mask, values)
        close([policy, baseline], [expected["pg_loss"], expected["value_loss"]], tol)


CHECKS: dict[str, Callable[[Case, Case, Case], None]] = {
    "grpo": check_grpo,
    "rloo": check_rloo,
    "reinforce_pp": check_reinforce_plus_plus,
    "gae": check_gae,
    "bilevel_gae": check_bi_level,
    "gigpo": check_gigpo,
    "beacon_paper": check_beacon_paper,
    "beacon_released": check_beacon_released,
    "vineppo": check_vineppo,
    "archer": check_archer,
}
