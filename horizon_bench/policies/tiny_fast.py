"""The fast path of the small model on a CPU: torch tensors in and out, compiled kernels between.

It computes what `TinyForCausalLM.forward` computes, up to the last bits of float arithmetic, with gradients. Equal
boards are read once. Models that live elsewhere or in another precision take the plain path.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from horizon_bench.extras import extra_needed
from horizon_bench.policies.kernels.decoding import Head, Prompts, Rules, Written, decode
from horizon_bench.policies.kernels.trunk import L2_PRODUCTS, Batch, Kept, Weights, backward, forward
from horizon_bench.policies.tiny_model import Block, TinyForCausalLM, TinyModel

with extra_needed():
    import torch
    from torch import Tensor

_LAYER_PARTS = (
    "norm_attention.weight",
    "norm_attention.bias",
    "query_key_value.weight",
    "query_key_value.bias",
    "output.weight",
    "output.bias",
    "norm_feed.weight",
    "norm_feed.bias",
    "feed_in.weight",
    "feed_in.bias",
    "feed_out.weight",
    "feed_out.bias",
)
"""Weights of a block, in the order of `Weights`."""


def is_fast(model: Any) -> bool:
    """Return whether the kernels can compute this model: the small one itself, on a CPU, in single precision."""
    if type(model) is not TinyForCausalLM:
        return False
    weight = model.lm_head.weight
    return weight.device.type == "cpu" and weight.dtype == torch.float32


def trunk_parameters(trunk: TinyModel) -> list[Tensor]:
    """Return the weights of all blocks and of the final norm, part by part."""
    blocks: list[dict[str, Tensor]] = [dict(cast(Block, block).named_parameters()) for block in trunk.blocks]
    return [block[name] for name in _LAYER_PARTS for block in blocks] + [trunk.norm.weight, trunk.norm.bias]


def pack_weights(parameters: list[Tensor] | tuple[Tensor, ...], *, turned: bool) -> Weights:
    """Return the weights as the kernels take them.

    Args:
        parameters: what `trunk_parameters` returns.
        turned: matrices as [layers, inputs, outputs], as forward takes them, instead of [layers, outputs, inputs].
    """
    layers = (len(parameters) - 2) // len(_LAYER_PARTS)
    with torch.no_grad():
        stacked = [torch.stack(list(parameters[at : at + layers])) for at in range(0, len(parameters) - 2, layers)]
        stacked += [parameters[-2][None], parameters[-1][None]]
        if turned:
            stacked = [part.transpose(1, 2).contiguous() if part.ndim == 3 else part for part in stacked]
        return Weights(*(part.detach().numpy() for part in stacked))


def make_batch(prefixes: Tensor, suffixes: Tensor, lengths: Tensor, width: int) -> tuple[Batch, Tensor, Tensor]:
    """Return the kernels' batch, and which reply and which of its tokens each row of the result is.

    Args:
        prefixes: board and feedback of each reply, shape [replies, prefix].
        suffixes: mode and reply, filled up at the end with any token, shape [replies, tokens].
        lengths: tokens of each suffix, shape [replies].
        width: of the model, which decides how many rows are computed together.
    """
    boards, group = unique_rows(prefixes)
    order = torch.argsort(group, stable=True)
    lengths = lengths[order]
    present = torch.arange(suffixes.shape[1]) < lengths[:, None]
    first_reply = np.concatenate([[0], np.cumsum(torch.bincount(group).numpy())])
    starts = np.concatenate([[0], np.cumsum(lengths.numpy())])
    sizes = prefixes.shape[1] + np.diff(starts[first_reply])
    blocks = group_blocks(sizes, L2_PRODUCTS // (4 * width * width))
    batch = Batch(boards.numpy(), suffixes[order][present].numpy(), first_reply, starts, blocks)
    places = present.nonzero()
    return batch, order[places[:, 0]], places[:, 1]


def unique_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the different rows in order of appearance, and for each row which of them it is."""
    text = rows.numpy().tobytes()
    step = len(text) // max(1, len(rows))
    seen: dict[bytes, int] = {}
    inverse = [seen.setdefault(text[at : at + step], len(seen)) for at in range(0, len(text), step)]
    different = np.frombuffer(b"".join(seen), dtype=np.int64).reshape(len(seen), -1)
    return torch.from_numpy(different.copy()), torch.tensor(inverse, dtype=torch.long)


def group_blocks(sizes: np.ndarray[Any, Any], most: int) -> np.ndarray[Any, Any]:
    """Return where blocks of groups begin, and the number of groups: as many rows as fit, one group at least."""
    begins, rows = [0], 0
    for group, size in enumerate(sizes.tolist()):
        if rows and rows + size > most:
            begins.append(group)
            rows = 0
        rows += size
    return np.array([*begins, len(sizes)], dtype=np.int64)


class _Room:
    """Memory that is kept from one batch to the next: fresh pages cost as much as the work on them."""

    def __init__(self) -> None:
        self._parts: dict[str, np.ndarray[Any, Any]] = {}

    def take(self, name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Return an uninitialised array that shares memory with the last one of that name."""
        size = int(np.prod(shape))
        part = self._parts.get(name)
        if part is None or part.size < size:
            part = self._parts[name] = np.empty(size + size // 4, np.float32)
        return part[:size].reshape(shape)


def make_kept(batch: Batch, width: int, layers: int, heads: int, room: _Room) -> Kept:
    """Return room for what forward leaves."""
    groups, prefix = batch.prefixes.shape
    rows = groups * prefix + batch.suffixes.size
    lengths = np.diff(batch.starts)
    suffix = int((lengths * (prefix + lengths)).sum())
    weights = heads * (layers * suffix + (layers - 1) * groups * prefix * prefix)
    shapes = (
        (layers + 1, rows, width),
        (layers, rows, 3 * width),
        (layers, rows, width),
        (layers, rows, width),
        (layers, rows, 4 * width),
        (layers + 1, 2, rows, 2),
        (weights,),
    )
    return Kept(*(room.take(name, shape) for name, shape in zip(Kept._fields, shapes, strict=True)))


_FREE: list[_Room] = []


class _Trunk(torch.autograd.Function):
    """The trunk as one operation of torch."""

    @staticmethod
    def forward(ctx: Any, batch: Batch, heads: int, tokens: Tensor, positions: Tensor, *parameters: Tensor) -> Tensor:
        """Return the final states of all suffix tokens."""
        room = _FREE.pop() if _FREE else _Room()
        layers = (len(parameters) - 2) // len(_LAYER_PARTS)
        kept = make_kept(batch, tokens.shape[1], layers, heads, room)
        weights = pack_weights(parameters, turned=True)
        final = forward(weights, tokens.detach().numpy(), positions.detach().numpy(), batch, heads, kept)
        if any(ctx.needs_input_grad):
            ctx.batch, ctx.heads, ctx.kept, ctx.room = batch, heads, kept, room
            ctx.save_for_backward(tokens, positions, *parameters)
        else:
            _FREE.append(room)
        return torch.from_numpy(final)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> Any:
        """Return the gradients of tables and weights."""
        tokens, positions, *parameters = ctx.saved_tensors
        weights = pack_weights(parameters, turned=False)
        sums = Weights(*(np.zeros(_turned(part.shape), np.float32) for part in weights))
        token_sums, position_sums = np.zeros(tokens.shape, np.float32), np.zeros(positions.shape, np.float32)
        gradient = given[0].contiguous().numpy()
        backward(weights, ctx.batch, ctx.heads, ctx.kept, gradient, sums, token_sums, position_sums)
        _FREE.append(ctx.room)
        ctx.room = ctx.kept = None
        found: list[Tensor] = []
        for part in sums:
            tensor = torch.from_numpy(part)
            found += list((tensor.transpose(1, 2) if tensor.ndim == 3 else tensor).unbind())
        return None, None, torch.from_numpy(token_sums), torch.from_numpy(position_sums), *found


def _turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], shape[2], shape[1]) if len(shape) == 3 else shape


def suffix_states(
    model: TinyForCausalLM, prefixes: Tensor, suffixes: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the final state of every suffix token, and which reply and which of its tokens each row is.

    Args:
        model: the small model; gradients flow.
        prefixes: board and feedback of each reply, shape [replies, prefix].
        suffixes: mode and reply, filled up at the end with any token, shape [replies, tokens].
        lengths: tokens of each suffix, shape [replies].

    Returns:
        States, shape [all suffix tokens, width]; reply and place of each, shape [all suffix tokens].
    """
    trunk = model.model
    batch, reply, place = make_batch(prefixes, suffixes, lengths, model.config.hidden_size)
    compute: Any = _Trunk.apply
    states = compute(batch, model.config.num_attention_heads, *trunk.tables(), *trunk_parameters(trunk))
    return states, reply, place


def write_replies(
    model: TinyForCausalLM, prompts: Tensor, uniforms: Tensor, rules: Rules, cap: int, padding: int
) -> Written:
    """Return one sampled reply for each prompt.

    Args:
        model: the small model.
        prompts: token ids, shape [replies, prompt tokens].
        uniforms: numbers in [0, 1) that decide each token, shape [replies, at least `cap`].
        rules: how tokens are drawn.
        cap: most tokens of a reply.
        padding: id that stands after the end of a reply.
    """
    trunk, config = model.model, model.config
    unique, inverse = unique_rows(prompts)
    length = prompts.shape[1]
    batch, reply, _ = make_batch(
        unique[:, :-1], unique[:, -1:], torch.ones(len(unique), dtype=torch.long), config.hidden_size
    )
    weights = pack_weights(trunk_parameters(trunk), turned=True)
    tokens, positions = (table.detach().numpy() for table in trunk.tables())
    room = _FREE.pop() if _FREE else _Room()
    kept = make_kept(batch, config.hidden_size, config.num_hidden_layers, config.num_attention_heads, room)
    states = forward(weights, tokens, positions, batch, config.num_attention_heads, kept)
    first_row, mode_row = prompt_rows(batch)
    place = np.empty(len(unique), dtype=np.int64)
    place[reply.numpy()] = np.arange(len(unique))
    read = Prompts(
        kept.joined, first_row[place], mode_row[place], batch.prefixes.shape[1], inverse.numpy(), states[place]
    )
    head = Head(
        np.ascontiguousarray(model.lm_head.weight.detach().numpy().T),
        model.lm_head.bias.detach().numpy(),
        tokens,
        positions[length:],
    )
    count = len(prompts)
    out = Written(
        np.full((count, cap), padding, dtype=np.int64),
        np.zeros((count, cap), np.float32),
        np.zeros(count, np.int64),
        np.zeros(count, np.float32),
        np.zeros(count, np.bool_),
    )
    most = max(1, L2_PRODUCTS // (4 * config.hidden_size**2))
    decode(weights, head, read, rules, uniforms.numpy(), most, out)
    _FREE.append(room)
    return out


def prompt_rows(batch: Batch) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return, for each reply of a batch, the first row of its board and its own first row, blocks one after another."""
    prefix, groups = batch.prefixes.shape[1], np.arange(len(batch.prefixes))
    firsts = batch.first_group[:-1]
    block = np.repeat(np.arange(len(firsts)), np.diff(batch.first_group))
    suffix_before = batch.starts[batch.first_reply[firsts]]
    begin = firsts * prefix + suffix_before
    group_row = begin[block] + (groups - firsts[block]) * prefix
    group = np.repeat(groups, np.diff(batch.first_reply))
    own = block[group]
    suffix_row = begin[own] + np.diff(batch.first_group)[own] * prefix + batch.starts[:-1] - suffix_before[own]
    return group_row[group], suffix_row
