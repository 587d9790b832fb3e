# The names of the package's simulator are Java's.
# ruff: noqa: N802

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from test_class_files import class_file

from horizon_bench.outside import CrashError, Trail
from horizon_bench.outside.scienceworld import ScienceWorld
from horizon_bench.outside.scienceworld_jvm import JAVA, ScienceWorldSimulator
from horizon_bench.testing import LAWS, check_puzzle, limits

QUESTION = "Ambiguous request: Please enter the number\n0:\tfocus on red apple\n1:\tfocus on green apple\n"
LISTED = ("open door", "focus on apple", "reset task", "open drawer")
GOLD = ("open door", "dance", "focus on apple", "1", "wait1")


class Server:
    """Speaks like the package's simulator: focusing on the second apple is the goal, on the first a failure."""

    def __init__(self) -> None:
        self.loads: list[tuple[str, int, bool]] = []
        self.let_go: list[object] = []
        self.asked = False
        self.open = False
        self.found = False
        self.score = 0.0

    def load(self, task: str, variation: int, simplification: str, gold: bool) -> None:
        self.loads.append((task, variation, gold))
        # The score stays that of the task before, as the package has it.
        self.asked, self.open, self.found = False, False, False

    def step(self, command: str) -> str:
        if not self.asked:
            self.score = 0.0
        if self.asked:
            self.asked = False
            if command == "":
                return "Cancelled."
            self.found = command == "1"
            self.score = 1.0 if self.found else -1.0
            return "You focus on the apple."
        if command == "open door":
            self.open = True
            return "The door is now open."
        if command == "focus on apple":
            self.asked = True
            return QUESTION
        return "No known action matches that input."

    def getScore(self) -> float:
        return self.score

    def getCompleted(self) -> bool:
        return self.score != 0

    def getGoalProgressStr(self) -> str:
        def flag(value: bool) -> str:
            return "true" if value else "false"

        return (
            f"Completed keys: \n-----\nSequential Subgoals:\n0\t{flag(self.open)}\t   GoalOpen\topen the door\n"
            f"1\t{flag(self.found)}\t   GoalFind\tfocus on apple\n"
            "Unordered and Optional Subgoals:\n0\tfalse\t   GoalX\tanything\n"
        )

    def freeActionLook(self) -> str:
        return "A room.\n\tan apple"

    def freeActionInventory(self) -> str:
        return "You carry nothing."

    def freeActionTaskDesc(self) -> str:
        return "Find the apple."

    def getGoldActionSequence(self) -> tuple[str, ...]:
        return GOLD

    def getValidActionObjectCombinations(self) -> tuple[str, ...]:
        # Hidden things are listed too, and refused.
        return LISTED


class Chance:
    """Scala's random numbers around Java's, which scramble a seed that they are given."""

    seed = 0x123456789A

    def setSeed(self, seed: int) -> None:
        self.seed = seed ^ 0x5DEECE66D

    def self(self) -> Chance:
        return self


class Written:
    """What Java writes of its random numbers: the seed and one byte stand at the end."""

    content = b""

    def toByteArray(self) -> bytes:
        return self.content


class Writer:
    """Writes into `Written`."""

    def __init__(self, memory: Written) -> None:
        self.memory = memory

    def writeObject(self, chance: Chance) -> None:
        self.memory.content = b"\xac\xed\0" + chance.seed.to_bytes(8, "big") + b"x"

    def close(self) -> None:
        pass


def with_server() -> ScienceWorldSimulator:
    """Return a simulator that speaks to the server above in place of a machine."""
    made = ScienceWorldSimulator()
    made._server = Server()
    made._join = str.join
    made._gateway = SimpleNamespace(detach=made._server.let_go.append, close=lambda: None)
    made._random = Chance()
    made._machine = SimpleNamespace(
        java=SimpleNamespace(io=SimpleNamespace(ByteArrayOutputStream=Written, ObjectOutputStream=Writer))
    )
    made._identifiers = SimpleNamespace(reset=lambda: None)
    return made


@pytest.fixture
def simulator() -> ScienceWorldSimulator:
    return with_server()


class Small(ScienceWorld):
    """The task of the server above."""

    def start_simulator(self) -> ScienceWorldSimulator:
        return with_server()

    def has_task(self, task: str) -> bool:
        return task == "find-apple/0"


def test_a_view_holds_task_answer_place_and_belongings(simulator: ScienceWorldSimulator) -> None:
    assert simulator.reset("find-apple/0").text == "Find the apple.\nA room.\n  an apple\nYou carry nothing."
    view = simulator.step("open door")
    assert view.text == "Find the apple.\nThe door is now open.\nA room.\n  an apple\nYou carry nothing."
    assert view.subgoals == (True, False)
    assert not view.commands


def test_naming_what_is_possible_leaves_the_chances_as_they_were(
    simulator: ScienceWorldSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(self: Server) -> tuple[str, ...]:
        simulator._random.seed += 1
        return ("open door",)

    simulator.reset("find-apple/0")
    before = simulator._random.seed
    monkeypatch.setattr(Server, "getValidActionObjectCombinations", draw)
    assert simulator.commands() == ("open door",)
    assert simulator._random.seed == before


def test_a_subgoal_without_a_text_is_named_by_its_kind(
    simulator: ScienceWorldSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "Sequential Subgoals:\n0\tfalse\t  GoalFindInclinedPlane\t\n1\ttrue\t Goal\t\nUnordered and Optional"
    monkeypatch.setattr(Server, "getGoalProgressStr", lambda self: told)
    assert simulator._progress() == [(False, "find inclined plane"), (True, "Goal")]


def test_a_question_is_answered_by_its_numbers_only(simulator: ScienceWorldSimulator) -> None:
    simulator.reset("find-apple/0")
    assert simulator.step("choose 0").refused
    simulator.step("focus on apple")
    assert simulator.commands() == ("choose 0", "choose 1", "choose none")
    for number in ("\N{SUPERSCRIPT ONE}", "\N{ARABIC-INDIC DIGIT ONE}", "01", "-1", "", "9" * 5000):
        assert simulator.step(f"choose {number}").refused
    assert simulator.step("open door").refused
    assert simulator.step("choose 2").refused
    assert not simulator.step("choose none").won
    simulator.step("focus on apple")
    view = simulator.step("choose 1")
    assert (view.won, view.lost, view.subgoals, view.score) == (True, False, (False, True), 1.0)


def test_a_task_begins_open_whatever_came_of_the_one_before(simulator: ScienceWorldSimulator) -> None:
    first = simulator.reset("find-apple/0")
    simulator.step("focus on apple")
    simulator.step("choose 0")
    assert simulator.reset("find-apple/0") == first


def test_a_wrong_focus_loses(simulator: ScienceWorldSimulator) -> None:
    simulator.reset("find-apple/0")
    simulator.step("focus on apple")
    view = simulator.step("choose 0")
    assert (view.won, view.lost, view.score) == (False, True, 0.0)


def test_gold_commands_are_measured_up_to_the_goal_without_those_that_are_refused(
    simulator: ScienceWorldSimulator,
) -> None:
    measured = simulator.measure("find-apple/0")
    assert measured.gold == ("open door", "focus on apple", "choose 1")
    assert measured.subgoals == ("open the door", "focus on apple")
    assert not measured.problem


def test_a_gold_path_that_fails_says_how_far_it_came(
    simulator: ScienceWorldSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Server, "getGoldActionSequence", lambda self: ("open door",))
    assert simulator.measure("find-apple/0").problem == "score 0 after 1 of 1 commands"


def test_the_world_measures_what_its_bank_lacks_and_plays_on_from_the_start() -> None:
    world = Small()
    start = world.parse("find-apple/0")
    oracle: Any = world.make_oracle(start)
    assert (oracle.distance, oracle.subgoals) == (3, ("open the door", "focus on apple"))
    state = start
    for command in oracle.plan(start):
        state = world.apply(state, command)
    assert world.solved(state)
    assert oracle.subgoals_done(state) == (True, True)


def test_the_world_lists_commands_that_can_be_written_and_refuses_in_its_words() -> None:
    world = Small()
    start = world.parse("find-apple/0")
    assert world.moves(start) == ("focus on apple", "open door", "open drawer")
    assert world.refusal(start, "dunk apple in tea") == "the world does not know this command here"
    assert world.refusal(start, "open drawer") == "the world does not know this command here"
    assert world.refusal(start, "open door") is None
    lost = world.apply(world.apply(start, "focus on apple"), "choose 0")
    assert (world.moves(lost), world.failure(lost), world.refusal(lost, "open door")) == (
        (),
        "lost",
        "not possible here",
    )


def test_lists_of_the_machine_are_let_go(simulator: ScienceWorldSimulator) -> None:
    simulator.measure("find-apple/0")
    simulator.reset("find-apple/0")
    commands = simulator.commands()
    let_go = simulator._server.let_go
    assert [held for held in let_go if isinstance(held, tuple)] == [GOLD, LISTED]
    assert {type(held) for held in let_go} == {tuple, Written, Writer}
    assert commands == tuple(sorted(LISTED))


def test_a_machine_that_goes_down_while_it_is_asked_for_commands_is_asked_afresh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = Small()
    start = world.parse("find-apple/0")
    world.view(start)
    broken: Any = world.stage._live[0][1]
    broken._join = None
    assert world.moves(start) == ("focus on apple", "open door", "open drawer")
    assert broken._server is None


def test_a_world_that_goes_down_while_it_is_asked_lists_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Small()
    start = world.parse("find-apple/0")
    world.view(start)

    def fall(self: Server) -> tuple[str, ...]:
        raise OSError("broken pipe")

    monkeypatch.setattr(Server, "getValidActionObjectCombinations", fall)
    assert world.moves(start) == ()
    assert world.apply(start, "open door") == Trail("find-apple/0", ("open door",))


@pytest.mark.parametrize("law", LAWS)
def test_scienceworld_keeps_the_laws(law: str) -> None:
    check_puzzle(Small, starts=["find-apple/0"], max_examples=5, laws=[law])


def test_laws_that_scienceworld_keeps_in_part_are_listed() -> None:
    found = limits(ScienceWorld())
    assert set(found) == {"distance", "plan", "legal moves", "bad replies change nothing", "arrays"}
    assert "free text" in found["legal moves"]


def test_a_missing_package_is_named_with_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scienceworld", None)
    monkeypatch.setitem(sys.modules, "scienceworld.constants", None)
    world = ScienceWorld()
    with pytest.raises(ImportError, match=r'pip install "horizon-bench\[outside\]"'):
        world.view(world.parse("boil/0"))


def no_java(**arguments: Any) -> None:
    raise FileNotFoundError("No such file or directory: 'java'")


def java_may_not_run(**arguments: Any) -> None:
    raise PermissionError("Permission denied: 'java'")


def java_falls(redirect_stderr: Any, **arguments: Any) -> None:
    redirect_stderr.write(b"Error: Could not create the Java Virtual Machine.\n")
    int(b"")


def java_says_nothing(**arguments: Any) -> None:
    int(b"")


@pytest.mark.parametrize(
    ("launch", "kind", "reason"),
    [
        (no_java, ImportError, "No such file"),
        (java_may_not_run, ImportError, "Permission denied"),
        (java_falls, CrashError, "Could not create the Java Virtual Machine"),
        (java_says_nothing, CrashError, "invalid literal"),
    ],
)
def test_missing_or_broken_java_is_named_with_its_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launch: Any, kind: type[Exception], reason: str
) -> None:
    jar = tmp_path / "scienceworld.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("scienceworld/struct/EnvObject.class", class_file(field="uuid", method="uuid"))

    for name, content in (
        ("scienceworld", {}),
        ("scienceworld.constants", {"JAR_PATH": str(jar)}),
        ("py4j", {}),
        ("py4j.java_gateway", {"launch_gateway": launch}),
    ):
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    world = ScienceWorld()
    with pytest.raises(kind, match=rf"{reason}.*: {JAVA}"):
        world.view(world.parse("boil/0"))
