"""`horizon-bench milestones RESULTS`: how well plans of milestones foretell which stored episodes succeed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

if TYPE_CHECKING:
    from horizon_bench.episodes import Episode
    from horizon_bench.milestones import MilestonePlan, Prediction
    from horizon_bench.milestones.prediction import PlanFor


@dataclass(frozen=True)
class Milestones:
    """Say how well milestones foretell success, by who wrote the plan: the solver, chance, or a model.

    A plan is good if the attempts that meet its milestones early are those that succeed. Progress is read after a
    quarter, a half and three quarters of the goal distance in decisions; the area under the ROC curve is 0.5 for plans
    that say nothing. The number of moves made so far is the baseline that knows no milestones.
    """

    results: tyro.conf.Positional[Path] = Path("results")
    """A results folder, or a part of one; its stored episodes are read."""
    policy: str = ""
    """A model that writes plans as well, such as hf:FOLDER or openai:MODEL@BASE_URL."""
    examples: int = 2
    """Worked examples in the prompt."""
    tries: int = 3
    """Answers to ask for before the solver's plan takes the place of one that fails its checks."""
    puzzles: int = 40
    """Puzzles of each board that the model writes plans for, at most."""
    seed: int = 0
    """Of everything random."""

    def run(self) -> int:
        """Print one block for each board."""
        from reports.panels import board_words

        if min(self.examples, self.seed) < 0 or min(self.tries, self.puzzles) < 1:
            raise ValueError("examples and seed must be at least 0, tries and puzzles at least 1")
        boards = stored_by_board(self.results)
        if not boards:
            raise ValueError(f"{self.results} holds no stored episodes; a study keeps some of each evaluation")
        for (puzzle, size), episodes in boards.items():
            if self.policy:
                episodes = of_puzzles(episodes, self.puzzles)
            print(f"{board_words(puzzle, size)}: {len(episodes)} stored episodes")
            for line in self._lines(puzzle, size, episodes):
                print(line)
            print()
        return 0

    def _lines(self, puzzle: str, size: int, episodes: list[Episode]) -> Iterator[str]:
        """Yield a line for each source of plans."""
        import numpy as np

        from horizon_bench.milestones import predict_success
        from horizon_bench.milestones.conditions import CONDITIONS

        heads = "".join(f"{head:<20}" for head in ("area at 25 %", "at 50 %", "at 75 %"))
        yield f"  {'plans by':<10}{'milestones':>11}  {heads}met / not met at 50 %"
        sources = _sources(np.random.default_rng(self.seed), with_random=puzzle in CONDITIONS)
        writer = None
        if self.policy:
            writer = _Writer(self, [one.start for one in episodes])
            sources["model"] = writer
        for name, plan_for in sources.items():
            try:
                found = predict_success(episodes, puzzle, size, plan_for, np.random.default_rng(self.seed))
            except ValueError as error:
                yield f"  {name}: {error}"
                return
            yield f"  {name:<10}{line_of(found)}"
        moves = "".join(f"{area:<20.2f}" for area in found.moves)
        yield f"  {'moves':<10}{'':>11}  {moves}"
        if writer is not None:
            yield f"  {writer.accepted} of {writer.written} plans passed all checks; {writer.tries} answers asked for"


def stored_by_board(results: Path) -> dict[tuple[str, int], list[Episode]]:
    """Return the stored episodes of a results folder by puzzle and size."""
    from reports.results import load_results

    boards: dict[tuple[str, int], list[Episode]] = defaultdict(list)
    for run in load_results(results).runs:
        for stored in run.episodes():
            boards[stored.puzzle, stored.size].append(stored.episode)
    return dict(boards)


def of_puzzles(episodes: list[Episode], most: int) -> list[Episode]:
    """Return the episodes of the first puzzles."""
    starts = set(list(dict.fromkeys(one.start for one in episodes))[:most])
    return [one for one in episodes if one.start in starts]


def line_of(found: Prediction) -> str:
    """Return a prediction as the fields of one line."""
    areas = (
        f"{area:.2f} [{low:.2f}, {high:.2f}]"
        for area, low, high in zip(found.areas, found.lows, found.highs, strict=True)
    )
    return (
        f"{found.milestones:>11.1f}  {''.join(f'{area:<20}' for area in areas)}"
        f"{100 * found.when_met:.0f} % / {100 * found.when_not:.0f} % solved"
    )


def _sources(rng: Any, with_random: bool) -> dict[str, PlanFor]:
    from horizon_bench.milestones import random_plan, solver_plan

    sources: dict[str, PlanFor] = {"solver": solver_plan}
    if with_random:
        sources["random"] = lambda puzzle, oracle: random_plan(puzzle, oracle, rng)
    return sources


@dataclass
class _Writer:
    """Asks the model for each instance's plan and counts how often it could be used."""

    request: Milestones
    starts: list[str]
    written: int = 0
    accepted: int = 0
    tries: int = 0
    ask: Any = None

    def __call__(self, puzzle: Any, oracle: Any) -> MilestonePlan:
        """Return the plan of an instance; the examples are other instances of the same results."""
        import numpy as np

        from horizon_bench.milestones import ask_policy, generate_plan
        from horizon_bench.policies import make_policy

        if self.ask is None:
            self.ask = ask_policy(make_policy(self.request.policy), np.random.default_rng(self.request.seed))
        own = puzzle.format(oracle.start)
        others = [start for start in dict.fromkeys(self.starts) if start != own][: self.request.examples]
        made = generate_plan(self.ask, puzzle, oracle, others, self.request.tries)
        self.written += 1
        self.accepted += made.from_model
        self.tries += made.tries
        return made.plan
