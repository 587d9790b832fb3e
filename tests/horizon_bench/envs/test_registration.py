"""Every id makes an environment that Gymnasium's checker finds no fault with, and whose spec rebuilds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from lights_out import LightsOut

import horizon_bench
from curricula.banks import import_instances, load_bank, save_bank
from curricula.instances import Instance, read_instances
from horizon_bench.envs import INTERFACES, ready_id
from horizon_bench.envs.registration import PLAYED
from horizon_bench.testing import check_puzzle
from solvers import oracle

NOT_HERE = tuple(f"horizon_bench/{name}-v0" for name in PLAYED)
"""Worlds that only their own packages can play; `tox -e outside` tests them."""
IDS = sorted(name for name in gymnasium.registry if name.startswith("horizon_bench/") and name not in NOT_HERE)
CHECKED = [name for name in IDS if name.count("-") == 1 or name.split("-")[1] in ("T2", "L7", "M1", "R1")]


def test_there_is_an_id_for_each_puzzle_level_and_interface():
    assert {"horizon_bench/Sudoku-v0", "horizon_bench/RushHour-v0", "horizon_bench/Puzzle-v0"} <= set(IDS)
    assert {ready_id(level, interface) for level in ("L1", "T5", "M3", "R5") for interface in INTERFACES} <= set(IDS)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CHECKED)
def test_checker_finds_no_fault(name, capsys):
    check_env(gymnasium.make(name).unwrapped)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("observation", ["text", "compact", "array"])
@pytest.mark.parametrize("interface", ["atomic", "macro-capped-3", "macro-fixed-2"])
@pytest.mark.parametrize(("family", "level"), [("Sudoku", "T1"), ("RushHour", "R1")])
def test_checker_finds_no_fault_in_any_form(family, level, interface, observation, capsys):
    env = gymnasium.make(
        f"horizon_bench/{family}-v0", level=level, interface=interface, observation=observation, on_error="stay"
    )
    check_env(env.unwrapped)


@pytest.mark.parametrize("name", ["horizon_bench/Sudoku-v0", "horizon_bench/RushHour-R2-macro-fixed-2-v0"])
def test_spec_survives_json_and_rebuilds_the_same_environment(name):
    env = gymnasium.make(name, reward="subgoal", budget_slack=2.0, observation="compact")
    twin = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert twin.spec == env.spec
    assert twin.unwrapped.settings == env.unwrapped.settings
    assert twin.reset(seed=4) == env.reset(seed=4)


def test_the_wrapper_refuses_environments_of_others():
    with pytest.raises(ValueError, match="has no interfaces"):
        horizon_bench.ActionInterface(gymnasium.make("CartPole-v1"), "macro")


def test_spec_with_a_wrapper_rebuilds():
    env = horizon_bench.ActionInterface(gymnasium.make("horizon_bench/Sudoku-v0", level="T1"), "macro-capped-2")
    twin = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert twin.unwrapped.settings.interface == "macro-capped-2"


@pytest.mark.filterwarnings("ignore:.*render_mode")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"interface": "makro"}, "unknown interface 'makro'; did you mean 'macro'"),
        ({"interface": "macro-capped-0"}, "did you mean 'macro-capped-4'"),
        ({"reward": "subgoals"}, "did you mean 'subgoal'"),
        ({"on_error": "strickt"}, "did you mean 'strict'"),
        ({"observation": "txt"}, "did you mean 'text'"),
        ({"thought": "free!"}, "did you mean 'free'"),
        ({"level": "T9"}, "unknown level of sudoku 'T9'"),
        ({"level": "R1"}, "unknown level of sudoku 'R1'"),
        ({"split": "testing"}, "did you mean 'test'"),
        ({"size": 5}, "no level has boards of size 5"),
        ({"level": "T1", "size": 9}, "size is 9, but level T1 has boards of size 4"),
        ({"levl": "T1"}, "unknown argument 'levl'; did you mean 'level'"),
        ({"max_decisions": 0}, "max_decisions is 0"),
        ({"failure_probability": 1.5}, "failure_probability is 1.5"),
        ({"budget_slack": 0.5}, "budget_slack is 0.5"),
        ({"render_mode": "rgb_arrays"}, "did you mean 'rgb_array'"),
        ({"instance": "12..3.....4....2", "thought": "checkd"}, "did you mean 'checked'"),
        ({"instance": "1234341221434321"}, "solved already"),
        ({"instance": "11.............."}, "solution"),
        ({"interface": "macro", "observation": "array"}, "no fixed number of actions"),
        ({"bank": "no/such/file.tsv"}, "no/such/file.tsv"),
        ({"bank": "no/such/file.tsv", "instance": "12343412.143..2."}, "give one of them"),
        ({"level": "T9", "instance": "12343412.143..2."}, "unknown level of sudoku 'T9'"),
        ({"instance": 5}, "instance is 5, must be the text of a start"),
        ({"size": 9.0}, "size is 9.0, must be a whole number"),
        ({"subgoals": "boxes"}, "puzzle 'sudoku' has one kind of subgoals only"),
        ({"failure_probability": "0.5"}, "failure_probability is '0.5', must be a finite number"),
        ({"gamma": None}, "gamma is None"),
        ({"gamma": True}, "gamma is True"),
        ({"budget_slack": float("inf")}, "budget_slack is inf"),
        ({"discount_inside": "no"}, "discount_inside is 'no', must be True or False"),
        ({"stop_at_subgoal": 1}, "stop_at_subgoal is 1, must be True or False"),
        ({"memory_turns": 1.5}, "memory_turns is 1.5, must be a whole number of at least 0"),
        ({"max_tokens": True}, "max_tokens is True, must be a whole number of at least 1, or None for the default"),
    ],
)
def test_wrong_arguments_name_value_and_nearest_match(arguments, message):
    with pytest.raises((ValueError, FileNotFoundError)) as caught:
        gymnasium.make("horizon_bench/Sudoku-v0", **arguments)
    assert message in str(caught.value)


def test_puzzle_of_your_own_by_import_string():
    env = gymnasium.make("horizon_bench/Puzzle-v0", puzzle="lights_out:LightsOut", interface="macro")
    _, info = env.reset(seed=0)
    twin = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert twin.reset(seed=0)[1] == info
    check_env(env.unwrapped)


class Lamps(LightsOut):
    """Lights Out that wants its size as rows and columns."""

    def __init__(self, rows: int, columns: int) -> None:
        assert rows == columns
        super().__init__(rows)

    def examples(self) -> tuple[str, ...]:
        return ("1" * self.size**2,)


def test_a_size_is_the_rows_and_columns_of_a_puzzle_that_takes_these():
    env = gymnasium.make("horizon_bench/Puzzle-v0", puzzle=Lamps, size=2).unwrapped
    assert env.reset(seed=0)[1]["distance"] == len(env.oracle.plan(env.start))
    assert env.puzzle.size == 2
    check_puzzle(Lamps, size=2, laws=["text round-trip"], max_examples=2)


def test_what_a_puzzle_of_your_own_does_not_offer_is_named(tmp_path):
    class Sized(LightsOut):
        def __init__(self) -> None:
            super().__init__(3)

    with pytest.raises(ValueError, match="takes no size; leave the argument `size` out"):
        gymnasium.make("horizon_bench/Puzzle-v0", puzzle=Sized, size=3)
    with pytest.raises(ValueError, match="name a level, or a bank file"):
        gymnasium.make("horizon_bench/Puzzle-v0", puzzle=Sized, bank=str(tmp_path))


def test_a_puzzle_that_needs_arguments_or_has_the_name_of_another_is_named():
    class Named(LightsOut):
        name = "sudoku"

    with pytest.raises(ValueError, match=r"cannot be made with no arguments \(missing a required argument: 'rows'\)"):
        gymnasium.make("horizon_bench/Puzzle-v0", puzzle=Lamps)
    for use in (lambda: gymnasium.make("horizon_bench/Puzzle-v0", puzzle=Named), lambda: oracle(Named(), (1,) * 9)):
        with pytest.raises(ValueError, match=r"'sudoku', which belongs to puzzles\.sudoku\.Sudoku"):
            use()


def test_puzzle_of_your_own_under_its_own_id():
    horizon_bench.register_puzzle("tests/LightsOut-v0", "lights_out:LightsOut", interface="macro")
    env = gymnasium.make("tests/LightsOut-v0")
    env.reset(seed=1)
    plan = env.unwrapped.oracle.plan(env.unwrapped.state)
    _, reward, terminated, _, info = env.step(" ".join(map(env.unwrapped.puzzle.format_action, plan)))
    assert (reward, terminated, info["atomic_steps"]) == (1.0, True, len(plan))
    vector = gymnasium.make_vec("tests/LightsOut-v0", 2)
    assert vector.reset(seed=1)[1]["distance"].shape == (2,)


def test_puzzles_that_cannot_be_imported_are_named():
    with pytest.raises(ValueError, match=r"no_such_module:Puzzle.*package\.module:ClassName"):
        horizon_bench.register_puzzle("tests/None-v0", "no_such_module:Puzzle")
    for name in ("os:getcwd", "json:JSONDecoder"):
        with pytest.raises(ValueError, match=r"puzzles\.base\.Puzzle"):
            gymnasium.make("horizon_bench/Puzzle-v0", puzzle=name)
    with pytest.raises(ValueError, match="has no levels, so no level 'X1'"):
        gymnasium.make("horizon_bench/Puzzle-v0", puzzle="lights_out:LightsOut", level="X1")
    with pytest.raises(ValueError, match="unknown interface 'makro'"):
        horizon_bench.register_puzzle("tests/None-v0", "lights_out:LightsOut", interface="makro")
    with pytest.raises(ValueError, match="unknown argument 'interfaces'; did you mean 'interface'"):
        horizon_bench.register_puzzle("tests/None-v0", "lights_out:LightsOut", interfaces="macro")


EPISODE = """
import gymnasium, sys
env = gymnasium.make("horizon_bench:horizon_bench/Sudoku-v0", level="L3", interface="macro", failure_probability=0.5)
observation, info = env.reset(seed=7)
seen = [observation, info["state_hash"], info["instance_key"]]
for _ in range(4):
    reply = env.unwrapped.puzzle.format_action(env.unwrapped.oracle.plan(env.unwrapped.state)[0])
    observation, reward, *_, info = env.step(reply)
    seen += [observation, reward, info["state_hash"], info["failed_actions"]]
"""


def test_another_process_sees_the_same_episode_without_torch():
    code = EPISODE + "assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules\nprint(repr(seen))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "5"},
    )
    here: dict[str, list[object]] = {}
    exec(EPISODE, here)
    assert run.stdout.strip() == repr(here["seen"])


def test_public_names_exist():
    for name in horizon_bench.__all__:
        if name not in ("ESTIMATORS", "CORRECTIONS", "POLICIES"):
            assert getattr(horizon_bench, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        horizon_bench.no_such_name  # noqa: B018


@pytest.fixture(scope="module")
def own_bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank of 9x9 puzzles beyond all levels, all in one split."""
    given = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    folder = tmp_path_factory.mktemp("bank")
    (folder / "mine.txt").write_text(given + "\n")
    instances, rejected = import_instances(folder / "mine.txt", "sudoku")
    assert not rejected
    save_bank(instances, folder / "mine.tsv")
    return folder / "mine.tsv"


def test_a_bank_file_without_a_level_gives_all_it_holds(own_bank: Path) -> None:
    split = read_all(own_bank)[0].split
    assert load_bank(None, split, own_bank) == tuple(read_all(own_bank))
    environment = gymnasium.make("horizon_bench/Sudoku-v0", bank=str(own_bank), split=split)
    _, info = environment.reset(seed=1)
    assert (info["level"], info["distance"]) == ("-", 51)


def test_a_bank_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    for time, instance in enumerate(load_bank("T1", "test")[:2], start=1):
        save_bank([instance], file)
        os.utime(file, (time, time))
        environment = gymnasium.make("horizon_bench/Sudoku-v0", bank=str(file), split="test")
        assert environment.reset(seed=1)[1]["instance_key"] == instance.key


def test_a_bank_file_says_which_splits_it_holds_and_of_which_puzzle(own_bank: Path) -> None:
    held = read_all(own_bank)[0].split
    absent = next(split for split in ("train", "validation", "test") if split != held)
    with pytest.raises(ValueError, match=f"holds no {absent} instances; splits it holds of them: {held}"):
        gymnasium.make("horizon_bench/Sudoku-v0", bank=str(own_bank), split=absent)
    with pytest.raises(ValueError, match="holds sudoku, not only rush-hour"):
        gymnasium.make("horizon_bench/RushHour-v0", bank=str(own_bank), split=held)
    with pytest.raises(ValueError, match="none of 4"):
        gymnasium.make("horizon_bench/Sudoku-v0", bank=str(own_bank), split=held, size=4)


def read_all(bank: Path) -> list[Instance]:
    return [instance for _, instance in read_instances(bank)[1]]
