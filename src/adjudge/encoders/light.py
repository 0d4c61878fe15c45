"""Encoders that we know, run with NumPy and the native library alone: no torch to import, for verdicts at once.

What they give is what ``Backbone`` gives, up to rounding. In whole numbers the native library runs all layers, in
single precision NumPy with the matrix products of its own library.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adjudge.encoders.dataset import Dataset
from adjudge.encoders.known import SEGMENTED, WEIGHTS, EncoderConfig, is_known, parameter_name, read_config
from adjudge.encoders.mapped import Array, Weights, map_tensors
from adjudge.encoders.whole_numbers import MAPS, NORMS, WholeLayers, check_sizes, layer_names, load_layers

_RELATIVE = "encoder.relative_attention_bias.weight"

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class LightEncoder:
    """Rows of tokens → a state for each row.

    Args:
        config: the encoder's.
        weights: its weights by name.
        layers: its layers in whole numbers; None computes in single precision.
    """

    def __init__(self, config: EncoderConfig, weights: Weights, layers: WholeLayers | None = None) -> None:
        self.config = config
        self.hidden_size = int(config.hidden_size)
        self.precision = "fp32" if layers is None else "int16"
        self._layers = layers
        self._weights = weights
        self._words = weights["embeddings.word_embeddings.weight"]
        self._positions = weights["embeddings.position_embeddings.weight"]
        segmented = config.model_type in SEGMENTED
        self._segments = weights["embeddings.token_type_embeddings.weight"] if segmented else None
        _check_embeddings(config, self._words, self._positions, self._segments)
        if config.model_type == "mpnet" and weights[_RELATIVE].shape[1:] != (config.num_attention_heads,):
            raise ValueError(f"{_RELATIVE} has not a column for each of {config.num_attention_heads} heads")
        self._norm = (weights["embeddings.LayerNorm.weight"], weights["embeddings.LayerNorm.bias"])
        self._single = (
            [_single_layer(config, weights, n) for n in range(config.num_hidden_layers)]
            if layers is None
            else []
        )

    @property
    def max_length(self) -> int:
        """Tokens that a row may have."""
        return int(self.config.max_position_embeddings) - self._first_position

    @property
    def _first_position(self) -> int:
        """BERT counts positions from zero, the others from the padding id on."""
        return 0 if self.config.model_type == "bert" else int(self.config.pad_token_id) + 1

    def pooled(self, data: Dataset, claims: list[int], pooling: str = "mean") -> tuple[Floats, Ints]:
        """The states of the rows of some claims, (R, d), and how many rows each claim has."""
        counts = data.claim_start[np.asarray(claims) + 1] - data.claim_start[claims]
        rows = np.concatenate([np.arange(data.claim_start[c], data.claim_start[c + 1]) for c in claims])
        starts = data.row_start[rows]
        lengths = data.row_start[rows + 1] - starts
        within = _within(lengths)
        tokens = data.tokens[np.repeat(starts, lengths) + within]
        second = within >= np.repeat(data.segment[rows], lengths)
        states = self._encode(tokens, within, second, lengths)
        firsts = np.cumsum(lengths) - lengths
        if pooling == "mean":
            return np.add.reduceat(states, firsts, axis=0) / lengths[:, None].astype(np.float32), counts
        weight, bias = (self._weights[f"pooler.dense.{kind}"] for kind in ("weight", "bias"))
        return np.tanh(states[firsts] @ weight.T + bias), counts

    def _encode(self, tokens: Array, within: Ints, second: Array, lengths: Ints) -> Floats:
        """(T,) tokens of rows laid end to end → (T, d) states."""
        states = self._words[tokens] + self._positions[within + self._first_position]
        if self._segments is not None:
            single = len(self._segments) < 2  # RoBERTa has one segment
            states += self._segments[0] if single else self._segments[second.astype(np.int64)]
        states = normalise(states, *self._norm, self.config.layer_norm_eps)
        bias = self._position_bias(int(lengths.max()))
        if self._layers is not None:
            return self._layers(np.ascontiguousarray(states), np.ascontiguousarray(lengths, np.int64), bias)
        for layer in self._single:
            states = _encode_layer(self.config, layer, states, lengths, bias)
        return states

    def _position_bias(self, longest: int) -> Floats | None:
        """(h, L, L) that MPNet adds to attention by relative position."""
        if self.config.model_type != "mpnet":
            return None
        steps = np.arange(longest)
        table = self._weights[_RELATIVE]  # (buckets, h)
        buckets = relative_buckets(steps[None, :] - steps[:, None], len(table))
        return np.ascontiguousarray(table[buckets].transpose(2, 0, 1), np.float32)


def _check_embeddings(config: EncoderConfig, *embeddings: Array | None) -> None:
    """Raise ``ValueError`` where embeddings are not as wide as the encoder's configuration says."""
    check_sizes(config)
    for embedding in embeddings:
        if embedding is not None and embedding.shape[1:] != (config.hidden_size,):
            raise ValueError(
                f"embeddings of the shape {embedding.shape}, expected {config.hidden_size} columns"
            )


def read_light_encoder(folder: Path, precision: str, source: str) -> LightEncoder | None:
    """The encoder of a local folder, or None where it takes torch or transformers to run it.

    Args:
        folder: ``config.json`` and ``model.safetensors``.
        precision: ``fp32`` or ``int16``.
        source: says what the weights are, as a hash of them.
    """
    values = read_config(folder)
    if values is None or not is_known(values):
        return None
    try:
        stored = {parameter_name(name): value for name, value in map_tensors(folder / WEIGHTS).items()}
        return build_light_encoder(values, Weights(stored), precision, source)
    except (OSError, ValueError, KeyError):
        return None


def build_light_encoder(
    values: dict[str, object], weights: Weights, precision: str, source: str
) -> LightEncoder:
    """An encoder from its configuration and its weights, prepared for a precision."""
    config = EncoderConfig(values)
    layers = load_layers(config, weights, source) if precision == "int16" else None
    return LightEncoder(config, weights, layers)


def normalise(states: Floats, weight: Floats, bias: Floats, epsilon: float) -> Floats:
    """(…, d): mean 0 and variance 1 over d, then weight and bias."""
    states = states - states.mean(axis=-1, keepdims=True)
    variance = np.einsum("...d,...d->...", states, states)[..., None] / states.shape[-1]
    scaled: Floats = states / np.sqrt(variance + np.float32(epsilon)) * weight + bias
    return scaled


def relative_buckets(distances: Ints, buckets: int, farthest: int = 128) -> Ints:
    """As ``families.relative_buckets``: near distances exact, far ones by their logarithm."""
    buckets //= 2
    exact = buckets // 2
    size = np.abs(distances)
    log_size = np.log(np.maximum(size, 1).astype(np.float32) / exact) / math.log(farthest / exact)
    far = np.minimum(exact + (log_size * (buckets - exact)).astype(np.int64), buckets - 1)
    numbers: Ints = np.where(size < exact, size, far) + buckets * (distances > 0)
    return numbers


def gelu(x: Floats, kind: str) -> Floats:
    """The activation of a layer; the exact GELU by Abramowitz and Stegun 7.1.26, whose error is 1.5e-7 at most."""
    if kind == "relu":
        return np.maximum(x, 0)
    if kind != "gelu":
        slope: Floats = np.float32(-1.5957691216) * (x + np.float32(0.044715) * x * x * x)
        smooth: Floats = x / (1 + np.exp(np.minimum(slope, np.float32(80))))
        return smooth
    z = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * z)
    tail = np.full_like(x, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail *= t
        tail += np.float32(factor)
    tail *= t * np.exp(-z * z)
    return np.where(x > 0, x - x * tail * np.float32(0.5), x * tail * np.float32(0.5))


def _within(lengths: Ints) -> Ints:
    """Where each token stands in its row, for rows laid end to end."""
    total = int(lengths.sum())
    return np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _single_layer(config: EncoderConfig, weights: Weights, layer: int) -> dict[str, tuple[Array, Array]]:
    """(weight, bias) of each part of a layer."""
    names = layer_names(config.model_type, layer)
    return {
        part: (
            np.concatenate([weights[f"{name}.weight"] for name in names[part]]),
            np.concatenate([weights[f"{name}.bias"] for name in names[part]]),
        )
        for part in (*MAPS, *NORMS)
    }


def _encode_layer(
    config: EncoderConfig,
    layer: dict[str, tuple[Array, Array]],
    states: Floats,
    lengths: Ints,
    bias: Floats | None,
) -> Floats:
    def apply(part: str, x: Floats) -> Floats:
        weight, added = layer[part]
        y: Floats = x @ weight.T
        y += added
        return y

    epsilon = config.layer_norm_eps
    read = _attend(apply("read", states), lengths, int(config.num_attention_heads), bias)
    states = normalise(states + apply("write", read), *layer["first"], epsilon)
    wide = gelu(apply("widen", states), config.hidden_act)
    return normalise(states + apply("narrow", wide), *layer["second"], epsilon)


def _attend(three: Floats, lengths: Ints, heads: int, bias: Floats | None) -> Floats:
    """Attention inside each row, runs of rows of equal length together: (T, 3 d) → (T, d)."""
    size = three.shape[1] // 3
    read = np.empty((len(three), size), np.float32)
    ends = np.flatnonzero(np.diff(lengths, append=-1)) + 1  # of the runs
    first = token = 0
    for end in ends.tolist():
        rows, length = end - first, int(lengths[first])
        tokens = slice(token, token + rows * length)
        block = three[tokens].reshape(rows, length, 3, heads, -1)
        query, key, value = (block[:, :, part].transpose(0, 2, 1, 3) for part in range(3))  # (R, h, L, d / h)
        scores = query @ key.transpose(0, 1, 3, 2) * np.float32(1 / math.sqrt(size // heads))
        if bias is not None:
            scores += bias[:, :length, :length]
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        read[tokens] = (scores @ value).transpose(0, 2, 1, 3).reshape(rows * length, size)
        first, token = end, tokens.stop
    return read
