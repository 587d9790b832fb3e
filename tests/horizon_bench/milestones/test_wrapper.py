import json
from types import SimpleNamespace

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.settings import Settings
from horizon_bench.milestones import (
    MilestonePlan,
    MilestonePolicy,
    ModelJudge,
    ModelPlanner,
    ProgramChecker,
    read_condition,
    solver_plan,
)
from horizon_bench.milestones.plan import current_of
from horizon_bench.policies import Reply, make_policy
from horizon_bench.rollout import rollout
from puzzles import PUZZLES
from solvers import oracle


class Scripted:
    """Replies with what a function makes of each prompt, and keeps the prompts."""

    def __init__(self, write):
        self.write, self.prompts = write, []

    def reply(self, observations, seats, generators):
        self.prompts += observations
        return [Reply(self.write(observation, seat)) for observation, seat in zip(observations, seats, strict=True)]

    def at_temperature(self, temperature):
        return self


def right_action(seat):
    return seat.puzzle.format_action(seat.oracle.expert_moves(seat.state)[0])


def instance(level="T2", index=0):
    return load_bank(level, "validation")[index]


def claiming(line):
    """Return a policy that plays right and begins each reply with a reflection."""
    return Scripted(lambda observation, seat: f"{line}\n{right_action(seat)}")


@pytest.mark.parametrize(
    ("level", "puzzle", "size"), [("T3", "sudoku", 4), ("M2", "sudoku", 6), ("R2", "rush-hour", 6)]
)
def test_a_solver_plan_is_met_in_its_own_order_on_the_solvers_way(level, puzzle, size):
    rules = PUZZLES[puzzle](size=size) if puzzle == "sudoku" else PUZZLES[puzzle]()
    for one in load_bank(level, "validation")[:3]:
        known = oracle(rules, rules.parse(one.start))
        plan, state = solver_plan(rules, known), known.start
        met = [plan.done(state)]
        for move in known.plan(state):
            state = rules.apply(state, move)
            met.append(plan.done(state))
        assert not any(met[0])
        assert all(met[-1])
        firsts = [next(index for index, done in enumerate(met) if done[place]) for place in range(len(plan))]
        assert firsts == sorted(firsts)
        assert {each.text for each in plan.milestones} <= set(known.subgoals)


def test_the_prompt_shows_the_plan_before_the_board_and_costs_are_counted():
    policy = claiming("Milestones: 0000; current: open; next: 1")
    wrapper = MilestonePolicy(policy)
    episode = rollout(wrapper, [instance()], Settings())[0]
    assert episode.solved
    prompt = policy.prompts[0]
    assert prompt.index("Milestones:") < prompt.index("Board:")
    assert "1. [current] box" in prompt
    assert "[done]" in policy.prompts[-1]
    costs = wrapper.costs
    assert costs.decisions == len(policy.prompts) == episode.decisions
    added = sum(
        len(shown.split()) - len(turn.observation.split())
        for shown, turn in zip(policy.prompts, episode.turns, strict=True)
    )
    assert costs.prompt_tokens == added
    assert costs.reply_tokens == 6 * episode.decisions
    assert "prompt" in costs.text()


def test_a_reflection_costs_tokens_but_is_no_action():
    policy = claiming("Milestones: 0; current: open; next: 1")
    environment = PuzzleEnv(instance=instance().start, size=4)
    observation, info = environment.reset(seed=0)
    wrapper = MilestonePolicy(policy)
    reply = wrapper.reply([observation], [environment], [np.random.default_rng(0)])[0]
    assert "Milestones" not in reply.text
    *_, info = environment.step(reply.text)
    assert info["format_ok"]
    assert info["tokens"] == 8  # six words of the reflection, two of the action


@pytest.mark.parametrize(
    "line",
    [
        "Milestones: 1111",
        "Milestones: current 1 done",
        "milestones: 0000; current: open; next: 2",
        "Milestones: current: yes",
    ],
)
def test_a_claimed_but_unmet_milestone_is_blocked(line):
    plan_length = len(solver_plan_of(instance()))
    line = line.replace("1111", "1" * plan_length).replace("0000", "0" * plan_length)
    policy = claiming(line)
    environment = PuzzleEnv(instance=instance().start, size=4)
    observation, _ = environment.reset(seed=0)
    wrapper = MilestonePolicy(policy)
    reply = wrapper.reply([observation], [environment], [np.random.default_rng(0)])[0]
    tracker = wrapper.tracker(environment)
    assert 0 in tracker.blocked
    assert tracker.current == 0
    assert wrapper.costs.blocked == len(tracker.blocked)
    observation, *_ = environment.step(reply.text)
    wrapper.reply([observation], [environment], [np.random.default_rng(0)])
    assert "Blocked: you claimed milestone 1, which is not met" in policy.prompts[1]
    assert "1. [current]" in policy.prompts[1]


def solver_plan_of(one):
    rules = PUZZLES["sudoku"](size=one.size)
    return solver_plan(rules, oracle(rules, rules.parse(one.start)))


def test_true_claims_are_confirmed_and_hidden_marks_follow_them_only():
    one, plan = instance(), solver_plan_of(instance())
    honest = Scripted(
        lambda observation, seat: (
            "Milestones: " + "".join("01"[done] for done in plan.done(seat.state)) + f"\n{right_action(seat)}"
        )
    )
    silent = Scripted(lambda observation, seat: right_action(seat))
    for policy, marked in ((honest, True), (silent, False)):
        wrapper = MilestonePolicy(policy, reveal=False)
        episode = rollout(wrapper, [one], Settings())[0]
        assert episode.solved
        assert wrapper.costs.blocked == 0
        assert any("[done]" in prompt for prompt in policy.prompts) is (marked and len(plan) > 1)
        assert wrapper.costs.reflections == (episode.decisions if marked else 0)


def test_every_episode_of_a_seat_begins_with_its_own_plan():
    policy = claiming("Milestones: 1")
    wrapper = MilestonePolicy(policy)
    first = rollout(wrapper, [instance(index=0)], Settings())[0]
    second = rollout(wrapper, [instance(index=1)], Settings())[0]
    assert first.solved
    assert second.solved
    for index, episode in ((0, first), (first.decisions, second)):
        assert "Blocked" not in policy.prompts[index]
        assert "[done]" not in policy.prompts[index]
        assert policy.prompts[index].split("Board:\n")[1] == episode.turns[0].observation.split("Board:\n")[1]


def test_many_lanes_at_once_equal_single_ones():
    chosen = load_bank("T2", "validation")[:4]
    together = rollout(MilestonePolicy(claiming("Milestones: 1")), chosen, Settings(), attempts=2)
    alone = [rollout(MilestonePolicy(claiming("Milestones: 1")), [one], Settings(), attempts=2) for one in chosen]
    assert [episode.turns[-1].reply for episode in together] == [
        each.turns[-1].reply for pair in alone for each in pair
    ]


@pytest.mark.parametrize("name", ["expert", "random", "noisy-expert"])
@pytest.mark.parametrize("observation", ["text", "compact"])
def test_policies_that_read_no_prompt_play_as_ever(name, observation):
    chosen, settings = load_bank("R1", "validation")[:3], Settings(observation=observation, on_error="stay")
    plain = rollout(make_policy(name), chosen, settings, seed=4)
    wrapped = rollout(MilestonePolicy(make_policy(name)).at_temperature(0.5), chosen, settings, seed=4)
    assert [one.turns[-1].reply for one in plain] == [one.turns[-1].reply for one in wrapped]


def test_rules_see_a_full_box_where_the_solver_sees_a_wrong_one():
    one = instance("T3")
    rules = PUZZLES["sudoku"](size=4, overwrite=True)
    known = oracle(rules, rules.parse(one.start))
    plan = solver_plan(rules, known)
    wrong = bytes(held or known.solution[cell] % 4 + 1 for cell, held in enumerate(known.start.values))
    seat = SimpleNamespace(state=known.start._replace(values=wrong))
    assert not any(ProgramChecker("solver").done(plan, seat))
    boxes = MilestonePlan(tuple(read_condition(rules, known, f"box {each.text[1:]}") for each in plan.milestones))
    assert all(ProgramChecker("rules").done(boxes, seat))
    assert not any(ProgramChecker("solver").done(boxes, seat))
    with pytest.raises(ValueError, match="guess"):
        ProgramChecker("guess")


def test_a_judge_confirms_only_what_it_clearly_answers_and_its_tokens_count():
    answers = iter(["1: yes\n2: perhaps\n3. No", "what?", "12: yes"])
    judge = ModelJudge(lambda prompt: next(answers))
    wrapper = MilestonePolicy(Scripted(lambda observation, seat: right_action(seat)), checker=judge)
    environment = PuzzleEnv(instance=instance().start, size=4)
    observation, _ = environment.reset(seed=0)
    for expected in (True, False, False):
        wrapper.reply([observation], [environment], [np.random.default_rng(0)])
        assert wrapper.tracker(environment).done[0] is expected
        assert not any(wrapper.tracker(environment).done[1:])
        environment.game.decisions += 1
    assert wrapper.costs.judge_tokens > 60


def test_a_judge_is_not_taken_at_its_thoughts():
    rules = PUZZLES["sudoku"](size=4)
    known = oracle(rules, rules.parse(instance().start))
    seat = SimpleNamespace(state=known.start, puzzle=rules)
    judge = ModelJudge(lambda prompt: "<think>Is it 1: yes, 2: yes?</think>\nI cannot tell.")
    assert not any(judge.done(solver_plan(rules, known), seat))


def test_current_is_the_first_unmet_milestone():
    assert [current_of(done) for done in ((False, True), (True, False), (True, True), ())] == [0, 1, None, None]


def test_a_model_plans_each_episode_once_and_its_tokens_count():
    one = instance()
    rows = [f"row {row + 1}" for row in range(4) if "." in one.start[4 * row : 4 * row + 4]]
    answers = iter([json.dumps({"milestones": rows}), "no plan"])
    planner = ModelPlanner(lambda prompt: next(answers), (instance(index=1).start,), tries=1)
    policy = Scripted(lambda observation, seat: right_action(seat))
    wrapper = MilestonePolicy(policy, planner=planner)
    episodes = rollout(wrapper, [one], Settings(), attempts=2)
    assert all(episode.solved for episode in episodes)
    assert [made.from_model for made in planner.made] == [True, False]
    assert "row" in policy.prompts[0].split("Milestones:")[1].split("Board:")[0]
    assert "box" in policy.prompts[1].split("Milestones:")[1].split("Board:")[0]
    texts = [text for made in planner.made for pair in made.prompts for text in pair]
    assert wrapper.costs.plan_tokens == sum(len(text.split()) for text in texts)


def test_a_plan_without_milestones_leaves_the_field_of_a_small_model_empty():
    from horizon_bench.policies.tiny import TinyPolicy

    policy = TinyPolicy.create(PUZZLES["sudoku"](size=4), 16, hidden_size=16, layers=1, milestone_slots=4)
    wrapper = MilestonePolicy(policy, planner=lambda seat: MilestonePlan(()))
    episode = rollout(wrapper, [instance()], Settings(observation="compact", max_decisions=1))[0]
    shown = policy.tokenizer.decode(episode.turns[0].prompt_ids)
    assert shown.split()[-6:] == [*["<none>"] * 5, "<atomic>"]
