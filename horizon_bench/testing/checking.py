"""Holds a puzzle against every law and names the first that breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given

from horizon_bench.testing.laws import LAWS, LawError
from horizon_bench.testing.puzzle_laws import BreachError
from horizon_bench.testing.strategies import Walk, walks
from horizon_bench.testing.subjects import Subject, find_subject
from puzzles.base import Puzzle
from puzzles.names import check_name


def check_puzzle(
    puzzle: str | type[Puzzle[Any, Any]] | Puzzle[Any, Any],
    *,
    starts: Sequence[str] = (),
    laws: Sequence[str] | None = None,
    max_examples: int = 30,
    **arguments: Any,
) -> None:
    """Hold a puzzle, its oracle and its environments against the laws.

    Args:
        puzzle: a class, an instance, a name in `PUZZLES`, an import string or a registered environment id.
        starts: texts of starts; by default the puzzle's `examples()`, or the first of its bank.
        laws: names in `LAWS`; by default all.
        max_examples: examples for each law.
        arguments: further arguments of the environment, such as `size` or `level`.

    Raises:
        LawError: naming the law that broke, with a minimal example.
        ValueError: if there is no such puzzle or law.
    """
    names = list(LAWS) if laws is None else [check_name("law", name, LAWS) for name in laws]
    subject = find_subject(puzzle, starts, **arguments)
    for name in names:
        _hold(name, LAWS[name], subject, max_examples)


def _hold(name: str, law: Callable[[Subject, Walk], None], subject: Subject, max_examples: int) -> None:
    """Search for a walk that breaks the law, and shrink it."""

    @hypothesis.settings(
        max_examples=max_examples,
        database=None,
        deadline=None,
        derandomize=True,
        print_blob=False,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(walks(subject))
    def run(walk: Walk) -> None:
        try:
            law(subject, walk)
        except Exception as error:
            raise LawError(name, walk, subject.puzzle, error) from (None if isinstance(error, BreachError) else error)

    try:
        run()
    except hypothesis.errors.Flaky as error:
        raise LawError(name, None, subject.puzzle, error) from error
