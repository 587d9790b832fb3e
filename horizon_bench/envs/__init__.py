"""Environments: any puzzle as text, tokens or arrays, under every action interface, reward and error rule."""

from horizon_bench.envs.core import Game
from horizon_bench.envs.decisions import Decision, Snapshot
from horizon_bench.envs.interfaces import INTERFACES, ActionInterface, Interface, find_interface
from horizon_bench.envs.parsing import ParsedReply, ReplyParser
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.registration import ready_id, register_puzzle
from horizon_bench.envs.rewards import REWARDS, RewardFacts
from horizon_bench.envs.settings import OBSERVATIONS, ON_ERROR, ON_VOID, THOUGHTS, Settings

__all__ = [
    "INTERFACES",
    "OBSERVATIONS",
    "ON_ERROR",
    "ON_VOID",
    "REWARDS",
    "THOUGHTS",
    "ActionInterface",
    "Decision",
    "Game",
    "Interface",
    "ParsedReply",
    "PuzzleEnv",
    "ReplyParser",
    "RewardFacts",
    "Settings",
    "Snapshot",
    "find_interface",
    "ready_id",
    "register_puzzle",
]
