"""A small transformer that reads a whole board at once: bidirectional over the prompt, causal over the reply.

It is an ordinary transformers model (`AutoConfig`, `AutoModelForCausalLM`, `save_pretrained`, safetensors), so that
`trl.SFTTrainer` trains it as any other. The prompt's last token, the mode, belongs to the causal part: prompts that
differ in their mode alone share the work of the board.
"""

from __future__ import annotations

import math
from typing import Any, cast

from horizon_bench.extras import extra_needed

with extra_needed():
    import torch
    import torch.nn.functional as F  # noqa: N812
    from torch import Tensor, nn
    from transformers import (
        AutoConfig,
        AutoModel,
        AutoModelForCausalLM,
        GenerationMixin,
        PretrainedConfig,
        PreTrainedModel,
    )
    from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput


class TinyConfig(PretrainedConfig):
    """Sizes of the model, and which positions and tokens share geometric features."""

    model_type = "horizon_tiny"

    def __init__(
        self,
        vocab_size: int = 32,
        hidden_size: int = 48,
        num_hidden_layers: int = 3,
        num_attention_heads: int = 3,
        prefix_length: int = 17,
        max_reply_tokens: int = 24,
        feature_count: int = 0,
        position_features: list[list[int]] | None = None,
        token_features: dict[str, list[int]] | None = None,
        value_head: bool = False,
        milestone_slots: int = 0,
        **kwargs: Any,
    ) -> None:
        """Describe a model.

        Args:
            vocab_size: number of tokens.
            hidden_size: width; a multiple of the number of heads.
            num_hidden_layers: number of blocks.
            num_attention_heads: heads of each block.
            prefix_length: tokens that see each other in both directions: board, feedback and milestone field.
            max_reply_tokens: longest reply, end token included.
            feature_count: number of geometric features.
            position_features: features of each prompt position.
            token_features: features of token ids, the id as text (JSON keys are text).
            value_head: whether a value critic sits on the trunk.
            milestone_slots: slots of the prompt's milestone field; 0 for a prompt without one.
            kwargs: fields of every transformers configuration.
        """
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.prefix_length = prefix_length
        self.max_reply_tokens = max_reply_tokens
        self.feature_count = feature_count
        self.position_features = position_features or []
        self.token_features = token_features or {}
        self.value_head = value_head
        self.milestone_slots = milestone_slots
        kwargs.setdefault("tie_word_embeddings", False)
        kwargs.setdefault("use_cache", False)
        super().__init__(**kwargs)

    @property
    def max_position_embeddings(self) -> int:
        """Longest sequence: prefix, mode token, reply."""
        return self.prefix_length + 1 + self.max_reply_tokens


class Block(nn.Module):
    """One pre-norm block: attention, then a GELU feed-forward of four times the width."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.heads = config.num_attention_heads
        self.norm_attention = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.norm_feed = nn.LayerNorm(width)
        self.feed_in = nn.Linear(width, 4 * width)
        self.feed_out = nn.Linear(4 * width, width)
        for linear in (self.output, self.feed_out):
            linear.residual = True  # type: ignore[assignment]

    def split(self, states: Tensor) -> Tensor:
        """Return [rows, tokens, n * width] as [n, rows, heads, tokens, head width]."""
        rows, tokens, width = states.shape
        size = self.output.in_features
        parts = states.view(rows, tokens, width // size, self.heads, size // self.heads)
        return parts.permute(2, 0, 3, 1, 4)

    def finish(self, hidden: Tensor, attended: Tensor) -> Tensor:
        """Return the block's output from its input and what attention gathered, shape [rows, tokens, width]."""
        hidden = hidden + self.output(attended.transpose(1, 2).reshape(hidden.shape))
        return hidden + self.feed_out(F.gelu(self.feed_in(self.norm_feed(hidden))))

    def forward(self, hidden: Tensor, mask: Tensor | None, first_query: int = 0) -> tuple[Tensor, Tensor]:
        """Return the outputs from `first_query` on, and keys and values of all tokens.

        Args:
            hidden: shape [rows, tokens, width].
            mask: true or 0 where a query may look, broadcast to [rows, heads, queries, tokens].
            first_query: first token whose output is wanted.
        """
        normed = self.norm_attention(hidden)
        if first_query:
            width = self.output.in_features
            weight, bias = self.query_key_value.weight, self.query_key_value.bias
            keys_values = self.split(F.linear(normed, weight[width:], bias[width:]))
            query = self.split(F.linear(normed[:, first_query:], weight[:width], bias[:width]))[0]
        else:
            parts = self.split(self.query_key_value(normed))
            query, keys_values = parts[0], parts[1:]
        attended = F.scaled_dot_product_attention(query, keys_values[0], keys_values[1], attn_mask=mask)
        return self.finish(hidden[:, first_query:], attended), keys_values

    def step(self, hidden: Tensor, cache: Tensor, position: int) -> Tensor:
        """Return the output for one new token of each row, and write its key and value into the cache.

        Args:
            hidden: shape [rows, 1, width].
            cache: keys and values, shape [2, rows, heads, tokens, head width].
            position: index of the new token.
        """
        parts = self.split(self.query_key_value(self.norm_attention(hidden)))
        cache[:, :, :, position : position + 1] = parts[1:]
        keys, values = cache[0, :, :, : position + 1], cache[1, :, :, : position + 1]
        return self.finish(hidden, F.scaled_dot_product_attention(parts[0], keys, values))


class TinyPreTrainedModel(PreTrainedModel):
    """What all tiny models share with transformers."""

    config_class = TinyConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = False
    _supports_sdpa = True

    def _init_weights(self, module: nn.Module) -> None:
        """Initialise one module; residual outputs are scaled down by the depth."""
        if isinstance(module, nn.Linear):
            depth = 2 * self.config.num_hidden_layers if getattr(module, "residual", False) else 1
            nn.init.normal_(module.weight, std=0.7 / math.sqrt(module.in_features * depth))
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.3)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        if isinstance(module, TinyModel):
            module.fill_incidence()


class TinyModel(TinyPreTrainedModel):
    """The trunk: embeddings with shared geometry, blocks, final norm."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__(config)
        width = config.hidden_size
        self.tokens = nn.Embedding(config.vocab_size, width)
        self.positions = nn.Embedding(config.max_position_embeddings, width)
        self.features = nn.Embedding(max(1, config.feature_count), width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.LayerNorm(width)
        shape = max(1, config.feature_count)
        self.register_buffer("token_incidence", torch.zeros(config.vocab_size, shape), persistent=False)
        self.register_buffer("position_incidence", torch.zeros(config.max_position_embeddings, shape), persistent=False)
        self.fill_incidence()
        self.post_init()

    def fill_incidence(self) -> None:
        """Write which tokens and positions hold which features into the buffers; they are never saved."""
        with torch.no_grad():
            self.token_incidence.zero_()
            self.position_incidence.zero_()
            for token, features in self.config.token_features.items():
                self.token_incidence[int(token), features] = 1.0
            for position, features in enumerate(self.config.position_features):
                self.position_incidence[position, features] = 1.0

    def get_input_embeddings(self) -> nn.Module:
        """Return the token embedding."""
        return self.tokens

    def tables(self) -> tuple[Tensor, Tensor]:
        """Return the full vectors of all tokens and of all positions, shape [vocabulary or positions, width] each."""
        features = self.features.weight
        return (
            self.tokens.weight + self.token_incidence @ features,
            self.positions.weight + self.position_incidence @ features,
        )

    def embed(self, input_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Return the vectors the first block reads, shape [rows, tokens, width]."""
        tokens, positions = self.tables()
        return F.embedding(input_ids, tokens) + F.embedding(position_ids, positions)

    def step(self, states: Tensor, cache: list[Tensor], position: int) -> Tensor:
        """Return the final state of one new token of each row, shape [rows, width], and extend the cache.

        Args:
            states: what `embed` gives for the token, shape [rows, 1, width].
            cache: keys and values of each layer, shape [2, rows, heads, tokens, head width] each.
            position: index of the new token.
        """
        for block, layer in zip(self.blocks, cache, strict=True):
            states = cast(Block, block).step(states, layer, position)
        final: Tensor = self.norm(states[:, 0])
        return final

    def prefix_mask(self, length: int) -> Tensor:
        """Return who sees whom in one plain sequence, shape [length, length]: the prefix all, later tokens the past."""
        mask = torch.ones(length, length, dtype=torch.bool, device=self.device).tril()
        prefix = min(self.config.prefix_length, length)
        mask[:prefix, :prefix] = True
        return mask

    def _mask(self, attention_mask: Tensor | None, length: int) -> Tensor:
        """Return who sees whom, by the caller's 4D mask, 2D padding mask, or none."""
        if attention_mask is not None and attention_mask.dim() == 4:
            return attention_mask
        mask = self.prefix_mask(length)[None, None]
        if attention_mask is not None:
            mask = mask & attention_mask[:, None, None, :].bool()
            mask = mask | torch.eye(length, dtype=torch.bool, device=mask.device)  # padding rows look at themselves
        return mask

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        first_query: int = 0,
        **kwargs: Any,
    ) -> BaseModelOutput:
        """Return the last hidden states.

        Args:
            input_ids: shape [rows, tokens].
            attention_mask: shape [rows, tokens] for padding, or [rows, 1, tokens, tokens] for any pattern (true, or
                additive); without it every row is one prompt with its reply.
            position_ids: shape [rows, tokens] or [tokens]; 0, 1, 2, ... without it.
            first_query: outputs of earlier tokens are left out, which saves their share of the last block.
            kwargs: accepted and ignored, as trainers pass more than a small model needs.
        """
        length = input_ids.shape[1]
        if position_ids is None:
            position_ids = torch.arange(length, device=input_ids.device)
        hidden = self.embed(input_ids, position_ids)
        mask = self._mask(attention_mask, length)
        for block in self.blocks[:-1]:
            hidden = block(hidden, mask)[0]
        hidden = self.blocks[-1](hidden, mask[:, :, first_query:], first_query)[0]
        return BaseModelOutput(last_hidden_state=self.norm(hidden))


class TinyForCausalLM(TinyPreTrainedModel, GenerationMixin):
    """The trunk with a language-model head and, on request, a value critic."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__(config)
        self.model = TinyModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size)
        self.value_head = nn.Linear(config.hidden_size, 1) if config.value_head else None
        self.post_init()

    def repeat_words(self) -> None:
        """Write each token's input vector into its row of the head, and make the input twice as large.

        What a position attends to then comes out as a word by one map for all words, and the words stand out from the
        vectors of their positions. A start only: both are trained on their own afterwards.
        """
        with torch.no_grad():
            self.lm_head.weight.copy_(self.model.tokens.weight)
            self.model.tokens.weight.mul_(2.0)

    def get_input_embeddings(self) -> nn.Module:
        """Return the token embedding."""
        return self.model.tokens

    def get_output_embeddings(self) -> nn.Module:
        """Return the language-model head."""
        return self.lm_head

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        first_query: int = 0,
        **kwargs: Any,
    ) -> CausalLMOutput:
        """Return logits and, given labels, the mean loss over labels other than -100; the label of a token is itself.

        Args:
            input_ids: shape [rows, tokens].
            attention_mask: as `TinyModel.forward` takes it.
            position_ids: as `TinyModel.forward` takes it.
            labels: shape [rows, tokens]; shifted here, as in every causal model of transformers.
            first_query: outputs of earlier tokens are left out.
            kwargs: `num_items_in_batch` replaces the number of labels as the divisor; the rest is ignored.
        """
        hidden = self.model(input_ids, attention_mask, position_ids, first_query).last_hidden_state
        logits = self.lm_head(hidden)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(
                logits[:, :-1].flatten(0, 1), labels[:, first_query + 1 :].flatten(), reduction="sum"
            )
            count = kwargs.get("num_items_in_batch")
            loss = loss / (count if count is not None else (labels[:, first_query + 1 :] != -100).sum().clamp(min=1))
        return CausalLMOutput(loss=loss, logits=logits)

    def prepare_inputs_for_generation(self, input_ids: Tensor, **kwargs: Any) -> dict[str, Any]:
        """Return the inputs of one step of `generate`, which reads the whole sequence again."""
        return {"input_ids": input_ids, "attention_mask": kwargs.get("attention_mask")}


AutoConfig.register(TinyConfig.model_type, TinyConfig, exist_ok=True)
AutoModel.register(TinyConfig, TinyModel, exist_ok=True)
AutoModelForCausalLM.register(TinyConfig, TinyForCausalLM, exist_ok=True)
