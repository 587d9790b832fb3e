"""Replies come out of a batch as they went in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from curricula import Instance
from horizon_bench.envs import Settings
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.rollout import rollout
from horizon_bench.training.batches import ReplyBatch
from puzzles.sudoku import Sudoku


def test_every_reply_stands_in_its_row(instances: tuple[Instance, ...]) -> None:
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1)
    episodes = rollout(policy, instances[:4], Settings(observation="compact", interface="macro"), attempts=2)
    turns = [turn for episode in episodes for turn in episode.turns]
    batch = ReplyBatch.from_episodes(episodes)
    assert len(batch) == len(turns)
    for row, turn in enumerate(turns):
        assert batch.replies[row][batch.mask[row]].tolist() == turn.reply_ids.tolist()
        assert batch.sampling_logprobs[row][batch.mask[row]].tolist() == turn.sampling_logprobs.tolist()
        assert batch.prompts[row].tolist() == turn.prompt_ids.tolist()
    parts = batch.micro_batches(torch.arange(len(batch)), 3)
    assert sorted(torch.cat(parts).tolist()) == list(range(len(batch)))
    for rows in parts:
        part = batch.select(rows)
        assert len(part) <= 3
        assert part.mask.any(0).all()


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 5)), min_size=1, max_size=12), st.integers(1, 5))
def test_prompts_of_any_length_come_out_as_they_went_in(lengths: list[tuple[int, int]], size: int) -> None:
    turns = [turn(np.arange(1, prompt + 1), np.arange(1, reply + 1)) for prompt, reply in lengths]
    batch = ReplyBatch.from_episodes([SimpleNamespace(turns=turns)])
    for rows in batch.micro_batches(torch.arange(len(batch)), size):
        part = batch.select(rows)
        inside = torch.ones_like(part.prompts, dtype=torch.bool) if part.prompt_mask is None else part.prompt_mask
        assert inside[:, -1].all()
        assert inside.any(0).all()
        for place, row in enumerate(rows.tolist()):
            assert part.prompts[place][inside[place]].tolist() == turns[row].prompt_ids.tolist()
            assert part.replies[place][part.mask[place]].tolist() == turns[row].reply_ids.tolist()


def turn(prompt: Any, reply: Any) -> Any:
    return SimpleNamespace(prompt_ids=prompt, reply_ids=reply, sampling_logprobs=np.zeros(len(reply), np.float32))
