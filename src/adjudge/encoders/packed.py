"""Rows laid end to end: layers work on real tokens alone, and only attention sees where a row ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from adjudge.encoders import native
from adjudge.encoders.dropout import dropout as drop


@dataclass(frozen=True)
class Packing:
    """Where the T tokens of R rows lie, the shortest row first.

    Attributes:
        positions: (T,) of each token among the R · L of the padded rows.
        starts: (R,) the first token of each row, in the order of the batch.
        spans: (rows, tokens of each) of the runs of rows of equal length.
    """

    positions: Tensor
    starts: Tensor
    spans: tuple[tuple[int, int], ...]


def pack(lengths: Tensor, longest: int) -> Packing:
    """The packing of rows of these lengths (R,) in a batch that is ``longest`` wide."""
    on_host = lengths.cpu()
    order = on_host.argsort(stable=True)
    ordered = on_host[order]
    inside = torch.arange(longest) < ordered[:, None]  # (R, L)
    positions = (order[:, None] * longest + torch.arange(longest))[inside]
    starts = torch.empty_like(order)
    starts[order] = ordered.cumsum(0) - ordered
    length, rows = torch.unique_consecutive(ordered, return_counts=True)
    spans = tuple(zip(rows.tolist(), length.tolist(), strict=True))
    device = lengths.device
    return Packing(positions.to(device), starts.to(device), spans)


def unpack(tokens: Tensor, packing: Packing, rows: int, longest: int) -> Tensor:
    """(T, d) → (R, L, d), zero where there is no token."""
    padded = tokens.new_zeros(rows * longest, tokens.shape[-1])
    return padded.index_copy(0, packing.positions, tokens).view(rows, longest, -1)


def encode_layer(layer: Any, tokens: Tensor, packing: Packing, bias: Tensor | None = None) -> Tensor:
    """One layer of a BERT-like encoder or of MPNet over packed tokens: (T, d) → (T, d).

    ``bias`` (h, L, L) is what MPNet adds to attention by relative position.
    """
    attention = layer.attention
    if hasattr(attention, "attn"):  # MPNet's names
        heads = attention.attn
        projections = heads.q, heads.k, heads.v
    else:
        heads = attention.self
        projections = heads.query, heads.key, heads.value
    dropout = heads.dropout.p if heads.training else 0.0
    query, key, value = (project(tokens) for project in projections)
    read = attend(query, key, value, packing, heads.num_attention_heads, dropout, bias)
    if hasattr(attention, "attn"):
        tokens = attention.LayerNorm(attention.dropout(heads.o(read)) + tokens)
    else:
        tokens = attention.output(read, tokens)
    encoded: Tensor = layer.output(layer.intermediate(tokens), tokens)
    return encoded


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    packing: Packing,
    heads: int,
    dropout: float = 0.0,
    bias: Tensor | None = None,
) -> Tensor:
    """Attention inside each row, rows of equal length together: (T, d) each → (T, d).

    Without padding there is no mask, which on a GPU lets flash attention be chosen; ``bias`` (h, L, L), for the
    longest row, is added to the scores. On a CPU plain products in half precision take a quarter of its time.
    """
    is_plain = query.device.type == "cpu" and query.dtype is torch.bfloat16
    sizes = [rows * length for rows, length in packing.spans]
    parts = []
    for (rows, length), *packed in zip(
        packing.spans, *(t.split(sizes) for t in (query, key, value)), strict=True
    ):
        q, k, v = (part.view(rows, length, heads, -1).transpose(1, 2) for part in packed)  # (R, h, L, d / h)
        added = None if bias is None else bias[None, :, :length, :length].expand(rows, -1, -1, -1)
        if is_plain or (dropout and native.is_usable_on(q)):
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            weights = (scores if added is None else scores + added).softmax(-1)
            read = drop(weights.to(v.dtype), dropout) @ v
        else:
            read = scaled_dot_product_attention(q, k, v, attn_mask=added, dropout_p=dropout)
        parts.append(read.transpose(1, 2).reshape(rows * length, -1))
    return torch.cat(parts)
