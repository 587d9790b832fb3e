import numpy as np
import pytest

pytest.importorskip("torch")

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.milestones import MilestonePlan, MilestonePolicy, read_condition, solver_plan
from horizon_bench.milestones.field import DONE, NONE, OPEN, Guide, field_tokens, usual_slots, with_field
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.rollout import rollout
from horizon_bench.training.configs import SftConfig
from horizon_bench.training.sft import build_rows
from puzzles import PUZZLES
from solvers import oracle

SUDOKU, RUSH = PUZZLES["sudoku"](size=4), PUZZLES["rush-hour"]()
START = load_bank("T2", "validation")[0].start


def known(puzzle=SUDOKU, start=START):
    return oracle(puzzle, puzzle.parse(start))


@pytest.fixture(scope="module")
def with_slots():
    return TinyPolicy.create(SUDOKU, 16, hidden_size=16, layers=1, milestone_slots=4)


def test_every_box_has_its_slot_and_the_current_one_is_named():
    one = known()
    plan = solver_plan(SUDOKU, one)
    state = one.start
    seen = []
    for move in (*one.plan(state), None):
        done = plan.done(state)
        *slots, current = field_tokens(SUDOKU, 4, plan, done)
        expected = [NONE] * 4
        for name, met in zip((each.text for each in plan.milestones), done, strict=True):
            expected[int(name[1:]) - 1] = DONE if met else OPEN
        assert slots == expected
        assert current == (NONE if all(done) else plan.milestones[done.index(False)].text)
        seen.append(current)
        state = state if move is None else SUDOKU.apply(state, move)
    assert seen[-1] == NONE
    assert len(set(seen)) == len(plan) + 1


def test_rush_hour_slots_follow_the_plan():
    one = known(RUSH, load_bank("R2", "validation")[0].start)
    plan = solver_plan(RUSH, one)
    assert usual_slots(RUSH) == 4
    tokens = field_tokens(RUSH, 4, plan, (True, *[False] * (len(plan) - 1)))
    assert tokens[0] == DONE
    assert tokens[-1] == "<m2>"


def test_a_milestone_without_a_slot_is_named():
    one = known()
    with pytest.raises(ValueError, match="row 1"):
        field_tokens(SUDOKU, 4, MilestonePlan((read_condition(SUDOKU, one, "row 1"),)), (False,))
    boxes = MilestonePlan((read_condition(SUDOKU, one, "box 2"),))
    assert field_tokens(SUDOKU, 4, boxes, (False,)) == (NONE, OPEN, NONE, NONE, "b2")


def test_the_field_stands_before_the_mode():
    assert with_field("1 2 <ok> <atomic>", (OPEN, "b1")) == "1 2 <ok> <open> b1 <atomic>"


def test_a_model_without_the_field_has_the_same_weights_and_tokens_as_ever():
    plain = TinyPolicy.create(SUDOKU, 16, hidden_size=16, layers=1)
    assert plain.milestone_slots == 0
    assert plain.prompt_length == 18
    assert DONE not in plain.ids
    fielded = TinyPolicy.create(SUDOKU, 16, hidden_size=16, layers=1, milestone_slots=4)
    assert {word: fielded.ids[word] for word in plain.ids} == plain.ids
    assert fielded.prompt_length == 18 + 5


def test_models_with_and_without_the_field_load_again(with_slots, tmp_path):
    import json

    with_slots.save(tmp_path / "new")
    assert TinyPolicy.load(tmp_path / "new").milestone_slots == 4
    TinyPolicy.create(SUDOKU, 16, hidden_size=16, layers=1).save(tmp_path / "old")
    config = tmp_path / "old" / "config.json"
    values = json.loads(config.read_text())
    del values["milestone_slots"]  # as models were saved before there was a field
    config.write_text(json.dumps(values))
    assert TinyPolicy.load(tmp_path / "old").milestone_slots == 0


def test_the_wrapper_fills_the_field_and_counts_its_tokens(with_slots):
    wrapper = MilestonePolicy(with_slots)
    chosen = load_bank("T1", "validation")[:2]
    episodes = rollout(wrapper, chosen, Settings(observation="compact"), attempts=2)
    turns = [turn for episode in episodes for turn in episode.turns]
    assert all(len(turn.prompt_ids) == 23 for turn in turns)
    words = [with_slots.words[index] for index in episodes[0].turns[0].prompt_ids]
    plan = solver_plan(SUDOKU, known(start=chosen[0].start))
    assert tuple(words[17:22]) == field_tokens(SUDOKU, 4, plan, (False,) * len(plan))
    assert wrapper.costs.prompt_tokens == 5 * len(turns)


def test_a_model_without_the_field_says_how_to_get_one(with_slots):
    plain = TinyPolicy.create(SUDOKU, 16, hidden_size=16, layers=1)
    chosen = load_bank("T1", "validation")[:1]
    with pytest.raises(ValueError, match="milestone_slots"):
        rollout(MilestonePolicy(plain), chosen, Settings(observation="compact"))
    with pytest.raises(ValueError, match="board, feedback, milestones, mode"):
        rollout(with_slots, chosen, Settings(observation="compact"))


def test_the_guided_expert_works_on_the_current_milestone():
    guide, one = Guide(SUDOKU, 4), known()
    plan, state = solver_plan(SUDOKU, one), one.start
    expert, rng = guide.expert(one), np.random.default_rng(0)
    assert expert.distance == one.distance
    while moves := one.expert_moves(state):
        chosen, tokens = expert.expert_moves(state), guide.tokens(expert, state)
        wanted = one.subgoals.index(tokens[-1])
        there = [move for move in moves if one.own_subgoal(state, move) == wanted]
        assert list(chosen) == (there or list(moves))
        assert tokens == field_tokens(SUDOKU, 4, plan, plan.done(state))
        state = SUDOKU.apply(state, chosen[rng.integers(len(chosen))])
    assert expert.expert_moves(state) == ()
    assert Guide(SUDOKU, 0).expert(one) is one
    assert Guide(SUDOKU, 0).tokens(one, state) == ()


def test_rows_of_supervised_training_hold_the_field(with_slots):
    config = SftConfig(steps=1, boards=4, accuracy_states=0)
    rows, _ = build_rows(with_slots, SUDOKU, load_bank("T1", "train")[:3], config, np.random.default_rng(0))
    for ids in rows["input_ids"]:
        words = [with_slots.words[index] for index in ids[17:22]]
        assert set(words[:4]) <= {DONE, OPEN, NONE}
        assert words[4] in ("b1", "b2", "b3", "b4")
