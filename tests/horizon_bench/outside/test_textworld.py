from __future__ import annotations

import itertools
import sys
from collections import Counter
from pathlib import Path

import gymnasium
import pytest

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.settings import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.outside import textworld_games
from horizon_bench.outside.textworld import TextWorld
from horizon_bench.outside.textworld_bank import BANK, LEVELS, Bank, Banked, content_key, read_bank, write_bank
from horizon_bench.outside.textworld_games import Fact, Game
from horizon_bench.outside.textworld_played import TextWorldPlayed
from horizon_bench.outside.textworld_rules import kind_of
from horizon_bench.policies.expert import ExpertPolicy
from horizon_bench.testing import LAWS, check_puzzle, limits
from solvers.breadth_first import BreadthFirstOracle
from studies.own_puzzle import scale_of, starts_of

SPEC = "horizon_bench.outside.textworld:TextWorld"
WORLD = TextWorld()
TWO_ROOMS: tuple[Fact, ...] = (
    ("at", "P", "r_0"),
    ("at", "c_0", "r_1"),
    ("at", "s_0", "r_0"),
    ("at", "k_0", "r_0"),
    ("link", "r_0", "d_0", "r_1"),
    ("link", "r_1", "d_0", "r_0"),
    ("north_of", "r_1", "r_0"),
    ("south_of", "r_0", "r_1"),
    ("locked", "c_0"),
    ("match", "k_0", "c_0"),
)
QUESTS: dict[str, tuple[tuple[Fact, ...], tuple[tuple[str, ...], ...]]] = {
    "fetch": (
        (("closed", "d_0"), ("in", "f_0", "c_0")),
        (
            ("take", "P", "r_0", "k_0", "I"),
            ("open/d", "P", "r_0", "d_0", "r_1"),
            ("go/north", "P", "r_0", "r_1"),
            ("unlock/c", "P", "r_1", "c_0", "k_0", "I"),
            ("open/c", "P", "r_1", "c_0"),
            ("take/c", "P", "r_1", "c_0", "f_0", "I"),
            ("eat", "f_0", "I"),
        ),
    ),
    "shut": (
        (("open", "d_0"), ("free", "r_0", "r_1"), ("free", "r_1", "r_0"), ("in", "o_0", "I")),
        (
            ("take", "P", "r_0", "k_0", "I"),
            ("go/north", "P", "r_0", "r_1"),
            ("unlock/c", "P", "r_1", "c_0", "k_0", "I"),
            ("open/c", "P", "r_1", "c_0"),
            ("insert", "P", "r_1", "c_0", "o_0", "I"),
            ("go/south", "P", "r_1", "r_0"),
            ("close/d", "P", "r_0", "d_0", "r_1"),
        ),
    ),
}


@pytest.fixture
def small(tmp_path: Path, request: pytest.FixtureRequest) -> TextWorld:
    """A world of two rooms, small enough to be walked through."""
    extra, quest = QUESTS[request.param]
    game = Game(1, tuple(sorted(TWO_ROOMS + extra)), tuple(map(_in_order, quest)))
    path = tmp_path / "small.json.gz"
    write_bank(Bank("0", WORLD.bank.rules, (Banked(game, "small", (len(quest),)),)), path)
    return TextWorld(path)


def _in_order(step: tuple[str, ...]) -> tuple[str, ...]:
    """Return a step with its arguments in the order of the rule's parameters."""
    rule = next(rule for rule in WORLD.bank.rules if rule.name == step[0])
    left, found = list(step[1:]), []
    parents = {"k": "o", "f": "o"}
    for _, kind in rule.parameters:
        for thing in left:
            own = thing.partition("_")[0]
            if kind in (own, parents.get(own)):
                found.append(thing)
                left.remove(thing)
                break
    return (step[0], *found)


def test_the_bank_has_starts_of_every_level_and_split() -> None:
    for level, split in itertools.product(LEVELS, ("train", "validation", "test")):
        assert len(WORLD.starts(level, split)) >= 12
    keys = {
        split: {WORLD.key_of(text).split("-")[0] for level in LEVELS for text in WORLD.starts(level, split)}
        for split in ("train", "validation", "test")
    }
    assert not keys["train"] & keys["test"]
    assert not keys["validation"] & (keys["train"] | keys["test"])


def test_every_game_has_the_same_size() -> None:
    for banked in WORLD.bank.games:
        kinds = Counter(map(kind_of, {argument for fact in banked.game.facts for argument in fact[1:]}))
        assert kinds["r"] == textworld_games.ROOMS
        assert sum(count for kind, count in kinds.items() if kind not in textworld_games.FIXED) == 12
        assert len(banked.game.quest) == textworld_games.QUEST_LENGTH


@pytest.mark.parametrize("level", LEVELS)
def test_the_expert_ends_every_quest_at_its_distance(level: str) -> None:
    least, most = LEVELS[level]
    for text in WORLD.starts(level, "test")[::9]:
        start = state = WORLD.parse(text)
        oracle = WORLD.make_oracle(start)
        number, done = map(int, text.split("-")[1:3])
        assert least <= oracle.distance <= most
        assert oracle.distance == WORLD.bank.games[number].distances[done]
        for move in oracle.plan(start) or ():
            assert move in WORLD.moves(state)
            state = WORLD.apply(state, move)
        assert WORLD.solved(state)
        assert all(WORLD.subgoals_done(start, state))


@pytest.mark.parametrize("interface", ["atomic", "macro", "macro-stepwise", "macro-capped-3"])
def test_the_expert_solves_under_every_interface(interface: str) -> None:
    policy = ExpertPolicy(1 if interface == "atomic" else 3)
    chosen = [one for level in LEVELS for one in starts_of(SPEC, level, "test", 2)]
    for episode in evaluate(policy, chosen, Settings(interface=interface, reward="subgoal"), 1):
        assert episode.solved
        assert episode.atomic_steps == episode.distance
        assert sum(turn.reward for turn in episode.turns) == pytest.approx(2.0)


@pytest.mark.parametrize("law", LAWS)
def test_textworld_keeps_every_law(law: str) -> None:
    starts = [*WORLD.starts("W2", "train")[:3], *WORLD.starts("W4", "train")[:1]]
    check_puzzle(SPEC, starts=starts, max_examples=5, laws=[law])
    assert limits(WORLD) == {}


@pytest.mark.parametrize("small", QUESTS, indirect=True)
def test_distances_agree_with_a_search_over_all_actions(small: TextWorld) -> None:
    start = small.parse("house-0-0-0")
    whole, oracle = BreadthFirstOracle(small, start), small.make_oracle(start)
    assert whole.distance == oracle.distance
    seen, waiting = {start}, [start]
    while waiting and len(seen) < 1500:
        state = waiting.pop()
        assert oracle.distance_to_go(state) == whole.distance_to_go(state)
        for move in small.moves(state):
            after = small.apply(state, move)
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    assert len(seen) > 400


@pytest.mark.parametrize("small", ["fetch"], indirect=True)
def test_a_quest_can_end_with_food_and_with_nothing_left_to_do(small: TextWorld) -> None:
    state = small.parse("house-0-0-0")
    for move in small.make_oracle(state).plan(state) or ():
        state = small.apply(state, move)
    assert state.start == "house-0-0-0"
    assert small.solved(state)
    assert small.moves(state) == ()
    assert "eaten" in small.compact(state)


def test_a_command_is_read_in_words_and_in_tokens() -> None:
    env = PuzzleEnv(puzzle=TextWorld, level="W3", split="test", interface="macro", on_error="stay")
    env.reset(seed=1)
    plan = env.oracle.plan(env.state)
    assert plan is not None
    words = ", then ".join(plan[:3])
    assert env.step(f"First the nearest steps. Action: {words.upper()}")[4]["moves"] == plan[:3]
    tokens = " ".join(token for move in plan[3:6] for token in env.puzzle.compact_action(move))
    assert env.step(tokens)[4]["moves"] == plan[3:6]
    assert env.step("dance on the table")[4]["format_ok"] is False


def test_names_are_drawn_anew_and_the_key_stays() -> None:
    first, second = (WORLD.parse(f"house-0-3-{label}") for label in (0, 1))
    assert WORLD.key(first) == WORLD.key(second)
    assert WORLD.compact(first) != WORLD.compact(second)
    assert WORLD.make_oracle(first).distance == WORLD.make_oracle(second).distance


def test_the_content_key_forgets_names_and_compass_points() -> None:
    game = WORLD.bank.games[0].game
    other = {f"r_{index}": f"r_{(index + 1) % 6}" for index in range(6)}
    turned = {"north_of": "east_of", "east_of": "south_of", "south_of": "west_of", "west_of": "north_of"}
    turned |= {"go/north": "go/east", "go/east": "go/south", "go/south": "go/west", "go/west": "go/north"}
    facts = [tuple(turned.get(word, other.get(word, word)) for word in fact) for fact in game.facts]
    quest = tuple(tuple(turned.get(word, other.get(word, word)) for word in step) for step in game.quest)
    assert content_key(Game(0, tuple(facts), quest)) == content_key(game)
    assert len({banked.key for banked in WORLD.bank.games}) == len(WORLD.bank.games)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("house-99999-0-0", "the bank has games 0 to"),
        ("house-0-20-0", "has 20 actions"),
        ("12", "is no start; write"),
        ("house-0-05-0", "write house-0-5-0"),
        ("house-\N{ARABIC-INDIC DIGIT THREE}-0-0", "is no start; write"),
    ],
)
def test_a_text_that_is_no_start_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        gymnasium.make("horizon_bench/TextWorld-v0", instance=text)


def test_an_unknown_level_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="W1"):
        gymnasium.make("horizon_bench/TextWorld-v0", level="W9")


def test_a_file_that_is_no_bank_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bank.json.gz").write_text("nothing")
    with pytest.raises(ValueError, match="is no bank of TextWorld games"):
        read_bank(tmp_path / "bank.json.gz")


def test_a_bank_is_written_as_it_was_read(tmp_path: Path) -> None:
    write_bank(read_bank(), tmp_path / "bank.json.gz")
    assert (tmp_path / "bank.json.gz").read_bytes() == BANK.read_bytes()


def test_without_the_package_new_games_are_refused_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textworld", None)
    monkeypatch.setitem(sys.modules, "textworld.generator.data", None)
    textworld_games._knowledge.cache_clear()
    with pytest.raises(ImportError, match=r'pip install "horizon-bench\[outside\]"'):
        textworld_games.package_rules()


def test_without_the_package_the_interpreter_is_refused_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textworld", None)
    env = PuzzleEnv(puzzle=TextWorldPlayed, level="W1", split="test")
    with pytest.raises(ImportError, match=r'pip install "horizon-bench\[outside\]"'):
        env.reset(seed=0)


def test_studies_take_the_levels_of_the_world() -> None:
    scale = scale_of(SPEC)
    assert (scale.short, scale.long) == (("W1",), ("W2",))
    assert [one.level for one in starts_of(SPEC, "W3", "test", 2)] == ["W3", "W3"]
