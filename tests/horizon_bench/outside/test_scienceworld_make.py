"""Measuring gold paths of ScienceWorld, with a stand-in for its machine; `tox -e outside` starts the real one."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from horizon_bench.outside import scienceworld_make
from horizon_bench.outside.scienceworld_bank import Bank, Measured, read_bank, write_bank

SPLITS = {"train": (0, 5), "validation": (5, 8), "test": (8, 11)}
BANK = Bank("1.0", {"boil": SPLITS, "melt": SPLITS}, {})


class Machine:
    """Measures a task by its name: `melt/9` fails, tasks in `broken` bring the machine down."""

    broken: tuple[str, ...] = ()
    measured: list[str]
    closed = 0

    def measure(self, task: str) -> Measured:
        type(self).measured.append(task)
        if task in self.broken:
            raise ConnectionError("no answer")
        number = int(task.partition("/")[2])
        return Measured(("look",) * (number + 1), ("boil",), 0.0, "score 40" if task == "melt/9" else "")

    def splits(self, task: str) -> dict[str, tuple[int, int]]:
        return {"train": (0, 1), "validation": (1, 2), "test": (2, 3)}

    def close(self) -> None:
        type(self).closed += 1


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> type[Machine]:
    kind = type("Machine", (Machine,), {"measured": []})
    monkeypatch.setattr(scienceworld_make, "ScienceWorldSimulator", kind)
    return kind


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_bank(BANK, tmp_path / "bank.json.gz")
    return tmp_path / "bank.json.gz"


def test_what_was_measured_is_kept_and_not_measured_again(
    machine: type[Machine], path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = scienceworld_make.main(["--bank", str(path), "--per-split", "2"])
    first, said = list(machine.measured), capsys.readouterr().out
    assert status == int("melt/9" in first)
    assert len(first) == len(set(first)) == 8  # two tasks, two splits, two of each
    assert set(read_bank(path).measured) == set(first)
    assert {read_bank(path).split_of(task) for task in first} == {"train", "test"}
    assert f"1/8 {first[0]}: score 100 after" in said
    assert scienceworld_make.main(["--bank", str(path), "--per-split", "2"]) == status
    assert machine.measured == first
    assert capsys.readouterr().out == said
    scienceworld_make.main(["--bank", str(path), "--per-split", "2", "--again"])
    assert machine.measured == first * 2
    assert machine.closed == 3


def test_a_gold_path_that_fails_is_named_and_the_command_fails(
    machine: type[Machine], path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--bank", str(path), "--per-split", "3", "--splits", "test", "--tasks"]
    assert scienceworld_make.main([*words, "boil"]) == 0
    assert "3 of 3 gold paths reach score 100" in capsys.readouterr().out
    assert scienceworld_make.main([*words, "melt"]) == 1
    said = capsys.readouterr().out
    assert "melt/9: score 40" in said
    assert "2 of 3 gold paths reach score 100" in said
    assert read_bank(path).measured["melt/9"].problem == "score 40"


def test_a_machine_that_goes_down_costs_one_variation(
    machine: type[Machine], path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.broken = ("boil/10",)
    words = ["--bank", str(path), "--per-split", "3", "--splits", "test", "--tasks", "boil"]
    assert scienceworld_make.main(words) == 1
    said = capsys.readouterr().out
    assert "boil/10: the machine went down: no answer" in said
    assert "2 of 3 gold paths" in said
    assert set(read_bank(path).measured) == {"boil/8", "boil/9"}
    machine.broken = ()
    assert scienceworld_make.main(words) == 0
    assert sorted(machine.measured) == sorted(["boil/8", "boil/9", "boil/10", "boil/10"])


def test_a_trial_writes_nothing(machine: type[Machine], path: Path) -> None:
    before = path.read_bytes()
    scienceworld_make.main(["--bank", str(path), "--dry-run"])
    assert machine.measured
    assert path.read_bytes() == before


def test_the_seed_draws_the_variations(machine: type[Machine], path: Path) -> None:
    drawn = []
    for seed in ("0", "0", "1", "2", "3"):
        machine.measured.clear()
        scienceworld_make.main(["--bank", str(path), "--dry-run", "--seed", seed])
        drawn.append(tuple(machine.measured))
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 2


def test_an_unknown_task_is_named_and_the_machine_ended(machine: type[Machine], path: Path) -> None:
    with pytest.raises(SystemExit, match=r"unknown task 'bake'; known: boil, melt"):
        scienceworld_make.main(["--bank", str(path), "--tasks", "bake"])
    assert machine.closed == 1


def test_a_new_bank_takes_its_splits_from_the_package(
    machine: type[Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = {name: ModuleType(name) for name in ("scienceworld", "scienceworld.constants", "scienceworld.version")}
    vars(modules["scienceworld.constants"]).update(ID2TASK={"1-2": "melt", "1-1": "boil"})
    vars(modules["scienceworld.version"]).update(__version__="9.9")
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert scienceworld_make.main(["--bank", str(tmp_path / "new.json.gz")]) == 0
    bank = read_bank(tmp_path / "new.json.gz")
    assert (bank.version, list(bank.splits)) == ("9.9", ["boil", "melt"])
    assert set(bank.measured) == {"boil/0", "boil/2", "melt/0", "melt/2"}
