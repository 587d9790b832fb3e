"""Speed of rollouts and of training, each beside its baseline in the same run, on one core.

    python benchmarks/rollout_speed.py [--model FOLDER] [--rounds 5] [--record FILE]

1. One decision round of the tiny preset: our sampler (compaction, boards read once, log-probabilities kept) against
   `model.generate` on the same prompts, and a small Qwen3 with random weights likewise.
2. Decisions trained a second: an update of `train_rl` against a step of TRL's `GRPOTrainer` with `rollout_func`, same
   model, same puzzles, one optimiser step of as many replies.
3. Forward and backward of one batch of replies: our kernels against the operations of torch.
4. Where an update's time goes, and how far its products are from the matrix-multiply peak of this core.

Times are CPU seconds of the process; both sides of a ratio take turns, and the best round of each counts. The model is
trained for a few seconds first, so that replies have their usual length; `--model` takes a saved one.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.update(
    OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TRL_EXPERIMENTAL_SILENCE="1",
    TOKENIZERS_PARALLELISM="false",
)  # fmt: skip

import numpy as np
import torch

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.policies import sampling as sampler
from horizon_bench.policies import tiny
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.rollout import rollout
from horizon_bench.training import rl
from horizon_bench.training.batches import ReplyBatch
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.settings import tiny_model, tiny_settings
from horizon_bench.training.sft import train_sft
from puzzles.sudoku import Sudoku

SETTINGS = Settings(observation="compact", on_error="semi")
GROUPS, ATTEMPTS = 48, 4
LEARNING = ("forward", "backward", "optimiser")


def cpu_seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def in_turns(works: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the CPU seconds of the best round of each; a first round warms up."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            seconds = cpu_seconds(work)
            if number:
                found[name].append(seconds)
    return {name: min(seconds) for name, seconds in found.items()}


def small_policy(folder: str | None) -> TinyPolicy:
    if folder:
        return TinyPolicy.load(folder)
    size = tiny_model(4)
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=size.hidden_size, layers=size.layers)
    config = replace(tiny_settings(4).sft, steps=120, accuracy_states=0)
    train_sft(policy, Sudoku(4), load_bank("T1") + load_bank("T2") + load_bank("T3"), config)
    return policy


def decision_rounds(policy: TinyPolicy) -> list[torch.Tensor]:
    """Return the prompts of every round of one rollout batch."""
    rounds: list[torch.Tensor] = []

    class Listening:
        def reply(self, observations: Any, seats: Any, generators: Any) -> Any:
            rounds.append(torch.from_numpy(policy.encode(observations)))
            return policy.reply(observations, seats, generators)

        def at_temperature(self, temperature: float) -> Any:
            return self

    rollout(Listening(), load_bank("T3")[:GROUPS], SETTINGS, ATTEMPTS)
    return rounds


def generate(
    model: Any, prompts: torch.Tensor, temperature: float, cap: int, pad: int, end: int, mask: Any = None
) -> Any:
    """Let transformers sample replies of at most `cap` tokens; without a mask every token of the prompts counts."""
    mask = torch.ones_like(prompts) if mask is None else mask
    with torch.inference_mode():
        return model.generate(
            prompts, attention_mask=mask, do_sample=True, temperature=temperature, top_k=0, top_p=1.0,
            max_new_tokens=cap, pad_token_id=pad, eos_token_id=end,
        )  # fmt: skip


def measure_rounds(policy: TinyPolicy, rounds: int) -> dict[str, float]:
    prompts, marks, sampling = decision_rounds(policy), policy.marks, policy.sampling
    cap = policy.model.config.max_reply_tokens
    uniforms = torch.from_numpy(np.random.default_rng(0).random((GROUPS * ATTEMPTS, cap), dtype=np.float32))

    def ours(draw: Any) -> None:
        for part in prompts:
            draw(policy.model, part, uniforms[: len(part)], sampling, marks)

    def theirs() -> None:
        for part in prompts:
            generate(policy.model, part, sampling.temperature, cap, marks.pad, marks.end)

    return in_turns(
        {
            "kernels": lambda: ours(sampler.sample),
            "torch, compacted": lambda: ours(sampler.sample_plainly),
            "generate": theirs,
        },
        rounds,
    ) | {"rounds": float(len(prompts)), "decisions": float(sum(map(len, prompts)))}


def measure_language_model(rounds: int) -> dict[str, float]:
    """Time one round of a small Qwen3 on text prompts, replies of at most 32 tokens."""
    from horizon_bench.policies.hf import HfPolicy
    from horizon_bench.policies.language_sampling import pad_left, sample_replies
    from horizon_bench.policies.random_model import write_random_model

    with tempfile.TemporaryDirectory() as folder:
        policy = HfPolicy.load(write_random_model(folder, hidden_size=128, layers=4))
    starts = [one.start for one in load_bank("T3")[:4]]
    texts = [PuzzleEnv(instance=start, size=4).reset(seed=0)[0] for start in starts for _ in range(ATTEMPTS)]
    prompts = [np.array(ids) for ids in policy.tokenizer(texts)["input_ids"]]
    ids, mask = pad_left(prompts)
    uniforms = np.random.default_rng(0).random((len(prompts), 32))
    end = int(policy.tokenizer.eos_token_id)

    works: dict[str, Callable[[], Any]] = {
        "ours": lambda: sample_replies(policy.model, prompts, uniforms, 0.8, {end}),
        "generate": lambda: generate(policy.model, ids, 0.8, 32, 0, end, mask),
    }
    return in_turns(works, rounds)


class DecisionEnvs:
    """The environments behind TRL's `rollout_func`: each row is the next decision of one episode."""

    def __init__(self, policy: TinyPolicy, folder: str, steps: int) -> None:
        from datasets import Dataset
        from transformers import TrainerCallback
        from trl import GRPOConfig, GRPOTrainer

        self.policy, self.pool, self.next = policy, load_bank("T3"), 0
        self.envs = [
            PuzzleEnv(puzzle="sudoku", size=4, instance=self.pool[0].start, observation="compact", on_error="semi")
            for _ in range(GROUPS)
        ]
        self.observations = [self.start(env) for env in self.envs]
        self.seconds: list[float] = []
        envs = self

        class Clock(TrainerCallback):
            def on_step_begin(self, *args: Any, **named: Any) -> None:
                self.begin = time.process_time()

            def on_step_end(self, *args: Any, **named: Any) -> None:
                envs.seconds.append(time.process_time() - envs.begin)
                envs.begin = time.process_time()

        arguments = GRPOConfig(
            output_dir=folder, max_steps=steps, per_device_train_batch_size=GROUPS * ATTEMPTS,
            num_generations=ATTEMPTS, max_completion_length=policy.model.config.max_reply_tokens,
            learning_rate=1e-6, temperature=0.8, beta=0.0, use_cpu=True, bf16=False, gradient_checkpointing=False,
            report_to="none", save_strategy="no", logging_strategy="no", disable_tqdm=True, shuffle_dataset=False,
        )  # fmt: skip
        self.begin = time.process_time()
        self.trainer = GRPOTrainer(
            model=policy.model,
            reward_funcs=lambda prompts, completions, result, **others: result,
            args=arguments,
            train_dataset=Dataset.from_dict({"prompt": ["board"] * (GROUPS * 4)}),
            processing_class=policy.tokenizer,
            rollout_func=self.play,
            callbacks=[Clock()],
        )

    def start(self, env: PuzzleEnv) -> str:
        """Begin an episode; returns what the policy sees."""
        self.next += 1
        return env.reset(seed=self.next, options={"instance": self.pool[self.next % len(self.pool)]})[0]

    def play(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        """Answer each row's board by `generate`, play every answer, and go on from the first of each group."""
        policy, marks = self.policy, self.policy.marks
        observations = [text for text in self.observations for _ in range(ATTEMPTS)]
        ids = torch.from_numpy(policy.encode(observations))
        cap = policy.model.config.max_reply_tokens
        model = trainer.accelerator.unwrap_model(trainer.model)
        written = generate(model, ids, 0.8, cap, marks.pad, marks.end)[:, ids.shape[1] :]
        lengths = [1 + ([*row, marks.end]).index(marks.end) for row in written.tolist()]
        completions = [row[: min(size, cap)] for row, size in zip(written.tolist(), lengths, strict=True)]
        rewards = []
        for group, env in enumerate(self.envs):
            before = env.get_state()
            for attempt in range(ATTEMPTS):
                if attempt:
                    env.set_state(before)
                row = group * ATTEMPTS + attempt
                seen, reward, terminated, truncated, info = env.step(policy.decode(completions[row]))
                rewards.append(float(reward) + info["step_reward"] + float(bool(info["moves"])))
            self.observations[group] = self.start(env) if terminated or truncated else seen
        return {"prompt_ids": ids.tolist(), "completion_ids": completions, "logprobs": None, "result": rewards}


def measure_training(policy: TinyPolicy, rounds: int) -> dict[str, float]:
    """Return decisions trained a second by both trainers, in the best of several steps that take turns in blocks."""
    config = UpdateConfig(learning_rate=1e-6, correction="none")
    trainer = rl.Trainer(policy, SETTINGS, RolloutConfig(GROUPS, ATTEMPTS), config, seed=0)
    pool, ours = load_bank("T3"), []
    for number in range(rounds + 1):
        begin = time.process_time()
        decisions = sum(episode.decisions for episode in trainer.update(number, pool)[1])
        if number:
            ours.append(decisions / (time.process_time() - begin))
    with tempfile.TemporaryDirectory() as folder:
        theirs = DecisionEnvs(policy, folder, rounds + 1)
        theirs.trainer.train()
    return {"train_rl": max(ours), "GRPOTrainer": GROUPS * ATTEMPTS / min(theirs.seconds[1:])}


def peak() -> float:
    """Return the best multiplications and additions a second of this core, single precision."""
    left, right = torch.randn(1024, 1024), torch.randn(1024, 1024)
    return 2 * 1024**3 / min(cpu_seconds(lambda: left @ right) for _ in range(8))


def profile(policy: TinyPolicy, rounds: int) -> dict[str, float]:
    """Return CPU seconds of the parts of an update, best of several, and what its products would take at the peak."""
    trainer = rl.Trainer(policy, SETTINGS, RolloutConfig(GROUPS, ATTEMPTS), UpdateConfig(learning_rate=1e-6), seed=0)
    pool, best = load_bank("T3"), {"update": np.inf}
    for number in range(rounds + 1):
        parts: dict[str, float] = {}
        undo = [
            _timed(parts, "sampling", tiny, "sample"),
            _timed(parts, "environment", PuzzleEnv, "step"),
            _timed(parts, "environment", PuzzleEnv, "reset"),
            _timed(parts, "rollout", rl, "rollout"),
            _timed(parts, "forward", rl, "reply_scores"),
            _timed(parts, "backward", torch.Tensor, "backward"),
            _timed(parts, "optimiser", trainer.optimiser, "step"),
        ]
        begin = time.process_time()
        _, episodes = trainer.update(number, pool)
        parts["update"] = time.process_time() - begin
        for restore in undo:
            restore()
        if number and parts["update"] < best["update"]:
            best = parts | {"decisions": float(sum(e.decisions for e in episodes))}
            best["products"] = _products(policy, episodes)
    return best | {"peak": peak()}


def _timed(parts: dict[str, float], name: str, owner: Any, attribute: str) -> Callable[[], None]:
    plain = getattr(owner, attribute)

    def timed(*arguments: Any, **named: Any) -> Any:
        begin = time.process_time()
        try:
            return plain(*arguments, **named)
        finally:
            parts[name] = parts.get(name, 0.0) + time.process_time() - begin

    setattr(owner, attribute, timed)
    return lambda: setattr(owner, attribute, plain)


def _products(policy: TinyPolicy, episodes: Any) -> float:
    """Return the multiplications and additions of reading all boards once and writing all replies.

    Sampling does that much, learning three times as much: once forward, twice backward. Attention is left out.
    """
    config = policy.model.config
    width, layers, prefix = config.hidden_size, config.num_hidden_layers, config.prefix_length
    turns = [turn for episode in episodes for turn in episode.turns]
    boards = len({turn.prompt_ids[:-1].tobytes() for turn in turns}) * prefix
    suffix = sum(len(turn.reply_ids) for turn in turns)
    full = 2.0 * 12 * width * width
    return boards * (layers - 1 + 0.25) * full + suffix * (layers * full + 2 * width * config.vocab_size)


def measure_learning(policy: TinyPolicy, rounds: int) -> dict[str, float]:
    """Time forward and backward of one batch's replies, by the kernels and by the operations of torch."""
    episodes = rollout(policy, load_bank("T3")[:GROUPS], SETTINGS, ATTEMPTS)
    batch, size = ReplyBatch.from_episodes(episodes), UpdateConfig().micro_batch

    def learn(outputs: Any) -> None:
        policy.model.zero_grad()
        for rows in batch.micro_batches(torch.arange(len(batch)), size):
            part = batch.select(rows)
            outputs(policy.model, part.prompts, part.replies, part.mask, policy.sampling, policy.marks)[
                0
            ].sum().backward()

    works = {"kernels": sampler.reply_outputs, "torch": sampler.plain_reply_outputs}
    found = in_turns({name: lambda outputs=outputs: learn(outputs) for name, outputs in works.items()}, rounds)
    return found | {"decisions": float(len(batch))}


def show_rounds(found: dict[str, float]) -> None:
    print(f"tiny, {found['rounds']:.0f} decision rounds, {found['decisions']:.0f} decisions:")
    for name in ("kernels", "torch, compacted", "generate"):
        pace = found["decisions"] / found[name]
        print(f"  {name:18} {pace:8,.0f} decisions/s, {found['generate'] / found[name]:.1f} x generate")
    print(f"  kernels / generate: {found['generate'] / found['kernels']:.1f} (wanted 1.5)")


def show_learning(found: dict[str, float]) -> None:
    print(f"forward and backward of {found['decisions']:.0f} decisions:")
    for name in ("kernels", "torch"):
        print(f"  {name:18} {found['decisions'] / found[name]:8,.0f} decisions/s")
    print(f"  kernels / torch: {found['torch'] / found['kernels']:.1f}")


def show_language_model(found: dict[str, float]) -> None:
    print(f"small Qwen3, one round: ours / generate: {found['generate'] / found['ours']:.1f} (wanted 1.5)")


def show_training(found: dict[str, float]) -> None:
    ours, theirs = found["train_rl"], found["GRPOTrainer"]
    print(f"decisions trained a second: train_rl {ours:,.0f}, GRPOTrainer {theirs:,.0f}")
    print(f"  train_rl / GRPOTrainer: {ours / theirs:.1f} (wanted 3)")


def show_profile(found: dict[str, float]) -> None:
    print(f"an update of {found['decisions']:.0f} decisions takes {found['update'] * 1e3:.0f} ms:")
    spent = found | {"other of the rollout": found["rollout"] - found["sampling"] - found["environment"]}
    spent["credit, batches, the rest"] = found["update"] - sum(map(spent.__getitem__, ("rollout", *LEARNING)))
    for name in ("sampling", "environment", "other of the rollout", *LEARNING, "credit, batches, the rest"):
        print(f"  {name:26} {spent[name] * 1e3:6.0f} ms, {spent[name] / found['update']:4.0%}")
    print(f"matrix-multiply peak {found['peak'] / 1e9:.0f} GFLOP/s, and the share of it that is reached:")
    learning = found["forward"] + found["backward"]
    for name, times, seconds in (
        ("sampling", 1, found["sampling"]), ("forward and backward", 3, learning), ("update", 4, found["update"])
    ):  # fmt: skip
        products = times * found["products"]
        print(f"  {name:26} {products / 1e9:6.1f} GFLOP, {products / seconds / found['peak']:4.0%}")


PARTS: dict[str, tuple[Callable[[TinyPolicy, int], dict[str, float]], Callable[[dict[str, float]], None]]] = {
    "rounds": (measure_rounds, show_rounds),
    "learning": (measure_learning, show_learning),
    "qwen3": (lambda policy, rounds: measure_language_model(rounds), show_language_model),
    "profile": (profile, show_profile),
    "training": (measure_training, show_training),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="folder of a saved small model (4x4 Sudoku)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement; the best counts")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure; all by default"
    )
    parser.add_argument("--record", type=Path, help="also append the figures to this file, a line of JSON each run")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    policy, figures = small_policy(arguments.model), {}
    for name in arguments.parts:
        measure, show = PARTS[name]
        figures[name] = measure(policy, arguments.rounds)
        show(figures[name])
    if arguments.record:
        with arguments.record.open("a", encoding="utf8") as file:
            file.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
