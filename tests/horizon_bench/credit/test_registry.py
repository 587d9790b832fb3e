from __future__ import annotations

import sys
import types
from collections.abc import Iterator

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS, NEEDS_VALUES, CreditBatch, credit_table, find_estimator, register_estimator
from horizon_bench.credit.batch import FloatArray


def only_last(batch: CreditBatch) -> FloatArray:
    """Return 1 at the last decision of each episode."""
    found = np.zeros(batch.turns)
    found[batch.offsets[1:][batch.lengths > 0] - 1] = 1.0
    return found


@pytest.fixture
def registered() -> Iterator[str]:
    register_estimator("only-last", only_last)
    yield "only-last"
    del ESTIMATORS["only-last"]


def test_a_registered_estimator_is_found_and_drawn(registered: str) -> None:
    batch = CreditBatch.from_ragged([[0.0, 1.0], [0.0]])
    assert find_estimator(registered) is only_last
    assert credit_table(batch)[registered].tolist() == [0, 1, 1]


def test_an_estimator_may_say_that_it_reads_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ESTIMATORS, "valued", raising=False)
    monkeypatch.delitem(NEEDS_VALUES, "valued", raising=False)
    register_estimator("valued", only_last, needs="critic")
    assert NEEDS_VALUES["valued"] == "critic"
    assert "valued" not in credit_table(CreditBatch.from_ragged([[1.0]]))
    del ESTIMATORS["valued"], NEEDS_VALUES["valued"]


def test_registering_twice_is_harmless_and_taking_a_name_is_refused(registered: str) -> None:
    register_estimator(registered, only_last)
    with pytest.raises(ValueError, match="estimator 'grpo' exists already"):
        register_estimator("grpo", only_last)
    with pytest.raises(ValueError, match="holds a colon"):
        register_estimator("my:own", only_last)


def test_an_estimator_of_another_package_is_found_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("somebody_elses_credit")
    module.only_last = only_last  # type: ignore[attr-defined]
    module.number = 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "somebody_elses_credit", module)
    assert find_estimator("somebody_elses_credit:only_last") is only_last
    for missing in ("somebody_elses_credit:first", "no_such_package:f"):
        with pytest.raises(ValueError, match="is read as `module:function`, but"):
            find_estimator(missing)
    with pytest.raises(ValueError, match="is no function"):
        find_estimator("somebody_elses_credit:number")


def test_the_import_path_keeps_what_the_registered_function_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("somebody_elses_critic")
    module.only_last = only_last  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "somebody_elses_critic", module)
    register_estimator("valued", only_last, needs="rollouts")
    assert find_estimator("somebody_elses_critic:only_last") is only_last
    assert NEEDS_VALUES["somebody_elses_critic:only_last"] == "rollouts"
    for name in ("valued", "somebody_elses_critic:only_last"):
        ESTIMATORS.pop(name, None)
        del NEEDS_VALUES[name]


def test_what_is_no_estimator_or_needs_the_unknown_is_refused() -> None:
    with pytest.raises(ValueError, match="is no function"):
        register_estimator("three", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"unknown needs 'critc'; did you mean 'critic'\? known: critic, rollouts"):
        register_estimator("valued", only_last, needs="critc")  # type: ignore[arg-type]
    assert "valued" not in ESTIMATORS


def test_an_unknown_name_comes_with_the_nearest_one() -> None:
    with pytest.raises(ValueError, match="unknown estimator 'gipgo'; did you mean 'gigpo'"):
        find_estimator("gipgo")


def test_estimators_that_need_values_are_registered() -> None:
    assert set(NEEDS_VALUES) <= set(ESTIMATORS)
