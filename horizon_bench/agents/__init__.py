"""Prompted agents, baselines without training, on any chat policy, by name `react+MODEL`. Torch-free."""

from __future__ import annotations

from collections.abc import Callable

from horizon_bench.agents.base import Agent, PlaysInTurn, speaker_of
from horizon_bench.agents.milestones import MilestoneAgent
from horizon_bench.agents.plan import PlanAgent
from horizon_bench.agents.react import ReActAgent
from horizon_bench.agents.reflexion import ReflexionAgent
from horizon_bench.policies.base import Policy

AGENTS: dict[str, Callable[[Policy], Agent]] = {
    "react": ReActAgent,
    "reflexion": ReflexionAgent,
    "plan": PlanAgent,
    "milestones": MilestoneAgent,
}
"""Agents by name; `reflexion+react+hf:FOLDER` puts one around the other."""

__all__ = [
    "AGENTS",
    "Agent",
    "MilestoneAgent",
    "PlanAgent",
    "PlaysInTurn",
    "ReActAgent",
    "ReflexionAgent",
    "speaker_of",
]
