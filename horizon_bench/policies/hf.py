"""The policy `hf:<name or folder>`: any causal language model of transformers with its own tokenizer and chat template.

Weights are read from safetensors only, and code that comes with a model is never run. Token ids are kept as they were
sampled; only prompts are ever tokenised.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from horizon_bench.extras import extra_needed, install
from horizon_bench.policies.base import Reply
from horizon_bench.policies.chat import ChatSampling, Conversation
from horizon_bench.policies.language_sampling import reply_logprobs, sample_replies
from horizon_bench.policies.templates import TemplatedChat
from puzzles.names import check_name

with extra_needed():
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_model
    from torch import Tensor
    from transformers import AutoModelForCausalLM, AutoTokenizer

MOST_ROWS = 64
"""Replies that are sampled together; more would only take more memory."""

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
"""Number formats of weights."""

_ADAPTER, _ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


class HfPolicy(TemplatedChat):
    """A language model that plays: the observation is the user's message, the reply is sampled token by token."""

    def __init__(self, model: Any, tokenizer: Any, sampling: ChatSampling | None = None, name: str = "") -> None:
        """Join a model and its tokenizer.

        Args:
            model: a causal language model of transformers, plain or with a peft adapter.
            tokenizer: its tokenizer; without a chat template it is asked in plain text.
            sampling: how replies are drawn.
            name: where the model comes from, for messages.
        """
        super().__init__(tokenizer, _end_ids(model, tokenizer), sampling)
        self.model = model
        self.name = name

    @classmethod
    def load(
        cls,
        name: str | Path,
        *,
        dtype: str = "",
        device: str = "",
        revision: str = "main",
        sampling: ChatSampling | None = None,
    ) -> Self:
        """Return the policy of a model's name or folder; a folder may hold a LoRA adapter, or be a GGUF file.

        Args:
            name: a folder, a file that ends in .gguf, or a name on the hub.
            dtype: a name in `DTYPES`; by default float32 on a processor, bfloat16 on a GPU.
            device: by default `cuda` where there is one, else `cpu`.
            revision: branch, tag or commit on the hub.
            sampling: how replies are drawn.

        Raises:
            ValueError: if there is no such model, or it cannot be loaded without running code or unpickling.
        """
        place = device or ("cuda" if torch.cuda.is_available() else "cpu")
        kind = dtype or ("float32" if place == "cpu" else "bfloat16")
        model, tokenizer = _load(str(name), DTYPES[check_name("dtype", kind, DTYPES)], revision)
        return cls(model.to(place).eval(), tokenizer, sampling, str(name))

    def save(self, folder: str | Path) -> None:
        """Write weights (safetensors; of an adapter only its own) and tokenizer, as `load` reads them."""
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)

    def load_weights(self, folder: str | Path) -> None:
        """Put the weights that `save` wrote in place.

        Raises:
            ValueError: if the folder holds no weights of this model.
        """
        path = Path(folder)
        try:
            if hasattr(self.model, "peft_config"):
                from peft import load_peft_weights, set_peft_model_state_dict

                _refuse_pickled_adapter(path)
                set_peft_model_state_dict(self.model, load_peft_weights(str(path), device=str(self.model.device)))
            elif (path / "model.safetensors").is_file():
                load_model(self.model, str(path / "model.safetensors"))
            else:
                stored, _ = _load(str(path), self.model.dtype, "main")
                self.model.load_state_dict(stored.state_dict())
        except (SafetensorError, OSError, RuntimeError, KeyError) as error:
            raise ValueError(f"{str(path)!r} holds no weights of this model: {_short(error)}") from error

    def with_sampling(self, **changes: Any) -> Self:
        """Return a policy that shares this model and samples with changed fields of `ChatSampling`."""
        return type(self)(self.model, self.tokenizer, self.sampling.changed(**changes), self.name)

    def chat(self, conversations: Sequence[Conversation], generators: Sequence[np.random.Generator]) -> list[Reply]:
        """Return one sampled reply to each conversation."""
        rendered = [self.render(conversation) for conversation in conversations]
        prompts = [self.tokenise(text) for text in rendered]
        uniforms = np.stack([generator.random(self.sampling.max_new_tokens) for generator in generators])
        self.model.eval()
        replies: list[Reply] = []
        for first in range(0, len(prompts), MOST_ROWS):
            part = slice(first, first + MOST_ROWS)
            drawn = sample_replies(
                self.model,
                prompts[part],
                uniforms[part],
                self.sampling.temperature,
                self.end_ids,
                self.stops if self.sampling.stop else None,
            )
            texts = [self.reply_text(text, ids) for text, ids in zip(rendered[part], drawn.ids, strict=True)]
            columns = (texts, prompts[part], drawn.ids, drawn.logprobs, drawn.entropy, drawn.capped)
            replies += [Reply(*row) for row in zip(*columns, strict=True)]
        return replies

    def score(
        self,
        prompts: Tensor,
        replies: Tensor,
        mask: Tensor,
        prompt_mask: Tensor | None = None,
        *,
        model: Any = None,
    ) -> Tensor:
        """Return the log-probability of every reply token at the sampling temperature; gradients flow.

        Args:
            prompts: token ids, filled up in front, shape [rows, prompt tokens].
            replies: token ids, filled up at the end, shape [rows, tokens].
            mask: true at the tokens of the reply, same shape.
            prompt_mask: 1 at the tokens of the prompt, shape of `prompts`; all of them by default.
            model: what accelerate made of the model; by default the model itself.

        Returns:
            Log-probabilities, shape [rows, tokens], 0 where `mask` is false.
        """
        chosen = self.model if model is None else model
        seen = torch.ones_like(prompts) if prompt_mask is None else prompt_mask
        return reply_logprobs(chosen, prompts, seen, replies, mask, self.sampling.temperature)


def _end_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the ids of every token that ends a reply, as model and tokenizer name them."""
    named = getattr(model.generation_config, "eos_token_id", None)
    several = named if isinstance(named, (list, tuple)) else [named]
    return frozenset(int(token) for token in (*several, tokenizer.eos_token_id) if token is not None)


def _load(name: str, dtype: torch.dtype, revision: str) -> tuple[Any, Any]:
    """Return model and tokenizer; never unpickles, never runs a model's own code."""
    folder = Path(name)
    if (folder / _ADAPTER).is_file():
        return _load_adapter(folder, dtype)
    place, extra = (str(folder.parent), {"gguf_file": folder.name}) if folder.suffix == ".gguf" else (name, {})
    safe = {"trust_remote_code": False, "revision": revision, **extra}
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **safe)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=dtype, use_safetensors=True, **safe)
    except (SafetensorError, OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        raise ValueError(f"cannot load the language model {name!r}: {_reason(folder, error)}") from error
    return model, tokenizer


def _load_adapter(folder: Path, dtype: torch.dtype) -> tuple[Any, Any]:
    """Return the model of a peft adapter's folder, with the adapter on it and open to training."""
    try:
        from peft import PeftModel
    except ImportError as error:
        raise ValueError(f"{folder} holds an adapter, which needs peft: {install('lora')}") from error
    _refuse_pickled_adapter(folder)
    try:
        base = json.loads((folder / _ADAPTER).read_text(encoding="utf8"))["base_model_name_or_path"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder / _ADAPTER} names no base model: {_short(error)}") from error
    model, tokenizer = _load(str(base), dtype, "main")
    try:
        model = PeftModel.from_pretrained(model, str(folder), is_trainable=True)
        if (folder / "tokenizer_config.json").is_file():
            tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
    except (SafetensorError, OSError, ValueError, RuntimeError, KeyError) as error:
        raise ValueError(f"cannot load the adapter in {str(folder)!r}: {_short(error)}") from error
    return model, tokenizer


def _refuse_pickled_adapter(folder: Path) -> None:
    if not (folder / _ADAPTER_WEIGHTS).is_file():
        raise ValueError(
            f"{folder} holds no {_ADAPTER_WEIGHTS}; weights are read from safetensors only, other files can run code"
        )


def _reason(folder: Path, error: Exception) -> str:
    """Return why a model could not be loaded, and the way out."""
    text = str(error)
    if "trust_remote_code" in text:
        return "it needs code of its own, which is never run; use a model that transformers knows"
    if folder.is_dir() and not list(folder.glob("*.safetensors")):
        return "the folder holds no .safetensors file; weights are read from safetensors only, other files can run code"
    if not folder.exists() and (folder.is_absolute() or name_is_path(str(folder))):
        return "there is no such folder"
    return _short(error)


def name_is_path(name: str) -> bool:
    """Return whether a model's name can only be a path: hub names hold at most one slash and begin with a letter."""
    return name.startswith((".", "~")) or name.count("/") > 1


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
