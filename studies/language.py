"""The cells of the matrix with a language model in place of the small one: same names, same conditions, text prompts.

Nothing here imports torch until a model is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horizon_bench.envs.interfaces import find_interface
from horizon_bench.envs.settings import Settings
from horizon_bench.mira.configs import MIRA_VARIANTS
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from studies.factors import OF_MODEL, Cell
from studies.own_estimator import needs_critic
from studies.presets import Preset
from studies.recipe import environment, instances, stage_seed

if TYPE_CHECKING:
    from horizon_bench.policies.hf import HfPolicy
    from horizon_bench.training.language_sft import LanguageSftConfig
    from horizon_bench.training.sft import Progress
    from studies.runner import CellJob

RUSH_HOUR_DECISIONS = {True: 30, False: 20}
"""Budgets of Rush Hour in decisions, of replies with one action and of macros (arXiv 2605.02572)."""
TAUGHT = ("atomic", "macro", "macro-fixed-2")
"""Interfaces of the expert traces, as the small model learns them."""


@dataclass(frozen=True)
class LanguageTraining:
    """All settings of the training of one run of a language model."""

    model: str
    """Name or folder."""
    dtype: str
    thinking: bool | None
    max_new_tokens: int
    """Cap of a reply in tokens."""
    sft: LanguageSftConfig
    sft_levels: tuple[str, ...]
    environment: Settings
    rollout: RolloutConfig
    update: UpdateConfig
    mira: None = None
    """MiRA's phases train the small model only."""


def played(cell: Cell, interface: str, preset: Preset) -> Settings:
    """Return the environment's settings of a cell, played through `interface` by the preset's model."""
    settings = environment(cell, interface)
    if preset.language is None:
        return settings
    single = find_interface(interface).single
    budget = RUSH_HOUR_DECISIONS[single] if cell.puzzle == "rush-hour" else None
    return replace(settings, observation="text", max_decisions=budget)


def language_training(job: CellJob, update: UpdateConfig, levels: tuple[str, ...]) -> LanguageTraining:
    """Return all settings of a run of a language model.

    Args:
        job: cell, preset and seed.
        update: as the cell asks for it; the rate becomes the preset's.
        levels: of the expert traces.

    Raises:
        ValueError: if the cell varies what only the small model has.
    """
    from horizon_bench.training.language_sft import LanguageSftConfig

    cell, preset, scale = job.cell, job.preset, job.preset.language
    if scale is None:
        raise ValueError(f"preset {preset.name!r} trains the small model")
    _refuse_small_models_own(cell)
    cap = scale.single_cap if find_interface(cell.interface).single else scale.macro_cap
    seed = stage_seed(job.seed, "supervised")
    return LanguageTraining(
        model=preset.model,
        dtype=scale.dtype,
        thinking=scale.thinking,
        max_new_tokens=cap,
        sft=LanguageSftConfig(
            traces=scale.traces, learning_rate=scale.sft_rate, batch=scale.sft_batch, micro_batch=scale.micro_batch,
            lora_rank=scale.lora_rank, seed=seed,
        ),
        sft_levels=levels,
        environment=played(cell, cell.interface, preset),
        rollout=RolloutConfig(
            groups=preset.puzzles_per_update,
            attempts=preset.attempts_per_puzzle,
            temperature=preset.temperature,
            max_new_tokens=cap,
        ),
        update=replace(
            update, learning_rate=scale.learning_rate * cell.rate, micro_batch=scale.micro_batch, loss_options={}
        ),
    )  # fmt: skip


def _refuse_small_models_own(cell: Cell) -> None:
    for name in OF_MODEL:
        if getattr(cell, name) != getattr(Cell, name):
            raise ValueError(
                f"cell {cell.name} varies {name}, which only the small model has; leave such cells out (--without)"
            )
    if cell.credit.estimator in MIRA_VARIANTS or needs_critic(cell):
        raise ValueError(
            f"cell {cell.name}: learner {cell.learner!r} needs critics, which only the small model has; leave such "
            f"cells out (--without {cell.learner})"
        )
    if cell.interface == "split":
        raise ValueError(
            f"cell {cell.name}: a language model has no expert traces for split; leave such cells out (--without split)"
        )


def load_policy(training: LanguageTraining, folder: str | Path) -> HfPolicy:
    """Return the language model in a folder, or by name; gradients are recomputed on GPUs, which saves memory."""
    from horizon_bench.policies.chat import ChatSampling
    from horizon_bench.policies.hf import HfPolicy

    sampling = ChatSampling(training.rollout.temperature, training.max_new_tokens, thinking=training.thinking)
    policy = HfPolicy.load(str(folder), dtype=training.dtype, sampling=sampling)
    if policy.model.device.type != "cpu":
        policy.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return policy


def teach(job: CellJob, training: LanguageTraining, progress: Progress) -> tuple[HfPolicy, dict[str, Any], float]:
    """Return the model after SFT, what was measured, and the seconds that it took.

    All interfaces that a study compares start from one model, which learns single actions and macros alike.
    """
    from horizon_bench.training.language_sft import train_language_sft

    policy = load_policy(training, training.model)
    chosen = instances(job.cell, training.sft_levels, "train")
    settings = [Settings(interface=interface) for interface in TAUGHT]
    report = train_language_sft(policy, chosen, settings, training.sft, progress)
    measured = {f"loss_{index}": loss for index, loss in enumerate(report.losses, start=1)}
    return policy, {**measured, "states": report.traces, "learned_tokens": report.tokens}, report.seconds
