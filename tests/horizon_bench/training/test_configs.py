"""Names are checked when a configuration is made, without torch, and the nearest known one is offered."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from horizon_bench.credit import ESTIMATORS
from horizon_bench.training.configs import OWN_LOSSES, REDUCTIONS, UpdateConfig
from horizon_bench.training.losses import LOSSES, reinforce_loss


@pytest.mark.parametrize(
    ("field", "wrong", "near"),
    [
        ("loss", "ppo-tokens", "ppo-token"),
        ("loss", "Reinforce", "reinforce"),
        ("reduction", "token_mean", "token-mean"),
        ("reduction", "sequence-means", "sequence-mean"),
        ("correction", "none+geometric-masks", "geometric-mask"),
        ("estimator", "becon", "beacon"),
        ("signs", "positives", "positive"),
    ],
)
def test_a_wrong_name_gets_the_nearest_one(field: str, wrong: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"unknown {field} .*did you mean '{near}'.* known"):
        UpdateConfig(**{field: wrong})


@pytest.mark.parametrize("field", ["loss", "reduction", "correction", "estimator", "signs"])
@pytest.mark.parametrize("wrong", [None, 3, ["reinforce"]])
def test_a_name_is_a_text(field: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=f"{field} is chosen by its name"):
        UpdateConfig(**{field: wrong})


def test_every_known_name_is_taken() -> None:
    assert set(OWN_LOSSES) == set(LOSSES)
    for loss in OWN_LOSSES:
        for reduction in REDUCTIONS:
            assert UpdateConfig(loss=loss, reduction=reduction).loss == loss


def test_an_option_is_one_that_the_estimator_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert UpdateConfig(estimator="beacon-gamma-0", estimator_options={"gamma": 0.5, "lam": 2.0}).estimator_options
    with pytest.raises(ValueError, match="option of estimator 'beacon' 'gama'; did you mean 'gamma'"):
        UpdateConfig(estimator="beacon", estimator_options={"gama": 0.5})
    monkeypatch.setitem(ESTIMATORS, "plain", lambda batch: batch.rewards)
    monkeypatch.setitem(ESTIMATORS, "open", lambda batch, **options: batch.rewards)
    assert UpdateConfig(estimator="open", estimator_options={"anything": 1}).estimator == "open"
    with pytest.raises(ValueError, match=r"known: \(none\)"):
        UpdateConfig(estimator="plain", estimator_options={"gamma": 1.0})


def test_a_loss_of_a_user_is_known_once_it_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOSSES, "mine", reinforce_loss)
    assert UpdateConfig(loss="mine").loss == "mine"


def test_a_configuration_needs_no_torch() -> None:
    code = "import sys; from horizon_bench.training.configs import UpdateConfig; UpdateConfig(); "
    code += "sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
