"""Milestones while playing: a plan, a checker of what is done, a wrapper that shows it to any policy, plans by models.

Torch-free. Rewards know the same milestones as subgoals (`horizon_bench.envs.rewards`); here they guide decisions.
"""

from horizon_bench.milestones.checking import Checker, ModelJudge, ProgramChecker
from horizon_bench.milestones.conditions import CONDITIONS, Condition, read_condition
from horizon_bench.milestones.generation import (
    Generated,
    ModelPlanner,
    ask_policy,
    generate_plan,
    generation_prompt,
    random_plan,
    read_plan,
)
from horizon_bench.milestones.plan import Milestone, MilestonePlan, solver_plan
from horizon_bench.milestones.policy import MilestoneCosts, MilestonePolicy
from horizon_bench.milestones.prediction import Prediction, predict_success

__all__ = [
    "CONDITIONS",
    "Checker",
    "Condition",
    "Generated",
    "Milestone",
    "MilestoneCosts",
    "MilestonePlan",
    "MilestonePolicy",
    "ModelJudge",
    "ModelPlanner",
    "Prediction",
    "ProgramChecker",
    "ask_policy",
    "generate_plan",
    "generation_prompt",
    "predict_success",
    "random_plan",
    "read_condition",
    "read_plan",
    "solver_plan",
]
