"""Property tests for anyone's puzzle: `check_puzzle`, Hypothesis strategies, and a state machine to subclass.

>>> from horizon_bench.testing import check_puzzle
>>> check_puzzle("sudoku", starts=["12..3.....4....2"], max_examples=2, laws=["text round-trip", "plan"])
"""

from horizon_bench.testing.checking import check_puzzle
from horizon_bench.testing.laws import LAWS, LawError, limits
from horizon_bench.testing.machine import PuzzleMachine, machine_for
from horizon_bench.testing.strategies import Walk, garbage, illegal_replies, legal_replies, starts, states, walks
from horizon_bench.testing.subjects import Subject, find_subject

__all__ = [
    "LAWS",
    "LawError",
    "PuzzleMachine",
    "Subject",
    "Walk",
    "check_puzzle",
    "find_subject",
    "garbage",
    "illegal_replies",
    "legal_replies",
    "limits",
    "machine_for",
    "starts",
    "states",
    "walks",
]
