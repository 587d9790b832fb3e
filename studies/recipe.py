"""From a cell and a preset to the settings of each stage: environment, instances, policies, seeds.

Nothing here imports torch; what needs it lives in `studies.supervised` and `studies.reinforced`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curricula import Instance, load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.policies import Policy, make_policy
from reports.panels import puzzle_words
from studies.factors import FAMILIES, Cell
from studies.named_policies import ModelOptions, named_policy, solver_options
from studies.own_puzzle import level_names, starts_of

STAGES = ("weights", "supervised", "reinforced", "evaluation", "interval")
"""Each draws from its own stream of a seed's random numbers; a new one goes to the end."""

_LEARNER_WORDS = {
    "outcome": "",
    "subgoal": " + subgoals",
    "ownsubgoal": " + own subgoals",
    "mira": ", MiRA",
    "mirakl": ", MiRA by KL",
    "miraawr": ", MiRA by AWR",
    "miranopotential": ", MiRA without potential",
    "miramc": ", MiRA by returns alone",
    "miratd": ", MiRA by one step alone",
    "miraannealed": ", MiRA annealed",
    "miranoreplay": ", MiRA without replay",
    "miranocurriculum": ", MiRA without curriculum",
    "bc": ", cloning of successes",
    "sft": ", SFT only",
    "expert": "expert",
    "noisy": "noisy expert",
    "random": "random",
}


def stage_seed(seed: int, stage: str) -> int:
    """Return the seed of one stage of a run: the same for all cells of a seed, so that they differ in nothing else."""
    child = np.random.SeedSequence(seed, spawn_key=(STAGES.index(stage),))
    return int(child.generate_state(1)[0])


def environment(cell: Cell, interface: str) -> Settings:
    """Return the environment's settings of a cell, played through `interface`.

    A false checked thought ends the episode: that makes a turn risky. Where it only costs the turn, a macro has no edge
    at any risk (measured).
    """
    return Settings(
        interface=interface,
        reward=cell.credit.reward,
        observation="text" if cell.named else "compact",
        on_error=cell.on_error,
        on_void="end" if cell.thought == "checked" else "auto",
        thought=cell.thought,
        failure_probability=cell.failure,
    )


def test_levels(cell: Cell) -> tuple[str, ...]:
    """Return the levels that a cell is evaluated on, short ways first."""
    if cell.module:
        return level_names(cell.puzzle)
    return FAMILIES[cell.family].levels


def board_size(cell: Cell) -> int:
    """Return the rows of a cell's board; 0 where the puzzle takes no size."""
    return 0 if cell.module else FAMILIES[cell.family].size


def instances(cell: Cell, levels: Sequence[str], split: str, per_level: int | None = None) -> list[Instance]:
    """Return the first instances of each level of a split, all of them by default."""
    if cell.module:
        return [one for level in levels for one in starts_of(cell.puzzle, level, split, per_level)]
    return [one for level in levels for one in load_bank(level, split)[:per_level]]


def untrained_policy(cell: Cell, asked: ModelOptions | None = None) -> Policy:
    """Return the policy of a cell without training.

    Args:
        cell: its learner is a policy's name, or that of an expert or of chance.
        asked: how a language model is asked.
    """
    name = cell.credit.policy
    if cell.named:
        return named_policy(name, cell.interface, options=asked)
    return make_policy(name, **solver_options(name, cell.interface, cell.mistake))


def label(cell: Cell) -> str:
    """Return what a reader calls the cell (`macro + subgoals, trained on T3`)."""
    words = _LEARNER_WORDS.get(cell.learner, f", {cell.learner}")
    if not cell.needs_sft:
        mistake = f", {cell.mistake:.3g} errors a decision" if cell.mistake else ""
        player = f"{cell.interface}, {cell.learner}" if cell.named else f"{words}{mistake}"
        return f"{player} ({puzzle_words(cell.puzzle)}{_options(cell)})"
    schedule = ", then ".join("+".join(phase) for phase in cell.train)
    trained = f", trained on {schedule}" if schedule else ""
    return f"{cell.interface}{words}{trained}{_options(cell)}"


def _options(cell: Cell) -> str:
    parts = [
        "" if cell.on_error == Cell.on_error else f"on error: {cell.on_error}",
        "" if cell.thought == "none" else f"{cell.thought} thought",
        f"slip {cell.slip:.3g}" if cell.slip else "",
        "" if cell.slip_known else "trainer blind to slips",
        f"failing actions {cell.failure:.3g}" if cell.failure else "",
        "" if cell.normalized else "returns not normalised",
        "" if cell.geometric_mask else "no geometric mask",
        "" if cell.truncation else "no truncation",
        f"{cell.optimiser_steps} optimiser steps" if cell.optimiser_steps > 1 else "",
        f"learning rate \N{MULTIPLICATION SIGN} {cell.rate:.3g}" if cell.rate != 1 else "",
        f"only {cell.signs} advantages" if cell.signs != "both" else "",
        f"width \N{MULTIPLICATION SIGN} {cell.width:.3g}" if cell.width != 1 else "",
    ]
    return "".join(f", {part}" for part in parts if part)
