import numpy as np

from curricula import load_bank
from horizon_bench.agents import AGENTS
from horizon_bench.envs.settings import Settings
from horizon_bench.policies import Reply
from horizon_bench.policies.chat import ChatSampling, Chatting
from horizon_bench.rollout import rollout


class Claiming(Chatting):
    """A chat model that claims everything and fills in nothing."""

    def __init__(self, sampling=None):
        self.sampling = sampling or ChatSampling()
        self.asked = []

    def with_sampling(self, **changes):
        other = Claiming(self.sampling.changed(**changes))
        other.asked = self.asked
        return other

    def chat(self, conversations, generators):
        self.asked += [conversation[-1].content for conversation in conversations]
        return [Reply("Milestones: 1111; next: none\nAction: none", reply_ids=np.arange(7)) for _ in conversations]


def test_milestones_by_name_prompt_a_chat_model_block_its_claims_and_share_costs():
    model = Claiming()
    agent = AGENTS["milestones"](model)
    one = next(each for each in load_bank("T3", "validation") if each.distance >= 8)
    episode = rollout(agent.at_temperature(0.5), [one], Settings(max_decisions=3))[0]
    assert not episode.solved
    assert episode.tokens == 21
    assert agent.costs.decisions == 3
    assert agent.costs.blocked >= 3
    assert "Blocked: you claimed milestone 1" in model.asked[1]
    assert "[done]" not in model.asked[2]
