"""The tokenizer of small models: one token for each cell, digit, vehicle, direction, mode and piece of feedback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from horizon_bench.extras import extra_needed
from puzzles.base import Puzzle

with extra_needed():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

PAD, END, UNKNOWN = "<pad>", "<end>", "<unk>"
THINK, THINK_END = "<think>", "</think>"
FEEDBACK = ("<ok>", "<illegal>", "<void>")
MODES = ("<atomic>", "<macro>", "<fixed>", "<what>", "<where>")
SPECIAL = (PAD, END, UNKNOWN, THINK, THINK_END, *FEEDBACK, *MODES)


def build_tokenizer(puzzle: Puzzle[Any, Any], further: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """Return the word-level tokenizer whose words are the puzzle's vocabulary and the tokens of prompt and reply.

    Args:
        puzzle: rules with a compact form.
        further: words of a milestone field; the ids of all others stay as they are.

    Raises:
        ValueError: if the puzzle offers no vocabulary.
    """
    words = puzzle.vocabulary()
    if not words:
        raise ValueError(f"puzzle {puzzle.name!r} offers no vocabulary(); a small model needs its compact form")
    ids = {word: index for index, word in enumerate(dict.fromkeys((*SPECIAL, *words, *further)))}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
