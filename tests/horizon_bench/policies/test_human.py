"""A person at the terminal, by piped input."""

from __future__ import annotations

import io
import itertools

import pytest

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.policies import HumanPolicy, make_policy

SETTINGS = Settings(interface="macro", observation="text", on_error="semi")


def test_a_person_plays_and_sees_the_rules_once(monkeypatch, capsys):
    instance = load_bank("T1", "test")[0]
    every = [f"value({digit}, r{row}c{column})" for row, column, digit in itertools.product(range(1, 5), repeat=3)]
    replies = "\n".join(["nonsense", *every])
    monkeypatch.setattr("sys.stdin", io.StringIO(replies + "\n"))
    (episode,) = evaluate(make_policy("human"), [instance], SETTINGS, attempts=1)
    shown = capsys.readouterr().out
    assert shown.count("Fill every blank") == 1
    assert shown.count("Board:") == episode.decisions
    assert "Feedback: nothing was carried out" in shown
    assert episode.turns[0].reply == "nonsense"


def test_input_that_ends_too_soon_is_named():
    policy = HumanPolicy(io.StringIO("x\n"), io.StringIO())
    with pytest.raises(ValueError, match="input has ended"):
        evaluate(policy, load_bank("T1", "test")[:1], SETTINGS, attempts=1)
