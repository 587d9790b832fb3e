from __future__ import annotations

from pathlib import Path

import pytest

from horizon_bench.outside.commands import tidy
from horizon_bench.outside.scienceworld import ScienceWorld
from horizon_bench.outside.scienceworld_bank import LEVELS, SPLITS, level_of, read_bank, write_bank


def test_the_bank_knows_all_tasks_and_splits_without_gaps() -> None:
    bank = read_bank()
    assert len(bank.splits) == 30
    for parts in bank.splits.values():
        ends = sorted(parts.values())
        assert set(parts) == set(SPLITS.values())
        assert ends[0][0] == 0
        assert [high for _, high in ends[:-1]] == [low for low, _ in ends[1:]]


def test_what_is_measured_exists() -> None:
    bank = read_bank()
    assert bank.measured
    assert all(bank.has(text) and (each.gold or each.problem) for text, each in bank.measured.items())


def test_starts_are_in_their_level_and_split() -> None:
    world = ScienceWorld()
    for level, (low, high) in LEVELS.items():
        for split in ("train", "test"):
            for text in world.starts(level, split):
                assert low <= len(world.gold(text)) <= high
                assert world.bank.split_of(text) == split
        assert world.starts(level, "test")
    assert [level_of(length) for length in (1, 10, 11, 30, 31, 178)] == ["short"] * 2 + ["medium"] * 2 + ["long"] * 2


def test_gold_commands_read_back_as_the_commands_they_are() -> None:
    world = ScienceWorld()
    for each in world.bank.measured.values():
        for command in each.gold:
            assert tidy(command) == command
            assert world.parse_action(command) == (command,)
            assert [match[0] for match in world.action_pattern.finditer(f"{command}; {command}")] == [command] * 2


def test_a_bank_reads_back_and_is_the_same_file_again(tmp_path: Path) -> None:
    bank, path = read_bank(), tmp_path / "bank.json.gz"
    write_bank(bank, path)
    assert read_bank(path) == bank
    first = path.read_bytes()
    write_bank(read_bank(path), path)
    assert path.read_bytes() == first


def test_a_file_that_is_no_bank_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bank.json.gz"
    path.write_text("no bank")
    with pytest.raises(ValueError, match="no bank of ScienceWorld tasks"):
        read_bank(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("boil/30", "from boil/0 to boil/29"),
        ("boil/-1", "from boil/0 to boil/29"),
        ("boil/007", "from boil/0 to boil/29"),
        ("boil/²", "from boil/0 to boil/29"),
        ("boil", "from boil/0 to boil/29"),
        ("boyl/1", "did you mean boil/0"),
        ("", "tasks: boil"),
    ],
)
def test_an_unknown_task_is_answered_with_a_known_one(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScienceWorld().parse(text)
