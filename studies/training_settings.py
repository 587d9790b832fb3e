"""From a cell and a preset to the settings of training, and to an untrained model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from curricula.levels import make_puzzle
from horizon_bench.credit import ESTIMATORS
from horizon_bench.envs.instances import find_maker
from horizon_bench.envs.settings import Settings
from horizon_bench.mira.configs import MIRA_VARIANTS, MiraConfig
from horizon_bench.training.configs import RolloutConfig, SftConfig, UpdateConfig
from horizon_bench.training.halves import HALF_MODES
from horizon_bench.training.settings import MODEL_SIZES, ModelSize, tiny_model, tiny_settings
from puzzles.base import Puzzle
from studies.factors import TECHNIQUE_FAMILY, Cell
from studies.language import LanguageTraining, language_training
from studies.own_estimator import needs_critic, resolve
from studies.own_puzzle import level_names
from studies.recipe import board_size, environment, instances, stage_seed

if TYPE_CHECKING:
    from horizon_bench.policies.tiny import TinyPolicy
    from studies.runner import CellJob


SFT_LEVELS: dict[str, tuple[str, ...]] = {
    "t": ("T1", "T2", "T3"),
    "m": ("M1", "M2", "M3"),
    "l": ("L1", "L2", "L3", "L4"),
    "r": ("R1", "R2"),
    "s": ("S1", "S2", "S3"),
    TECHNIQUE_FAMILY: ("L1", "L2", "L3"),
}
"""Levels of the expert traces, by family; longer ones stay unseen."""


@dataclass(frozen=True)
class Training:
    """All settings of the training of one run."""

    hidden_size: int
    layers: int
    value_head: bool
    sft: SftConfig
    sft_levels: tuple[str, ...]
    environment: Settings
    rollout: RolloutConfig
    update: UpdateConfig
    mira: MiraConfig | None = None
    """How the phases of MiRA learn; None for every other learner."""


def resolved_training(job: CellJob) -> Training | LanguageTraining:
    """Return all settings of a run's training.

    Raises:
        ValueError: if the cell varies what the preset's model does not have.
    """
    cell, preset = job.cell, job.preset
    if preset.language is not None:
        return language_training(job, update_config(job), sft_levels(cell))
    model, sft = small_model(cell)
    sft = replace(taught(cell, sft), targets=replace(sft.targets, fixed_length=cell.fixed_length))
    return Training(
        hidden_size=widened(model.hidden_size, cell.width),
        layers=model.layers,
        value_head=needs_critic(cell),
        sft=replace(sft, seed=stage_seed(job.seed, "supervised")),
        sft_levels=sft_levels(cell),
        environment=environment(cell, cell.interface),
        rollout=RolloutConfig(
            groups=preset.puzzles_per_update,
            attempts=preset.attempts_per_puzzle,
            temperature=preset.temperature,
            thought_slip=cell.slip,
            slip_known=cell.slip_known,
        ),
        update=update_config(job),
        mira=mira_config(job),
    )


def sft_levels(cell: Cell) -> tuple[str, ...]:
    """Return the levels of the expert traces of a cell: of a puzzle of your own the two nearest."""
    if cell.module:
        return level_names(cell.puzzle)[:2]
    return SFT_LEVELS[cell.family]


def update_config(job: CellJob) -> UpdateConfig:
    """Return how a run's batches become optimiser steps."""
    cell, preset = job.cell, job.preset
    estimator = resolve(cell.credit.estimator)
    corrections = [
        *(["sequence-truncation"] if cell.truncation else []),
        *(["geometric-mask"] if cell.geometric_mask else []),
    ]
    options: dict[str, Any] = {} if cell.normalized else {"normalized": False}
    return UpdateConfig(
        updates=preset.updates,
        estimator=estimator if estimator in ESTIMATORS or ":" in estimator else "reinforce",
        estimator_options=options,
        correction="+".join(corrections) or "none",
        steps_per_epoch=cell.optimiser_steps,
        signs=cell.signs,
        learning_rate=UpdateConfig.learning_rate * cell.rate,
        value_rate=UpdateConfig.value_rate * cell.rate,
        evaluate_every=preset.evaluate_every,
        checkpoint_every=preset.evaluate_every,
        keep_checkpoints=0,
    )


def mira_config(job: CellJob) -> MiraConfig | None:
    """Return how a run's phases learn where its learner is MiRA, one of its variants, or its cloning of successes.

    Raises:
        ValueError: if the cell varies what only policy gradients have.
    """
    cell = job.cell
    if cell.estimator or cell.credit.estimator not in MIRA_VARIANTS:
        return None
    for name in ("normalized", "geometric_mask", "truncation", "signs", "slip_known"):
        if getattr(cell, name) != getattr(Cell, name):
            raise ValueError(
                f"learner {cell.learner!r} has no {name} to vary, see cell {cell.name}; leave that word out"
            )
    config = MIRA_VARIANTS[cell.credit.estimator]
    return replace(
        config,
        steps_per_epoch=config.steps_per_epoch if cell.optimiser_steps == 1 else cell.optimiser_steps,
        anneal_updates=job.preset.updates if config.anneal_updates else 0,
    )


HALVES = (*HALF_MODES, "where", "where")
"""Halves of actions in each row of SFT: where is learned much later than what (4x4: 51 % against 94 % at 300 steps)."""
HALVES_STEPS = 3
"""How many times longer SFT takes where it teaches halves as well."""
SAME_ORDER = ("shop",)
"""Puzzles whose halves stand in the order of the whole action and are learned in as many steps (shop, measured: whole
actions 84 % right, what 98 %, where 82 % after 350 steps)."""


def taught(cell: Cell, sft: SftConfig) -> SftConfig:
    """Return the SFT that teaches the cell's replies: the halves of actions as well where it acts in halves."""
    if cell.interface != "split":
        return sft
    longer = 1 if cell.puzzle in SAME_ORDER else HALVES_STEPS
    return replace(sft, modes=(*sft.modes, *HALVES), steps=longer * sft.steps)


def widened(width: int, multiple: float) -> int:
    """Return about a multiple of the model's width: one that splits into heads of 16, or a single head."""
    step = 16 if width * multiple > 32 else 8
    return max(step, step * round(width * multiple / step))


def new_policy(job: CellJob, training: Training) -> TinyPolicy:
    """Return the untrained small model of a run; imports torch."""
    from horizon_bench.policies.tiny import TinyPolicy

    puzzle = rules(job.cell)
    start = instances(job.cell, training.sft_levels, "train", 1)[0].start
    return TinyPolicy.create(
        puzzle,
        len(puzzle.compact(puzzle.parse(start))),
        hidden_size=training.hidden_size,
        layers=training.layers,
        value_head=training.value_head,
        seed=stage_seed(job.seed, "weights"),
    )


def rules(cell: Cell) -> Puzzle[Any, Any]:
    """Return the puzzle of a cell."""
    return find_maker(cell.puzzle)() if cell.module else make_puzzle(cell.puzzle, board_size(cell))


def _like(name: str) -> tuple[str, int]:
    """Return the puzzle and rows whose settings a puzzle of your own shares: its own where some were found."""
    return (name, 0) if f"{name}-0" in MODEL_SIZES else ("sudoku", 6)


def small_model(cell: Cell) -> tuple[ModelSize, SftConfig]:
    """Return the size of the small model of a cell and its SFT, but for the seed."""
    puzzle, rows = (cell.puzzle, board_size(cell)) if not cell.module else _like(rules(cell).name)
    return tiny_model(rows, puzzle), tiny_settings(rows, puzzle, thoughts=cell.thought != "none").sft
