from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from horizon_bench.outside import scienceworld_bank, textworld_bank
from horizon_bench.outside.bank_files import digest, read_data, write_data


def test_data_read_back_and_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "new" / "first", tmp_path / "second"
    for path in (first, second):
        write_data(path, {"names": ["öffne", "\N{FIRE}"], "count": 3})
    assert read_data(first) == {"names": ["öffne", "\N{FIRE}"], "count": 3}
    assert first.read_bytes() == second.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.name != "new"] == ["second"]


def test_a_digest_is_the_same_in_every_process() -> None:
    assert digest("house-0-5-0") == "11079840c87416b6"


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(255 - byte for byte in content[middle : middle + 64]) + content[middle + 64 :]


@pytest.mark.parametrize("world", [scienceworld_bank, textworld_bank])
@pytest.mark.parametrize("damage", [cut, flipped])
def test_a_damaged_bank_is_named(world: ModuleType, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "bank.json.gz"
    path.write_bytes(damage(world.BANK.read_bytes()))
    with pytest.raises(ValueError, match=r"bank\.json\.gz is no bank of"):
        world.read_bank(path)


@pytest.mark.parametrize("data", [{}, {"games": 3}, {"version": 1, "splits": [], "measured": []}])
@pytest.mark.parametrize("world", [scienceworld_bank, textworld_bank])
def test_a_file_of_other_data_is_named(world: ModuleType, data: dict[str, object], tmp_path: Path) -> None:
    write_data(tmp_path / "bank.json.gz", data)
    with pytest.raises(ValueError, match=r"bank\.json\.gz is no bank of"):
        world.read_bank(tmp_path / "bank.json.gz")
