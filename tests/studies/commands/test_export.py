"""Exported rows are what the environments show and the experts write."""

from __future__ import annotations

import json
import pathlib

import pytest

from curricula import load_bank
from studies.commands.export import Export


def rows(path: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def test_a_bank_goes_out_whole(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "bank.jsonl"
    assert Export("bank", out, level=("T1",), split="test").run() == 0
    bank, found = load_bank("T1", "test"), rows(out)
    assert capsys.readouterr().out == f"{len(bank)} rows in {out}\n"
    for instance, row in zip(bank, found, strict=True):
        assert (row["start"], row["solution"], row["distance"]) == (
            instance.start,
            instance.solution,
            instance.distance,
        )
        assert row["prompt"][0]["content"].startswith("Sudoku on a 4x4 board")
        assert row["split"] == "test"


@pytest.mark.parametrize("interface", ["atomic", "macro-fixed-2"])
def test_traces_are_conversations_of_prompt_and_expert(tmp_path: pathlib.Path, interface: str) -> None:
    out = tmp_path / "traces.jsonl"
    Export("traces", out, level=("T1", "T2"), interface=interface, count=7, seed=3).run()
    found = rows(out)
    assert len(found) == 7
    for row in found:
        assert [each["role"] for each in row["prompt"] + row["completion"]] == ["user", "assistant"]
        actions = row["completion"][0]["content"].count("value(")
        assert row["completion"][0]["content"].startswith("Action: value(")
        assert actions == 1 if interface == "atomic" else actions in (1, 2)
    other = tmp_path / "again.jsonl"
    Export("traces", other, level=("T1", "T2"), interface=interface, count=7, seed=3).run()
    assert rows(other) == found


def test_a_data_set_loads_from_disk(tmp_path: pathlib.Path) -> None:
    from datasets import load_from_disk

    Export("bank", tmp_path / "bank", level=("T1",), split="test", format="hf").run()
    assert load_from_disk(str(tmp_path / "bank"))["key"] == [one.key for one in load_bank("T1", "test")]


def test_nothing_is_overwritten_and_split_has_no_expert(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="exists; give another name"):
        Export("bank", tmp_path).run()
    with pytest.raises(ValueError, match="no expert traces in text"):
        Export("traces", tmp_path / "x", level=("T1",), interface="split").run()
