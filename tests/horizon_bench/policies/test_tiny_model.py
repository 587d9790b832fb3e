"""The small model is a transformers model like any other, and sees what it should see."""

from __future__ import annotations

import pathlib

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.policies.tiny_model import TinyForCausalLM
from puzzles.shop import Shop
from puzzles.sudoku import Sudoku


def test_auto_classes_give_the_saved_model_back(policy: TinyPolicy, tmp_path: pathlib.Path) -> None:
    policy.save(tmp_path)
    assert (tmp_path / "model.safetensors").is_file()
    assert not list(tmp_path.glob("*.bin")) + list(tmp_path.glob("*.pt"))
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert isinstance(model, TinyForCausalLM)
    loaded, kept = AutoConfig.from_pretrained(tmp_path).to_dict(), policy.model.config.to_dict()
    assert {name: loaded[name] for name in kept if name != "_name_or_path"} == {
        name: value for name, value in kept.items() if name != "_name_or_path"
    }
    ids = torch.randint(0, len(tokenizer), (3, 30), generator=torch.Generator().manual_seed(0))
    assert torch.equal(model.eval()(ids).logits, policy.model(ids).logits)
    assert tokenizer.get_vocab() == policy.tokenizer.get_vocab()


def test_ninety_thousand_weights(policy: TinyPolicy) -> None:
    assert 85_000 < sum(weight.numel() for weight in policy.model.parameters()) < 95_000


def test_the_prefix_sees_itself_whole_and_the_reply_its_past(policy: TinyPolicy) -> None:
    model, ids = policy.model, torch.arange(24)[None]
    prefix = model.config.prefix_length
    before = model(ids).logits
    changed = ids.clone()
    changed[0, 20] = 3
    assert torch.equal(model(changed).logits[0, :20], before[0, :20])
    changed = ids.clone()
    changed[0, prefix - 1] = 3
    assert (model(changed).logits[0] != before[0]).any(-1).all()


def test_left_out_queries_change_nothing(policy: TinyPolicy) -> None:
    ids = torch.arange(24).repeat(2, 1)
    assert torch.allclose(policy.model(ids, first_query=17).logits, policy.model(ids).logits[:, 17:], atol=1e-6)


def test_a_padding_mask_hides_the_padding(policy: TinyPolicy) -> None:
    ids = torch.arange(24)[None]
    padded = torch.cat([ids, torch.zeros(1, 4, dtype=torch.long)], 1)
    mask = torch.cat([torch.ones(1, 24), torch.zeros(1, 4)], 1)
    assert torch.allclose(policy.model(padded, attention_mask=mask).logits[:, :24], policy.model(ids).logits, atol=1e-6)


def test_the_loss_is_the_mean_over_learned_labels(policy: TinyPolicy) -> None:
    ids = torch.arange(24)[None]
    labels = ids.clone()
    labels[:, :20] = -100
    output = policy.model(ids, labels=labels)
    expected = -output.logits[0, 19:23].log_softmax(-1).gather(1, ids[0, 20:, None]).mean()
    assert output.loss.item() == pytest.approx(expected.item(), rel=1e-6)


def test_generate_and_the_own_sampler_agree_when_greedy(policy: TinyPolicy, observations: list[str]) -> None:
    import numpy as np

    greedy = policy.with_sampling(temperature=1e-4, max_new_tokens=6)
    replies = greedy.reply(observations, (), [np.random.default_rng(0) for _ in observations])
    prompts = torch.from_numpy(policy.encode(observations))
    written = policy.model.generate(prompts, max_new_tokens=6, do_sample=False)[:, prompts.shape[1] :]
    for row, reply in enumerate(replies):
        assert reply.reply_ids.tolist() == written[row, : len(reply.reply_ids)].tolist()


def test_where_actions_repeat_words_the_head_begins_with_their_vectors() -> None:
    shop = Shop(20)
    board = len(shop.compact(shop.parse(shop.examples()[0])))
    for puzzle, tokens, repeats in ((shop, board, True), (Sudoku(4), 16, False)):
        model = TinyPolicy.create(puzzle, tokens).model
        assert torch.equal(2 * model.lm_head.weight, model.model.tokens.weight) is repeats
        assert model.lm_head.weight is not model.model.tokens.weight
