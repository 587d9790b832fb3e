"""A language model with random weights, a byte-level BPE tokenizer and a chat template, made on the spot.

It knows nothing, but it is loaded, prompted, sampled, trained, saved and served just as a real one: every path of
language models can be tried without a download.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from horizon_bench.envs.interfaces import INTERFACES
from horizon_bench.envs.prompts import opening
from horizon_bench.extras import extra_needed
from puzzles import PUZZLES

with extra_needed():
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

PAD, END, START = "<|endoftext|>", "<|im_end|>", "<|im_start|>"

CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}"
    "{{ '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and not enable_thinking -%}{{ '<think>\\n\\n</think>\\n\\n' }}{%- endif -%}"
    "{%- endif -%}"
)
"""ChatML; without thinking the template answers with an empty thought, as those of reasoning models do."""


def write_random_model(
    folder: str | Path,
    *,
    hidden_size: int = 32,
    layers: int = 2,
    words: int = 512,
    seed: int = 0,
    template: str | None = CHAT_TEMPLATE,
) -> Path:
    """Write model and tokenizer into a folder, which is returned.

    Args:
        folder: where to.
        hidden_size: width, a multiple of 16.
        layers: number of blocks.
        words: entries of the vocabulary, at least 300.
        seed: of the weights.
        template: Jinja chat template; None for a model without one.
    """
    tokenizer = _tokenizer(words, template)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=2 * hidden_size,
        num_hidden_layers=layers,
        num_attention_heads=hidden_size // 16,
        num_key_value_heads=max(1, hidden_size // 32),
        head_dim=16,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(config)
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, do_sample=True
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def _tokenizer(words: int, template: str | None) -> PreTrainedTokenizerFast:
    """Return a byte-level BPE tokenizer learned from the rules of all puzzles."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=words,
        special_tokens=[PAD, END, START],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[START],
        chat_template=template,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def _texts() -> Iterator[str]:
    """Yield the openings of every puzzle's prompts, and actions."""
    for make in PUZZLES.values():
        puzzle = make()
        for interface in INTERFACES.values():
            yield opening(puzzle, interface.instruction(), "free")
        yield from (puzzle.format_action(move) for move in puzzle.all_moves()[:200])
