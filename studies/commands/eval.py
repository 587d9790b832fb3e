"""`horizon-bench eval`: a policy's success by level, and the goal distance at which it falls to one half."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from puzzles.names import check_name
from studies.factors import FAMILIES
from studies.named_policies import ModelOptions, accounted, named_policy

if TYPE_CHECKING:
    from curricula import Instance
    from horizon_bench.envs.settings import Settings
    from horizon_bench.policies import Policy
    from reports.conditions import Condition
    from reports.records import EvaluationRecord


@dataclass(frozen=True)
class Evaluate:
    """Measure a policy: several attempts at each puzzle of each level.

    Prints avg@k and pass@k with 95 % intervals over puzzles, and H50, the goal distance (atomic actions) at which
    success falls to one half.
    """

    policy: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="POLICY")]
    """expert, noisy-expert, random, human, the folder of a saved small model, hf:MODEL (a folder or a name on the hub),
    vllm:MODEL or openai:MODEL@BASE_URL; with react+, reflexion+ or plan+ before it, the agent on that model."""
    puzzle: str = ""
    """sudoku, rush-hour, shop, or a puzzle of your own as MODULE:NAME; by default the puzzle of the levels."""
    level: tuple[str, ...] = ()
    """Levels, such as L1 L2; by default all of 9x9 Sudoku, Rush Hour, the shop or your puzzle, or of the bank."""
    split: Literal["test", "validation", "train"] = "test"
    """Part of the bank."""
    bank: Path | None = None
    """A bank file of your own (see `bank import`) instead of those that ship."""
    interface: str = "atomic"
    """atomic, macro, macro-capped-K, macro-fixed-K, macro-stepwise or split."""
    on_error: Literal["strict", "end", "semi", "dead", "stay"] = "semi"
    """What follows an error."""
    error_rate: float = 0.05
    """Probability that a decision of the noisy expert is wrong."""
    thought: Literal["none", "free", "checked"] = "none"
    """Whether a reply may hold a thought, and whether it is checked."""
    budget_slack: float = 1.5
    """Budgets as a multiple of the goal distance."""
    puzzles: int = 100
    """Puzzles a level, at most."""
    attempts: int = 4
    """Attempts at each puzzle, k of avg@k and pass@k."""
    temperature: float = 0.8
    """Sampling temperature of a model."""
    seed: int = 0
    """The same seed gives the same episodes."""
    records: Path | None = None
    """Also append the records to this file."""
    model: tyro.conf.OmitArgPrefixes[ModelOptions] = field(default_factory=ModelOptions)
    """How language models and endpoints are asked."""

    def run(self) -> int:
        """Evaluate and print a table."""
        if min(self.puzzles, self.attempts) < 1 or self.seed < 0:
            raise ValueError("puzzles and attempts must be at least 1, seed at least 0")
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature must be a number above 0, not {self.temperature}; 0.01 is nearly greedy")
        if len(set(self.level)) < len(self.level):
            raise ValueError(f"levels {' '.join(self.level)}: one stands there twice")
        if self.records is not None:
            from reports.records import append, read

            if self.records.is_file():
                read(self.records)
            append(self.records, ())
        from horizon_bench.pace import measured_pace

        name, levels, chosen = self._instances()
        policy = named_policy(self.policy, self.interface, self.error_rate, self.model)
        with accounted(policy), measured_pace() as pace:
            rows = evaluation_records(self, policy, name, chosen, self._settings(policy))
        if self.records is not None:
            append(self.records, rows)
        print(f"{self.policy} on {name} as {self.interface}, errors: {self.on_error}, {self.split} puzzles\n")
        print("\n".join(table(_condition(name, rows), levels)))
        print(pace, file=sys.stderr)
        if costs := getattr(policy, "costs", None):
            print(costs.text())
        return 0

    def _instances(self) -> tuple[str, tuple[str, ...], list[Instance]]:
        """Return the puzzle's name, the levels and the instances."""
        from curricula import load_bank
        from curricula.levels import find_level

        if ":" in self.puzzle:
            from studies.own_puzzle import level_names, scale_of, starts_of

            if self.bank is not None:
                raise ValueError(f"puzzle {self.puzzle!r} brings its own starts; leave --bank {self.bank} out")
            spec = scale_of(self.puzzle).puzzle
            levels = self.level or level_names(spec)
            return spec, levels, [one for level in levels for one in starts_of(spec, level, self.split, self.puzzles)]
        if self.bank is not None and not self.level and self.bank.is_file():
            return self._of_bank(self.bank)
        puzzle = self.puzzle or (find_level(self.level[0]).puzzle if self.level else "sudoku")
        levels = self.level or _default_levels(puzzle)
        for level in levels:
            found = find_level(level).puzzle
            if found != puzzle:
                raise ValueError(f"level {level} belongs to {found}; say --puzzle {found}, or choose another level")
        path = None if self.bank is None else str(self.bank)
        banks = [load_bank(level, self.split, path=path)[: self.puzzles] for level in levels]
        return puzzle, levels, [one for bank in banks for one in bank]

    def _of_bank(self, path: Path) -> tuple[str, tuple[str, ...], list[Instance]]:
        """Return what a bank file of the user's own holds, whatever its levels; `-` is a distance beyond them all."""
        from curricula.instances import read_instances

        rows = [instance for _, instance in read_instances(path)[1]]
        puzzles = sorted({instance.puzzle for instance in rows})
        puzzle = self.puzzle or (puzzles[0] if len(puzzles) == 1 else "")
        if puzzle not in puzzles:
            held = " and ".join(puzzles) or "nothing"
            raise ValueError(
                f"{path} holds {held}" + ("; say --puzzle" if puzzles and not puzzle else f", no {puzzle}")
            )
        chosen = [instance for instance in rows if (instance.puzzle, instance.split) == (puzzle, self.split)]
        if not chosen:
            held = ", ".join(sorted({instance.split for instance in rows if instance.puzzle == puzzle}))
            raise ValueError(f"{path} holds no {self.split} puzzles; say --split, of which it holds: {held}")
        levels = tuple(sorted({instance.level for instance in chosen}))
        by_level = [[each for each in chosen if each.level == level] for level in levels]
        return puzzle, levels, [each for group in by_level for each in group[: self.puzzles]]

    def _settings(self, policy: Policy) -> Settings:
        from horizon_bench.envs.settings import Settings
        from horizon_bench.policies import reads

        return Settings(
            interface=self.interface,
            observation=reads(policy),
            on_error=self.on_error,
            thought=self.thought,
            budget_slack=self.budget_slack,
        )


def evaluation_records(
    request: Evaluate, policy: Policy, puzzle: str, chosen: Sequence[Instance], settings: Settings
) -> list[EvaluationRecord]:
    """Return one record for each attempt at each instance."""
    from horizon_bench.evaluation import evaluate
    from reports.failures_divergence import first_divergence
    from reports.records import EvaluationRecord

    if not chosen:
        raise ValueError(f"no {request.split} puzzles at level {' '.join(request.level) or '(all)'}")
    episodes = evaluate(policy, chosen, settings, request.attempts, request.temperature, request.seed)
    played = [one for one in chosen for _ in range(request.attempts)]
    left = [first_divergence(one, it.puzzle, it.size) for one, it in zip(episodes, played, strict=True)]
    return [
        EvaluationRecord.from_episode(
            episode,
            study="eval",
            cell=request.policy,
            seed=request.seed,
            phase="rl" if Path(request.policy).is_dir() else request.policy,
            update=0,
            puzzle=puzzle,
            interface=request.interface,
            split=request.split,
            divergence=None if place is None else place.atomic_step,
        )
        for episode, place in zip(episodes, left, strict=True)
    ]


def table(condition: Condition, levels: Sequence[str]) -> list[str]:
    """Return the lines of the result: one a level, then H50."""
    k = condition.k
    lines = [f"{'level':<8}{'puzzles':>8}{'distance':>10}  {f'avg@{k} %':<22}{f'pass@{k} %':<22}"]
    for level in levels:
        average, passed = (condition.estimate(score, level) for score in ("avg", "pass"))
        distance = f"{condition.distance(level):.1f}"
        lines.append(f"{level:<8}{average.puzzles:>8}{distance:>10}  {average.format():<22}{passed.format():<22}")
    fit = condition.horizon
    lines += ["", f"H50: {fit.format()} atomic actions"]
    if 0 < fit.h50 < float("inf"):
        lines[-1] += f"; with independent errors that is {fit.per_decision:.2%} success a decision"
    return lines


def _condition(puzzle: str, rows: Sequence[EvaluationRecord]) -> Condition:
    from reports.conditions import Condition
    from reports.records import CellRecord

    first = rows[0]
    cell = CellRecord(
        study=first.study,
        cell=first.cell,
        seed=first.seed,
        label=first.cell,
        puzzle=puzzle,
        size=0,
        interface=first.interface,
        reward="outcome",
        estimator="none",
        train_levels=(),
        test_levels=tuple(dict.fromkeys(row.level for row in rows)),
    )
    return Condition(first.cell, cell, first.phase, first.interface, "", tuple(rows))


def _default_levels(puzzle: str) -> tuple[str, ...]:
    by_puzzle = {FAMILIES[key].puzzle: FAMILIES[key].levels for key in ("l", "r", "s")}
    return by_puzzle[check_name("puzzle", puzzle, by_puzzle)]
