"""Replies come out of a batch as they went in."""

from __future__ import annotations

import torch

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
