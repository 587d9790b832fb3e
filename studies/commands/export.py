"""`horizon-bench export`: banks and expert traces as data sets for other trainers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro


@dataclass(frozen=True)
class Export:
    """Write the puzzles of a bank, or prompts with expert replies, as JSON lines or as a Hugging Face data set.

    Rows of `bank` hold the start, solution or plan, goal distance, level, split, content key and the first prompt as a
    conversation. Rows of `traces` hold `prompt` and `completion` as conversations, as TRL's trainers take them.
    """

    what: Annotated[Literal["bank", "traces"], tyro.conf.Positional]
    """bank or traces."""
    out: Path
    """File for jsonl, folder for hf; must not exist yet."""
    level: tuple[str, ...] = ("L3",)
    """Levels, such as T1 T2."""
    split: Literal["test", "validation", "train"] = "train"
    """Part of the bank."""
    format: Literal["hf", "jsonl"] = "jsonl"
    """jsonl, or hf for `datasets.load_from_disk`."""
    interface: str = "atomic"
    """Interface of the prompts: atomic, macro, macro-capped-K, macro-fixed-K or macro-stepwise."""
    count: int = 1000
    """Number of traces."""
    seed: int = 0
    """Seed of the traces."""

    def run(self) -> int:
        """Write the rows and say how many."""
        if self.count < 1 or self.seed < 0:
            raise ValueError("count must be at least 1, seed at least 0")
        if self.out.exists():
            raise ValueError(f"{self.out} exists; give another name, or remove it")
        rows = list(self._bank() if self.what == "bank" else self._traces())
        if self.format == "jsonl":
            self.out.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            self.out.write_text(text, encoding="utf8")
        else:
            from datasets import Dataset

            Dataset.from_list(rows).save_to_disk(str(self.out))
        print(f"{len(rows)} rows in {self.out}")
        return 0

    def _instances(self) -> list[Any]:
        from curricula import load_bank

        return [one for level in self.level for one in load_bank(level, self.split)]

    def _bank(self) -> Iterator[dict[str, Any]]:
        from horizon_bench.training.environments import first_prompt

        for instance in self._instances():
            prompt = first_prompt(instance, self._settings())
            yield {**asdict(instance), "prompt": [{"role": "user", "content": prompt}]}

    def _traces(self) -> Iterator[dict[str, Any]]:
        from horizon_bench.training.language_sft import expert_traces

        for prompt, reply in expert_traces(self._instances(), self._settings(), self.count, self.seed):
            yield {
                "prompt": [{"role": "user", "content": prompt}],
                "completion": [{"role": "assistant", "content": reply}],
            }

    def _settings(self) -> Any:
        from horizon_bench.envs.settings import Settings

        return Settings(interface=self.interface)
