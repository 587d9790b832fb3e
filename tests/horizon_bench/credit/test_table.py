from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS, NEEDS_VALUES, CreditBatch, credit_table
from horizon_bench.credit.probe_chain import Chain


def test_every_estimator_says_something_about_every_decision() -> None:
    batch = Chain().sample(3, 4, np.random.default_rng(0))
    table = credit_table(batch)
    assert list(table) == list(ESTIMATORS)
    assert all(column.shape == (batch.turns,) for column in table.values())
    np.testing.assert_array_equal(table["grpo"], ESTIMATORS["grpo"](batch))


def test_estimators_without_their_values_are_left_out() -> None:
    batch = CreditBatch.from_ragged([[1.0], [0.0]])
    assert set(credit_table(batch)) == set(ESTIMATORS) - set(NEEDS_VALUES)
    cut_off = CreditBatch.from_ragged([[1.0]], values=[[0.0]], terminated=[False])
    assert set(ESTIMATORS) - set(credit_table(cut_off)) == {"ppo"}


def test_chosen_names_are_taken_as_given() -> None:
    batch = CreditBatch.from_ragged([[1.0], [0.0]])
    assert list(credit_table(batch, ["rloo", "grpo"])) == ["rloo", "grpo"]
    with pytest.raises(ValueError, match="did you mean 'rloo'"):
        credit_table(batch, ["rlo"])
