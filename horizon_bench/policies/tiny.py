"""The policy `tiny`: a small model with its tokenizer, reading compact observations and writing compact replies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horizon_bench.extras import extra_needed
from horizon_bench.policies.base import Policy, Reply, Seat
from horizon_bench.policies.geometry import geometry
from horizon_bench.policies.sampling import Marks, Samples, Sampling, sample
from horizon_bench.policies.slots import box_words, field_words, slot_words
from horizon_bench.policies.tiny_model import TinyConfig, TinyForCausalLM
from horizon_bench.policies.vocabulary import END, PAD, THINK_END, build_tokenizer
from puzzles.base import Puzzle

with extra_needed():
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast
    from transformers.utils import logging as transformers_logging

MOST_ROWS = 512
"""Replies that are sampled together; more would only take more memory."""


class TinyPolicy:
    """A small model that plays: one sampler call for each round of decisions."""

    def __init__(
        self, model: TinyForCausalLM, tokenizer: PreTrainedTokenizerFast, sampling: Sampling | None = None
    ) -> None:
        """Join a model and its tokenizer.

        Args:
            model: the small model.
            tokenizer: its tokenizer.
            sampling: how replies are drawn; temperature 0.8 up to the model's longest reply by default.
        """
        torch.set_num_threads(1)
        self.model = model
        self.tokenizer = tokenizer
        self.sampling = sampling or Sampling(max_new_tokens=model.config.max_reply_tokens)
        self.ids: dict[str, int] = dict(tokenizer.get_vocab())
        self.words = [word for word, _ in sorted(self.ids.items(), key=lambda item: item[1])]
        self.marks = Marks(self.ids[PAD], self.ids[END], self.ids[THINK_END])
        self.prompt_length = model.config.prefix_length + 1

    @classmethod
    def create(
        cls,
        puzzle: Puzzle[Any, Any],
        board_tokens: int,
        *,
        hidden_size: int = 48,
        layers: int = 3,
        heads: int | None = None,
        max_reply_tokens: int | None = None,
        value_head: bool = False,
        milestone_slots: int = 0,
        seed: int = 0,
    ) -> TinyPolicy:
        """Return an untrained policy for a puzzle.

        Args:
            puzzle: rules with a compact form.
            board_tokens: number of tokens of `puzzle.compact`.
            hidden_size: width of the model.
            layers: number of blocks.
            heads: heads of each block; one for every 16 of the width by default, which is fastest on a CPU.
            max_reply_tokens: longest reply, end token included; by default `reply_room`, four actions after a thought.
            value_head: whether the model carries a value critic.
            milestone_slots: slots of a milestone field in the prompt (see `horizon_bench.milestones.field`); 0: none.
            seed: of the weights.
        """
        further = field_words(puzzle, milestone_slots)
        tokenizer = build_tokenizer(puzzle, further)
        places = geometry(puzzle, board_tokens)
        slots = [places.tokens.get(word, ()) for word in slot_words(puzzle, milestone_slots)]
        ids = tokenizer.get_vocab()
        config = TinyConfig(
            vocab_size=len(ids),
            hidden_size=hidden_size,
            num_hidden_layers=layers,
            num_attention_heads=heads or max(1, hidden_size // 16),
            prefix_length=board_tokens + 1 + (len(slots) + 1 if slots else 0),
            max_reply_tokens=max_reply_tokens or reply_room(puzzle),
            feature_count=len(places.features),
            position_features=[list(features) for features in (*places.positions, *([(), *slots] if slots else []))],
            token_features={str(ids[token]): list(features) for token, features in places.tokens.items()},
            value_head=value_head,
            milestone_slots=milestone_slots,
            pad_token_id=ids[PAD],
            eos_token_id=ids[END],
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = TinyForCausalLM(config)
        if puzzle.repeats_words:
            model.repeat_words()
        return cls(model.eval(), tokenizer)

    @property
    def milestone_slots(self) -> int:
        """Slots of the milestone field that the model reads in its prompt; 0 for none."""
        slots: int = self.model.config.milestone_slots
        return slots

    @classmethod
    def load(cls, folder: str | Path) -> TinyPolicy:
        """Return the policy saved in a folder.

        Raises:
            ValueError: if the folder holds no such model.
        """
        if not (Path(folder) / "config.json").is_file():
            raise ValueError(f"no saved model in {str(folder)!r}: config.json is missing; save one by TinyPolicy.save")
        try:
            with _quiet():
                model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
            tokenizer = AutoTokenizer.from_pretrained(folder)
        except (SafetensorError, OSError, ValueError, RuntimeError, KeyError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"the model in {str(folder)!r} is damaged: {reason[:200]}") from error
        if not isinstance(model, TinyForCausalLM):
            kind = type(model).__name__
            raise ValueError(f"the model in {str(folder)!r} is a {kind}, not the small model; name it hf:{folder}")
        return cls(model.eval(), tokenizer)

    def save(self, folder: str | Path) -> None:
        """Write model (safetensors) and tokenizer, as the Auto classes load them."""
        with _quiet():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def with_sampling(self, **changes: Any) -> TinyPolicy:
        """Return a policy that shares this model and samples with changed fields of `Sampling`."""
        return TinyPolicy(self.model, self.tokenizer, replace(self.sampling, **changes))

    def at_temperature(self, temperature: float) -> Policy:
        """Return a policy that shares this model and samples at this temperature."""
        return self.with_sampling(temperature=temperature)

    def encode(self, observations: Sequence[str]) -> NDArray[np.int64]:
        """Return the token ids of compact observations, shape [rows, prompt tokens].

        Raises:
            ValueError: if an observation has another number of tokens than the model was made for, or an unknown one.
        """
        rows = []
        for observation in observations:
            words = observation.split()
            if len(words) != self.prompt_length:
                raise ValueError(
                    f"the small model reads {self.prompt_length} tokens ({self._parts()}), this observation has "
                    f"{len(words)}; make the environment with observation='compact' and the model's own puzzle"
                )
            try:
                rows.append([self.ids[word] for word in words])
            except KeyError as unknown:
                raise ValueError(f"token {unknown} of the observation is not in the model's vocabulary") from None
        return np.array(rows, dtype=np.int64)

    def _parts(self) -> str:
        return "board, feedback, milestones, mode" if self.milestone_slots else "board, feedback, mode"

    def decode(self, ids: Sequence[int]) -> str:
        """Return the reply text of token ids: the tokenizer's decoding without one final end token."""
        if len(ids) and ids[-1] == self.marks.end:
            ids = ids[:-1]
        words = self.words
        return " ".join([words[index] for index in ids])

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one sampled reply for each lane."""
        prompts = self.encode(observations)
        cap = min(self.sampling.max_new_tokens, self.model.config.max_reply_tokens)
        uniforms = np.stack([generator.random(cap, dtype=np.float32) for generator in generators])
        replies: list[Reply] = []
        for first in range(0, len(prompts), MOST_ROWS):
            part = slice(first, first + MOST_ROWS)
            ids, chances = torch.from_numpy(prompts[part]), torch.from_numpy(uniforms[part])
            replies += self._replies(prompts[part], sample(self.model, ids, chances, self.sampling, self.marks))
        return replies

    def _replies(self, prompts: NDArray[np.int64], samples: Samples) -> list[Reply]:
        """Return the samples as replies, cut to their lengths."""
        ids, logprobs = samples.ids.numpy(), samples.logprobs.numpy()
        lengths, entropy, capped = samples.lengths.tolist(), samples.entropy.tolist(), samples.capped.tolist()
        written = samples.ids.tolist()
        return [
            Reply(
                self.decode(written[row][:length]),
                prompts[row],
                ids[row, :length],
                logprobs[row, :length],
                entropy[row],
                capped[row],
            )
            for row, length in enumerate(lengths)
        ]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep progress bars of transformers off the screen: a small model loads in milliseconds."""
    shown = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            transformers_logging.enable_progress_bar()


def reply_room(puzzle: Puzzle[Any, Any], actions: int = 4, scans: int = 2) -> int:
    """Return how many tokens the longest usual reply takes, end token included.

    Args:
        puzzle: rules with a compact form.
        actions: atomic actions in the reply.
        scans: boxes that a thought scans, where the vocabulary names boxes; each may miss every digit.
    """
    moves = puzzle.all_moves()
    width = max((len(puzzle.compact_action(move)) for move in moves), default=3)
    boxes = len(box_words(puzzle))
    thought = 2 + scans * (boxes + 1) if boxes else 0
    return thought + actions * width + 1
