"""ReAct, plan-then-act and Reflexion: what the model is asked, turn by turn, and what is counted."""

from __future__ import annotations

import re

import pytest

from curricula import load_bank
from horizon_bench.agents import AGENTS, PlanAgent, PlaysInTurn, ReActAgent, ReflexionAgent
from horizon_bench.agents import plan as planning
from horizon_bench.agents import reflexion as reflecting
from horizon_bench.agents.observations import parts_of, with_note
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.settings import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.policies import make_policy
from horizon_bench.policies.chat import ChatSampling

SETTINGS = Settings(interface="macro", observation="text", on_error="semi", max_decisions=4)
WRONG = "<think>hm: Action: value(2, r2c2)</think>Thought: it is full.\nAction: value(1, r9c9)"


def instances(count: int = 2):
    return load_bank("T1", "test")[:count]


def observations(replies: list[str]) -> list[str]:
    env = PuzzleEnv(level="T1", observation="text", on_error="stay")
    first, _ = env.reset(seed=0)
    return [first, *(env.step(reply)[0] for reply in replies)]


def test_parts_of_a_prompt_are_the_prompt_again():
    for text in (*observations(["Because. Action: value(1, r1c1)", "nonsense", "value(2, r9c9)"]), "no prompt of ours"):
        parts = parts_of(text)
        assert "".join(parts) == text
        assert "Your last turns" not in parts.head + parts.news
        noted = with_note(text, "Your plan", "1. box one")
        assert noted.replace("Your plan:\n1. box one", "").split() == text.split()
        assert noted.endswith(parts.news)
        assert with_note(text, "Your plan", "") == text


@pytest.mark.parametrize("name", AGENTS)
def test_agents_play_on_any_chat_policy_and_need_one(name, scripted):
    agent = AGENTS[name](scripted(lambda asked, number: WRONG))
    episodes = evaluate(agent, instances(), SETTINGS, attempts=2, temperature=0.7)
    assert [(episode.group, episode.attempt) for episode in episodes] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert agent.with_sampling(max_new_tokens=7).speaker.sampling.max_new_tokens == 7
    assert agent.at_temperature(0.3).speaker.sampling.temperature == 0.3
    with pytest.raises(ValueError, match="agents prompt a chat policy"):
        AGENTS[name](make_policy("expert"))


@pytest.mark.parametrize("name", AGENTS)
def test_agents_are_known_by_name(name, random_model):
    policy = make_policy(f"{name}+hf:{random_model}", sampling=ChatSampling(max_new_tokens=3))
    assert type(policy) is AGENTS[name]
    episodes = evaluate(policy, instances(1), SETTINGS, attempts=2)
    assert all(episode.tokens >= 3 * episode.decisions for episode in episodes)


def test_agents_stand_around_each_other(random_model):
    policy = make_policy(f"reflexion+plan+react+hf:{random_model}", sampling=ChatSampling(max_new_tokens=3))
    assert [type(policy), type(policy.actor), type(policy.actor.actor)] == [ReflexionAgent, PlanAgent, ReActAgent]
    assert len(evaluate(policy, instances(1), SETTINGS, attempts=2)) == 2
    with pytest.raises(ValueError, match="put other agents around it"):
        make_policy(f"react+plan+hf:{random_model}")
    with pytest.raises(ValueError, match="unknown agent 'reakt'; did you mean 'react'"):
        make_policy(f"reakt+hf:{random_model}")


def test_react_keeps_thoughts_actions_and_observations_in_one_conversation(scripted):
    model = scripted(lambda asked, number: WRONG)
    evaluate(ReActAgent(model), instances(1), SETTINGS, attempts=1)
    first, second, third, _ = model.asked
    assert [message.role for message in third] == ["user", "assistant", "user", "assistant", "user"]
    assert first == third[:1]
    assert second == third[:3]
    assert third[1].content == "Thought: it is full.\nAction: value(1, r9c9)"
    assert third[2].content.startswith("Observation: Feedback: nothing was carried out: unknown action")
    assert "Fill every blank" in third[0].content
    assert "Fill every blank" not in third[2].content
    assert all("Your last turns" not in message.content and "<think>" not in message.content for message in third[1:])


def test_react_forgets_the_oldest_turns_but_never_the_task(scripted):
    model = scripted(lambda asked, number: WRONG)
    evaluate(ReActAgent(model, turns=1), instances(1), SETTINGS, attempts=1)
    last = model.asked[-1]
    assert [message.role for message in last] == ["user", "assistant", "user"]
    assert last[0] == model.asked[0][0]


def test_react_ends_a_reply_before_a_made_up_observation(scripted):
    agent = ReActAgent(scripted(lambda asked, number: WRONG, ChatSampling(stop=("END",))))
    assert agent.speaker.sampling.stop == ("END", "\nObservation:")
    assert agent.at_temperature(0.5).speaker.sampling.stop == ("END", "\nObservation:")


def test_episodes_do_not_mix_their_memories(scripted):
    """Two instances side by side: every conversation is about one board only."""
    model = scripted(lambda asked, number: WRONG)
    evaluate(ReActAgent(model), instances(2), SETTINGS, attempts=2)
    boards = [instance.start for instance in instances(2)]
    for asked in model.asked:
        shown = ["".join(char for char in message.content.rpartition("Board:\n")[2] if char in "1234.") for message in
                 asked if message.role == "user"]  # fmt: skip
        assert len({boards.index(board) for board in shown}) == 1


def test_a_plan_is_made_once_and_shown_in_every_decision(scripted):
    def answer(asked, number):
        return f"<think>x</think>1. plan {number}" if asked[-1].content.endswith(planning.REQUEST) else WRONG

    model = scripted(answer)
    (episode,) = evaluate(PlanAgent(model), instances(1), SETTINGS, attempts=1)
    request, *decisions = [asked[-1].content for asked in model.asked]
    assert request.endswith(planning.REQUEST)
    plans = {text.split("Your plan:\n")[1].split("\n")[0] for text in decisions}
    assert len(decisions) == 4
    assert len(plans) == 1
    assert plans.pop().startswith("1. plan")
    plan_tokens = len(["<think>x</think>1.", "plan", "7"])
    assert episode.turns[0].tokens == len(WRONG.split()) + plan_tokens
    assert episode.turns[1].tokens == len(WRONG.split())


def test_replanning_sees_the_old_plan(scripted):
    def answer(asked, number):
        return f"1. plan {number}" if asked[-1].content.endswith(planning.REQUEST) else WRONG

    model = scripted(answer)
    evaluate(PlanAgent(model, replan_every=2), instances(1), SETTINGS, attempts=1)
    requests = [asked[-1].content for asked in model.asked if asked[-1].content.endswith(planning.REQUEST)]
    assert ["Your plan:\n1. plan" in text for text in requests] == [False, True]
    with pytest.raises(ValueError, match="replan_every"):
        PlanAgent(model, replan_every=-1)


def test_reflexion_reads_in_the_next_attempt_what_it_wrote_after_the_last(scripted):
    def answer(asked, number):
        return f"<think>secret</think>Lesson {number}." if asked[-1].content.endswith(reflecting.REQUEST) else WRONG

    model = scripted(answer)
    agent = ReflexionAgent(model, memory=2)
    assert isinstance(agent, PlaysInTurn)
    episodes = evaluate(agent, instances(1), SETTINGS, attempts=4)
    reflections = [asked[-1].content for asked in model.asked if asked[-1].content.endswith(reflecting.REQUEST)]
    assert len(reflections) == 3, "nothing is learned from the last attempt, as none follows"
    assert "The task is not solved: the replies were used up." in reflections[0]
    assert re.findall(r"Reply (\d):", reflections[0]) == list("1234")
    assert [text.count("- Lesson") for text in reflections] == [0, 1, 2]
    assert "secret" not in "".join(reflections)
    firsts = [asked[-1].content for asked in model.asked if asked[-1].content not in reflections][::4]
    assert [text.count("- Lesson ") for text in firsts] == [0, 1, 2, 2]
    charged = [episode.turns[-1].tokens - len(WRONG.split()) for episode in episodes]
    assert charged == [2, 2, 2, 0]


def test_reflexion_is_silent_about_what_was_solved(scripted):
    from solvers import oracle as make_oracle

    instance = instances(1)[0]
    env = PuzzleEnv(instance=instance.start, observation="text")
    state, oracle = env.puzzle.parse(instance.start), None
    oracle = make_oracle(env.puzzle, state)
    solution = []
    while moves := oracle.expert_moves(state):
        solution.append(env.puzzle.format_action(moves[0]))
        state = env.puzzle.apply(state, moves[0])
    model = scripted(lambda asked, number: " ".join(solution))
    episodes = evaluate(ReflexionAgent(model), [instance], SETTINGS, attempts=3)
    assert all(episode.solved for episode in episodes)
    assert len(model.asked) == 3


def test_evaluations_repeat_exactly(scripted):
    def run():
        model = scripted(
            lambda asked, number: f"value({number % 4 + 1}, r{number // 4 % 4 + 1}c{number // 16 % 4 + 1})"
        )
        agent = ReflexionAgent(PlanAgent(ReActAgent(model)))
        return [[turn.reply for turn in episode.turns] for episode in evaluate(agent, instances(2), SETTINGS, seed=5)]

    assert run() == run()
