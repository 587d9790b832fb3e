"""The suite's reinforcement learning inside TRL's `GRPOTrainer`, for those who want its vLLM, PEFT and logging.

Only two things are replaced: how a batch comes about (episodes of many turns instead of one completion a prompt) and
the loss (estimators, corrections and reductions of this suite). Both are the core that `train_rl` uses, so that one
batch has one loss and one gradient in either trainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from horizon_bench.credit import NEEDS_VALUES, CreditBatch
from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.extras import extra_needed
from horizon_bench.policies.base import Reply
from horizon_bench.policies.hf import HfPolicy
from horizon_bench.rollout import Playable, rollout
from horizon_bench.training.batches import ReplyBatch
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.learning import Objective, Totals
from horizon_bench.training.metrics import rollout_metrics
from horizon_bench.training.scoring import reply_scores
from horizon_bench.training.team import Team

with extra_needed():
    import torch
    from datasets import Dataset
    from torch import Tensor
    from trl import GRPOConfig, GRPOTrainer


def grpo_arguments(
    folder: str, rollout_config: RolloutConfig, config: UpdateConfig, *, parts: int = 1, **others: Any
) -> GRPOConfig:
    """Return TRL's arguments for one optimiser step a batch: KL 0, full precision where there is no GPU.

    Args:
        folder: TRL's output folder.
        rollout_config: groups and attempts; in a team, of each process.
        config: learning rate, updates and clipping.
        parts: parts that a batch is learned in, one after another; changes nothing but memory.
        others: further arguments of `GRPOConfig`, such as `use_vllm`.

    Raises:
        ValueError: if `parts` does not divide groups times attempts.
    """
    rows, processor = rollout_config.groups * rollout_config.attempts, not torch.cuda.is_available()
    if rows % parts:
        raise ValueError(f"parts is {parts}, must divide groups times attempts, {rows}")
    return GRPOConfig(
        **{
            "output_dir": folder,
            "max_steps": config.updates,
            "per_device_train_batch_size": rows // parts,
            "gradient_accumulation_steps": parts,
            "num_generations": rollout_config.attempts,
            "num_iterations": config.epochs,
            "learning_rate": config.learning_rate,
            "lr_scheduler_type": "constant_with_warmup",
            "warmup_steps": config.warmup_updates,
            "weight_decay": config.weight_decay,
            "adam_beta2": 0.99,
            "max_grad_norm": config.gradient_clip,
            "temperature": rollout_config.temperature,
            "beta": 0.0,
            "use_cpu": processor,
            "bf16": not processor,
            "gradient_checkpointing": not processor,
            "report_to": "none",
            "save_strategy": "no",
            "logging_steps": 1,
            "disable_tqdm": True,
            **others,
        }
    )


class EpisodeGRPOTrainer(GRPOTrainer):
    """`GRPOTrainer` that learns from whole episodes: each reply of each turn is a row."""

    def __init__(
        self,
        policy: HfPolicy,
        instances: Sequence[Playable],
        settings: Settings,
        rollout_config: RolloutConfig,
        config: UpdateConfig,
        args: GRPOConfig,
        *,
        seed: int = 0,
        **others: Any,
    ) -> None:
        """Join TRL's trainer and the suite's core.

        Args:
            policy: the language model.
            instances: training instances.
            settings: the environment's settings, `observation="text"`.
            rollout_config: how replies are drawn.
            config: estimator, correction, loss and reduction.
            args: TRL's arguments; `grpo_arguments` makes them.
            seed: of all chance of the episodes.
            others: further arguments of `GRPOTrainer`, such as `peft_config` or `callbacks`.

        Raises:
            ValueError: for an estimator that needs values of states, or several optimiser steps of one batch's parts.
        """
        if config.estimator in NEEDS_VALUES:
            raise ValueError(
                f"estimator {config.estimator!r} needs values of states, which GRPOTrainer has not; train_rl has"
            )
        self.objective, self.instances, self.settings, self.seed = Objective(config), instances, settings, seed
        self.attempts, self.batches = rollout_config.attempts, 0
        self.episodes: list[Episode] = []
        rows = Dataset.from_dict({"prompt": [one.start for one in instances], "instance": list(range(len(instances)))})
        super().__init__(
            model=policy.model,
            reward_funcs=_no_reward,
            args=args,
            train_dataset=rows,
            processing_class=policy.tokenizer,
            **others,
        )
        _check_one_step(args)
        trained = type(policy)(
            self.accelerator.unwrap_model(self.model), policy.tokenizer, policy.sampling, policy.name
        )
        sampling = {"temperature": args.temperature}
        if rollout_config.max_new_tokens:
            sampling["max_new_tokens"] = rollout_config.max_new_tokens
        self.policy = trained.with_sampling(**sampling)
        self.player: Any = _TrlPlayer(self, self.policy) if args.use_vllm else self.policy

    def _set_signature_columns_if_needed(self) -> None:
        self._signature_columns = ["prompt", "instance"]

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Play the instances of the rows and return this process's replies with their advantages, as tensors."""
        team = Team.current()
        numbers = [row["instance"] for row in inputs[:: self.attempts]]
        everyone = [one for share in team.collect(numbers) for one in share]
        played = [self.instances[number] for number in everyone]
        mine = range(team.rank * len(numbers), (team.rank + 1) * len(numbers))
        state = np.random.SeedSequence((self.seed, self.batches)).generate_state(1)
        self.batches += 1
        training = self.model.training
        own = rollout(self.player, played, self.settings, self.attempts, int(state[0]), only=mine)
        self.model.train(training)
        self.episodes = [episode for share in team.collect(own) for episode in share]
        self._keep(rollout_metrics(self.episodes))
        return self._rows(self.episodes, own)

    def _rows(self, episodes: list[Episode], own: list[Episode]) -> dict[str, Any]:
        """Return this process's replies; advantages and totals are those of all processes' episodes."""
        batch = ReplyBatch.from_episodes(episodes)
        advantages = torch.from_numpy(self.objective.advantages(CreditBatch.from_episodes(episodes))).float()
        totals = Totals.of(batch, torch.arange(len(batch)))
        groups = {episode.group for episode in own}
        turns = [episode.group in groups for episode in episodes for _ in episode.turns]
        rows = torch.tensor(turns).nonzero()[:, 0]
        mine = batch.select(rows).to(self.accelerator.device)
        made = {field.name: getattr(mine, field.name) for field in fields(mine)}
        made["advantages"] = advantages[rows].to(self.accelerator.device)
        if made["prompt_mask"] is None:
            made["prompt_mask"] = torch.ones_like(mine.prompts, dtype=torch.bool)
        if self.objective.compares:
            with torch.no_grad():
                made["old"] = reply_scores(self.policy, self.model, mine)[0]
        made = _filled(made, self.args.steps_per_generation)
        return made | {
            "totals": torch.tensor([totals.replies, totals.tokens], device=self.accelerator.device)[None].expand(
                len(made["mask"]), 2
            )
        }

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        """Return this part's summand of the batch's loss; data-parallel wrappers average it over processes."""
        part = ReplyBatch(*(inputs[field.name] for field in fields(ReplyBatch)))
        logprobs = reply_scores(self.policy, model, part)[0]
        totals = Totals(*(int(number) for number in inputs["totals"][0]))
        made = self.objective.part(logprobs, part, inputs["advantages"], inputs.get("old"), totals)
        self._keep(made.metrics)
        return made.loss * self.accelerator.num_processes

    def _keep(self, metrics: dict[str, float]) -> None:
        """Put metrics among those that TRL averages and logs."""
        for name, value in metrics.items():
            self._metrics["train" if self.model.training else "eval"][name].append(value)


def _check_one_step(args: GRPOConfig) -> None:
    if args.steps_per_generation != args.gradient_accumulation_steps:
        raise ValueError(
            f"steps_per_generation is {args.steps_per_generation} and gradient_accumulation_steps "
            f"{args.gradient_accumulation_steps}; they must be equal, so that a batch makes one optimiser step"
        )


class _TrlPlayer:
    """A policy whose replies TRL's own engine draws (vLLM); chance is the engine's, not the lanes'."""

    def __init__(self, trainer: EpisodeGRPOTrainer, policy: HfPolicy) -> None:
        self.trainer, self.policy = trainer, policy

    def reply(self, observations: Sequence[str], seats: Any, generators: Any) -> list[Reply]:
        """Return one reply for each lane."""
        prompts = self.policy.encode(observations)
        drawn, logprobs = self.trainer._generate_single_turn([ids.tolist() for ids in prompts], None, {}, 1)
        return [
            Reply(
                self.policy.decode(ids),
                prompt,
                np.array(ids, dtype=np.int64),
                np.array(chances, dtype=np.float32),
                capped=not ids or ids[-1] not in self.policy.end_ids,
            )
            for prompt, ids, chances in zip(prompts, drawn, logprobs, strict=True)
        ]


def _filled(rows: dict[str, Any], parts: int) -> dict[str, Any]:
    """Return the rows filled up with empty ones to a multiple of `parts`: TRL drops what does not divide."""
    missing = -len(rows["mask"]) % parts
    filler = torch.zeros(missing, dtype=torch.long)
    made = {name: torch.cat([value, value[filler]]) for name, value in rows.items() if value is not None}
    if missing:
        made["mask"][-missing:] = False
        made["advantages"][-missing:] = 0.0
    return made


def _no_reward(completions: Sequence[Any], **others: Any) -> list[float]:
    """Return nothing worth learning from: rewards are the environments'."""
    return [0.0] * len(completions)
