"""Backbones: any Hugging Face encoder, run without padding where its layers allow it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from adjudge.encoders.adapters import add_adapters, merge_adapters
from adjudge.encoders.batch import Batch
from adjudge.encoders.dropout import use_fast_dropout
from adjudge.encoders.packed import Packing, encode_layer, pack, unpack
from adjudge.errors import ConfigError

SLACK = 8
"""Rows of a group differ by at most this many tokens."""


class Encoded(NamedTuple):
    """Token states (R, L, d) and one state per row (R, d)."""

    states: Tensor
    pooled: Tensor


def longest_row(encoder: Any) -> int | None:
    """Tokens an encoder can read at once, None without a bound; RoBERTa counts positions from its padding id."""
    positions = getattr(encoder.config, "max_position_embeddings", None)
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    if positions is None or positions < 1:
        return None
    return int(positions) - (0 if padding is None else padding + 1)


class Backbone(nn.Module):
    """A Hugging Face encoder behind one signature.

    Only real tokens are encoded: rows lie end to end (``packed``), or, for families whose layers are not
    known, in groups of nearly equal length. The lowest
    ``frozen`` layers (with the embeddings) are never trained, run without dropout, and may be replaced
    by their cached output (``Batch.states``).

    Args:
        encoder: an encoder model such as ``AutoModel.from_config`` gives.
        frozen: how many of the lowest layers to freeze; 0 trains everything.
        pooling: what a row's state is: the encoder's pooler over [CLS] (its state where there is no
            pooler), or the mean of the row's token states, which suits encoders trained that way.
        adapters: the rank of the adapters that are trained instead of the layers' matrices; 0 trains the matrices.
    """

    def __init__(
        self,
        encoder: Any,
        frozen: int = 0,
        pooling: Literal["pooler", "mean"] = "pooler",
        adapters: int = 0,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        use_fast_dropout(encoder)
        self.pooling = pooling
        self.hidden_size = _hidden_size(encoder.config)
        self.frozen = frozen
        self.recompute = False
        """Whether the backward pass computes each layer again, rather than keep what is inside: less memory."""
        pooler = getattr(encoder, "pooler", None)
        if pooling == "mean" and pooler is not None:  # takes no part: nothing to train
            pooler.requires_grad_(False)
        layers = _layers(encoder)
        if frozen and (layers is None or not 0 < frozen <= len(layers)):
            known = "its layers are not reachable" if layers is None else f"it has {len(layers)} layers"
            raise ConfigError(f"freeze_layers is {frozen}, but {known}; expected 0 to the number of layers.")
        if frozen and layers is not None:
            for module in (self.encoder.embeddings, *layers[:frozen]):
                module.requires_grad_(False)
            self._freeze_position_bias()
        if adapters:
            if layers is None or frozen:
                reason = "its layers are not reachable" if layers is None else f"freeze_layers is {frozen}"
                raise ConfigError(
                    f"model.adapters is {adapters}, but {reason}; adapters need a family such as BERT or MPNet, "
                    "all of whose layers take part."
                )
            self.encoder.embeddings.requires_grad_(False)
            self._freeze_position_bias()
            add_adapters(layers, adapters)

    @property
    def has_segments(self) -> bool:
        """Whether the encoder embeds segment ids (BERT does, RoBERTa does not)."""
        return int(getattr(self.encoder.config, "type_vocab_size", 0) or 0) > 1

    @property
    def max_length(self) -> int | None:
        """Tokens a row may have, None without a bound."""
        return longest_row(self.encoder)

    def forward(self, batch: Batch) -> Encoded:
        """(R, L) tokens → states (R, L, d), pooled (R, d)."""
        layers = _layers(self.encoder)
        if layers is None:
            return self._encode_groups(batch)
        packing = pack(batch.lengths, batch.input_ids.shape[1])
        bias = self._position_bias(batch)
        if batch.states is not None:
            tokens = batch.states.flatten(0, 1)[packing.positions].float()
        else:
            with torch.set_grad_enabled(torch.is_grad_enabled() and self.frozen == 0):
                tokens = self._lower(batch, packing, bias)
        for layer in layers[self.frozen :]:
            tokens = self._run_layer(layer, tokens, packing, bias)
        states = unpack(tokens, packing, *batch.input_ids.shape)
        if self.pooling == "mean":
            return Encoded(states, _mean(states, batch.lengths))
        pooler = getattr(self.encoder, "pooler", None)
        first = tokens[packing.starts]  # (R, d)
        return Encoded(states, first if pooler is None else pooler(first[:, None]))

    @torch.no_grad()
    def lower(self, batch: Batch) -> Tensor:
        """The output of the frozen layers, (R, L, d), for caching."""
        packing = pack(batch.lengths, batch.input_ids.shape[1])
        lower = self._lower(batch, packing, self._position_bias(batch))
        return unpack(lower, packing, *batch.input_ids.shape)

    def freeze_embeddings(self) -> None:
        """Keep the embeddings as they are: half of a small encoder, and hardly moved by training."""
        self.encoder.get_input_embeddings().requires_grad_(False)

    def set_dropout(self, share: float) -> None:
        """Drop this share of states and attention inside the encoder while it is trained."""
        for module in self.encoder.modules():
            if isinstance(module, nn.Dropout):
                module.p = share

    def train(self, mode: bool = True) -> Backbone:
        """Train mode for what is trained; frozen layers stay in eval mode."""
        super().train(mode)
        layers = _layers(self.encoder)
        if self.frozen and layers is not None:
            self.encoder.embeddings.eval()
            for layer in layers[: self.frozen]:
                layer.eval()
        return self

    def merge_adapters(self) -> None:
        """Compute with plain layers from now on; not to be trained afterwards."""
        merge_adapters(self.encoder)

    def _run_layer(self, layer: nn.Module, tokens: Tensor, packing: Packing, bias: Tensor | None) -> Tensor:
        """A layer, (T, d) → (T, d); with ``recompute`` only its input is kept for the backward pass."""
        if not (self.recompute and self.training and torch.is_grad_enabled()):
            return encode_layer(layer, tokens, packing, bias)
        from torch.utils.checkpoint import checkpoint

        result: Tensor = checkpoint(encode_layer, layer, tokens, packing, bias, use_reentrant=False)
        return result

    def _freeze_position_bias(self) -> None:
        """MPNet's, which all layers share."""
        if hasattr(self.encoder.encoder, "relative_attention_bias"):
            self.encoder.encoder.relative_attention_bias.requires_grad_(False)

    def _position_bias(self, batch: Batch) -> Tensor | None:
        """(h, L, L) that MPNet adds to attention, the same in every row; None for encoders without it."""
        if not hasattr(self.encoder.encoder, "relative_attention_bias"):
            return None
        bias: Tensor = self.encoder.encoder.compute_position_bias(batch.input_ids[:1])[0]
        return bias

    def _lower(self, batch: Batch, packing: Packing, bias: Tensor | None) -> Tensor:
        """Embeddings and frozen layers: (T, d). All rows at once, or each group would cost a whole table's gradient."""
        inputs = {"input_ids": batch.input_ids, "position_ids": self._positions(batch)}
        if self.has_segments:
            inputs["token_type_ids"] = batch.second_segment.long()
        packed = {name: values.flatten()[packing.positions][None] for name, values in inputs.items()}
        tokens: Tensor = self.encoder.embeddings(**packed)[0]
        for layer in _layers(self.encoder)[: self.frozen]:
            tokens = encode_layer(layer, tokens, packing, bias)
        return tokens

    def _positions(self, batch: Batch) -> Tensor:
        """(R, L) as the encoder numbers them; RoBERTa starts after its padding id and does not count padding."""
        padding = self.encoder.embeddings.position_embeddings.padding_idx
        if padding is None:
            return torch.arange(batch.input_ids.shape[1], device=batch.input_ids.device).expand_as(
                batch.input_ids
            )
        counted: Tensor = (batch.input_ids != padding).long()
        return counted.cumsum(dim=1) * counted + int(padding)

    def _encode_groups(self, batch: Batch) -> Encoded:
        """Encoders whose layers are not known: whole, in groups of rows of nearly equal length."""
        groups = _length_groups(batch.lengths)
        longest = batch.input_ids.shape[1]
        states, pooled = [], []
        for rows, length in groups:
            inputs = {"input_ids": batch.input_ids[rows, :length]}
            if self.has_segments:
                inputs["token_type_ids"] = batch.second_segment[rows, :length].long()
            lengths = batch.lengths[rows]
            output = self.encoder(**inputs, attention_mask=_within(lengths, length).long())
            hidden, pooler_output = output.last_hidden_state, getattr(output, "pooler_output", None)
            states.append(pad(hidden, (0, 0, 0, longest - length)))
            if self.pooling == "mean":
                pooled.append(_mean(hidden, lengths))
            else:
                pooled.append(hidden[:, 0] if pooler_output is None else pooler_output)
        order = torch.cat([rows for rows, _ in groups])
        back = order.argsort().to(batch.input_ids.device)
        return Encoded(torch.cat(states)[back], torch.cat(pooled)[back])


PACKED_FAMILIES = ("bert", "roberta", "xlm-roberta", "camembert", "mpnet")


def _layers(encoder: Any) -> Any:
    """The layers of an encoder made of the parts that ``encode_layer`` uses; None for other families."""
    return encoder.encoder.layer if encoder.config.model_type in PACKED_FAMILIES else None


def _hidden_size(config: Any) -> int:
    size = getattr(config, "hidden_size", None)
    if size is None or getattr(config, "is_encoder_decoder", False):
        raise ConfigError(
            f"Backbone of type {config.model_type!r} is not a text encoder; "
            "expected one such as BERT or RoBERTa."
        )
    return int(size)


def _mean(states: Tensor, lengths: Tensor) -> Tensor:
    """(R, L, d) → (R, d), over the tokens inside each row."""
    inside = _within(lengths, states.shape[1])[..., None].to(states.dtype)
    return (states * inside).sum(dim=1) / inside.sum(dim=1)


def _within(lengths: Tensor, length: int) -> Tensor:
    return torch.arange(length, device=lengths.device) < lengths[:, None]


def _length_groups(lengths: Tensor) -> list[tuple[Tensor, int]]:
    """Rows in groups of nearly equal length: (row indices, longest length) each, shortest first."""
    on_host = lengths.cpu()
    order = on_host.argsort(stable=True)
    ordered = on_host[order].tolist()
    groups, start = [], 0
    for end in range(1, len(ordered) + 1):
        if end == len(ordered) or ordered[end] > ordered[start] + SLACK:
            groups.append((order[start:end], int(ordered[end - 1])))
            start = end
    return groups
