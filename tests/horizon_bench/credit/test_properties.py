"""What must hold for every registered estimator, whatever the batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon_bench.credit import ESTIMATORS, CreditBatch
from horizon_bench.credit.arrays import episode_sums
from horizon_bench.credit.reference import REFERENCES

RANDOM = {"beacon-random-cuts", "beacon-dropped"}
DETERMINISTIC = sorted(set(ESTIMATORS) - RANDOM)
GROUP_NORMALIZED = ("grpo", "grpo-no-std", "rloo", "reinforce++-baseline", "beacon", "beacon-released", "hindsight")
QUICK = settings(max_examples=12, deadline=None)


@st.composite
def credit_batches(draw: st.DrawFn, reward_size: float = 3.0) -> CreditBatch:
    """Small ragged batches: few states and actions, so that they repeat; rewards often equal."""
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=8))
    turns = sum(lengths)
    number = st.one_of(
        st.sampled_from([0.0, 1.0, -1.0]), st.floats(-reward_size, reward_size).map(lambda x: round(x, 3))
    )

    def column(values: st.SearchStrategy[float], size: int = turns) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=size, max_size=size)))

    offsets = np.cumsum([0, *lengths])
    ends = np.repeat(offsets[1:], lengths) - np.repeat(offsets[:-1], lengths)
    wait = column(st.integers(-1, 3)).astype(np.int64)
    own = np.arange(turns) - np.repeat(offsets[:-1], lengths) + wait
    return CreditBatch(
        offsets=offsets,
        group=column(st.integers(0, 2), len(lengths)).astype(np.int64),
        rewards=column(number).astype(np.float64),
        step_rewards=column(st.sampled_from([0.0, 0.0, -1.0])).astype(np.float64),
        subgoals_reached=column(st.sampled_from([0, 0, 1, 2])).astype(np.int64),
        own_subgoal_turn=np.where((wait >= 0) & (own < ends), own, -1),
        states=column(st.integers(0, 3)).astype(np.int64),
        actions=column(st.integers(0, 2)).astype(np.int64),
        terminated=column(st.booleans(), len(lengths)).astype(np.bool_),
        values=column(number).astype(np.float64),
        final_values=column(number, len(lengths)).astype(np.float64),
    )


def reorder(batch: CreditBatch, order: np.ndarray) -> tuple[CreditBatch, np.ndarray]:
    """Return the batch with its episodes in another order, and where each decision came from."""
    rows = np.concatenate([np.arange(batch.offsets[e], batch.offsets[e + 1]) for e in order] or [np.zeros(0)]).astype(
        int
    )
    names = ("rewards", "step_rewards", "subgoals_reached", "own_subgoal_turn", "states", "actions", "values")
    assert batch.final_values is not None
    return (
        replace(
            batch,
            offsets=np.append(0, np.cumsum(batch.lengths[order])),
            group=batch.group[order],
            terminated=batch.terminated[order],
            final_values=batch.final_values[order],
            **{name: getattr(batch, name)[rows] for name in names},
        ),
        rows,
    )


def add_to_last(batch: CreditBatch, amount: np.ndarray) -> CreditBatch:
    """Return the batch with an amount for each episode added to the reward of its last decision."""
    rewards = batch.rewards.copy()
    some = batch.lengths > 0
    rewards[batch.offsets[1:][some] - 1] += amount[some]
    return replace(batch, rewards=rewards)


@pytest.mark.parametrize("name", sorted(REFERENCES))
@given(batch=credit_batches())
@QUICK
def test_the_vectorised_form_agrees_with_the_plain_loop(name: str, batch: CreditBatch) -> None:
    found = ESTIMATORS[name](batch)
    np.testing.assert_allclose(found, REFERENCES[name](batch), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", DETERMINISTIC)
@given(batch=credit_batches())
@QUICK
def test_ragged_equals_padded(name: str, batch: CreditBatch) -> None:
    """What stands in the padding has no effect."""
    mask = batch.padded(np.ones(batch.turns, dtype=np.bool_))
    fields = ("rewards", "step_rewards", "subgoals_reached", "own_subgoal_turn", "states", "actions", "values")
    rebuilt = CreditBatch.from_padded(
        mask,
        {field: batch.padded(getattr(batch, field), fill=7) for field in fields},
        {field: getattr(batch, field) for field in ("group", "terminated", "final_values")},
    )
    np.testing.assert_allclose(ESTIMATORS[name](rebuilt), ESTIMATORS[name](batch), rtol=1e-10, atol=1e-10)


def test_every_deterministic_estimator_has_a_plain_loop() -> None:
    assert set(DETERMINISTIC) == set(REFERENCES)


@pytest.mark.parametrize("name", DETERMINISTIC)
@given(batch=credit_batches(), data=st.data())
@QUICK
def test_permuting_episodes_permutes_advantages(name: str, batch: CreditBatch, data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(batch.episodes))))
    permuted, rows = reorder(batch, order)
    found = ESTIMATORS[name](permuted)
    np.testing.assert_allclose(found, ESTIMATORS[name](batch)[rows], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", GROUP_NORMALIZED)
@given(batch=credit_batches(), shift=st.lists(st.integers(-5, 5), min_size=3, max_size=3))
@QUICK
def test_a_constant_added_to_a_group_changes_nothing(name: str, batch: CreditBatch, shift: list[int]) -> None:
    kept = np.flatnonzero(batch.lengths > 0)
    batch, _ = reorder(batch, kept)
    lone = np.isin(batch.group, np.flatnonzero(np.bincount(batch.group_of_turn, minlength=3) == 1))
    amount = np.where(lone & (name == "beacon-released"), 0, np.array(shift)[batch.group]).astype(np.float64)
    found = ESTIMATORS[name](add_to_last(batch, amount))
    np.testing.assert_allclose(found, ESTIMATORS[name](batch), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["grpo", "grpo-no-std", "rloo", "reinforce++-baseline", "beacon-trajectory", "hindsight"]
)
@given(batch=credit_batches())
@QUICK
def test_equal_scores_in_a_group_give_zeros(name: str, batch: CreditBatch) -> None:
    batch, _ = reorder(batch, np.flatnonzero(batch.lengths > 0))
    score = np.array([0.1, 9.025, -7.3])[batch.group]
    equal = add_to_last(replace(batch, rewards=np.zeros(batch.turns)), score)
    assert not ESTIMATORS[name](equal).any()


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_identical_episodes_give_no_spurious_advantage(name: str) -> None:
    batch = CreditBatch.from_ragged(
        [[9.025]] * 7, states=[[0]] * 7, actions=[[0]] * 7, values=[[9.025]] * 7, subgoals_reached=[[0]] * 7
    )
    assert not ESTIMATORS[name](batch).any()


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
@given(batch=credit_batches(), size=st.sampled_from([1e-150, 1e150]))
@QUICK
def test_extreme_rewards_stay_finite(name: str, batch: CreditBatch, size: float) -> None:
    assert batch.values is not None
    huge = replace(batch, rewards=batch.rewards * size, values=batch.values * size)
    found = ESTIMATORS[name](huge)
    assert found.shape == (batch.turns,)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_an_empty_batch_gives_an_empty_result(name: str) -> None:
    empty = CreditBatch.from_ragged([], values=[], final_values=[])
    assert ESTIMATORS[name](empty).shape == (0,)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("beacon-segment", {}),
        ("subgoal", {"normalized": False, "alpha": 0.0}),
        ("subgoal-own", {"normalized": False, "alpha": 0.0}),
    ],
)
@given(before=credit_batches(), data=st.data())
@QUICK
def test_a_segment_is_blind_to_later_segments(
    name: str, options: dict[str, float], before: CreditBatch, data: st.DataObject
) -> None:
    """Every episode keeps its first segment, ended by a subgoal, and gets another continuation."""
    first = [draw_first_segment(data) for _ in range(before.episodes)]
    found = []
    for _ in range(2):
        tails = [data.draw(st.lists(st.sampled_from([0, 0, 1]), max_size=5)) for _ in first]
        batch = CreditBatch.from_ragged(
            [[0.0] * len(row + tail) for row, tail in zip(first, tails, strict=True)],
            group=before.group.tolist(),
            subgoals_reached=[row + tail for row, tail in zip(first, tails, strict=True)],
            own_subgoal_turn=[
                [len(row) - 1] * len(row) + [-1] * len(tail) for row, tail in zip(first, tails, strict=True)
            ],
        )
        advantages = batch.split(ESTIMATORS[name](batch, **options))
        found.append(np.concatenate([a[: len(row)] for a, row in zip(advantages, first, strict=True)]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


def draw_first_segment(data: st.DataObject) -> list[int]:
    return [0] * data.draw(st.integers(0, 4)) + [1]


@given(batch=credit_batches())
@QUICK
def test_random_cuts_keep_the_number_of_subgoals(batch: CreditBatch) -> None:
    from horizon_bench.credit.beacon import drop_subgoals, random_cuts

    rng = np.random.default_rng(3)
    moved, dropped = random_cuts(batch, rng), drop_subgoals(batch, 0.5, rng)
    count = batch.subgoals_reached.astype(np.float64)
    np.testing.assert_array_equal(
        episode_sums(moved.subgoals_reached.astype(np.float64), batch.offsets), episode_sums(count, batch.offsets)
    )
    assert (dropped.subgoals_reached <= batch.subgoals_reached).all()
    assert not drop_subgoals(batch, 1.0, rng).subgoals_reached.any()
    assert (drop_subgoals(batch, 0.0, rng).subgoals_reached == batch.subgoals_reached).all()
