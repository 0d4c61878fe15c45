"""The encoders we know (BERT, RoBERTa, MPNet and their kin), made of plain modules: no transformers to import.

Modules and parameters are called as in Hugging Face's models, so that weights load by name and ``packed.encode_layer``
runs either. They hold what a layer is made of; ``Backbone`` runs them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from adjudge.encoders.dropout import Dropout
from adjudge.encoders.known import (
    SEGMENTED,
    WEIGHTS,
    EncoderConfig,
    is_known,
    parameter_name,
    read_config,
)

ACTIVATIONS: Mapping[str, Callable[[], nn.Module]] = {
    "gelu": nn.GELU,
    "gelu_new": lambda: nn.GELU(approximate="tanh"),
    "gelu_pytorch_tanh": lambda: nn.GELU(approximate="tanh"),
    "relu": nn.ReLU,
}


class Linear(nn.Linear):
    """Without weights of its own: loading them is faster than drawing random ones first."""

    def reset_parameters(self) -> None:
        """Leave the memory as it is."""


class Embedding(nn.Embedding):
    """Without weights of its own."""

    def reset_parameters(self) -> None:
        """Leave the memory as it is."""


class Encoder(nn.Module):
    """Embeddings, layers and a pooler; the weights are to be loaded."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__()
        self.config = config = EncoderConfig(values)
        self.embeddings = Embeddings(config)
        self.encoder = Layers(config)
        self.pooler = Pooler(config.hidden_size)

    def save_pretrained(self, folder: Path | str) -> None:
        """Write configuration and weights, as Hugging Face's models do."""
        from adjudge.encoders.tensors import save_tensors

        self.config.save_pretrained(folder)
        save_tensors(Path(folder) / WEIGHTS, self.state_dict(), {"format": "pt"})

    def get_input_embeddings(self) -> nn.Embedding:
        """The table of token embeddings."""
        return self.embeddings.word_embeddings


class Embeddings(nn.Module):
    """Tokens, positions and, for BERT's kin, segments."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        size, family, padding = config.hidden_size, config.model_type, config.pad_token_id
        self.word_embeddings = Embedding(config.vocab_size, size, padding_idx=padding)
        # BERT counts positions from zero, the others from the padding id on.
        self.position_embeddings = Embedding(
            config.max_position_embeddings, size, padding_idx=None if family == "bert" else padding
        )
        self.token_type_embeddings = Embedding(config.type_vocab_size, size) if family in SEGMENTED else None
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(
        self, input_ids: Tensor, position_ids: Tensor, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """(R, L) each → (R, L, d)."""
        embedded = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
        if self.token_type_embeddings is not None:
            segments = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
            embedded = embedded + self.token_type_embeddings(segments)
        states: Tensor = self.dropout(self.LayerNorm(embedded))
        return states


class Layers(nn.Module):
    """The layers, and MPNet's bias by relative position, which they share."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        if config.model_type == "mpnet":
            self.relative_attention_bias = Embedding(
                config.relative_attention_num_buckets, config.num_attention_heads
            )

    def compute_position_bias(self, rows: Tensor) -> Tensor:
        """For rows (R, L): (1, h, L, L)."""
        steps = torch.arange(rows.shape[1], device=rows.device)
        distances = steps[None, :] - steps[:, None]  # of the key from the query
        buckets = relative_buckets(distances, self.relative_attention_bias.num_embeddings)
        bias: Tensor = self.relative_attention_bias(buckets)  # (L, L, h)
        return bias.permute(2, 0, 1)[None]


def relative_buckets(distances: Tensor, buckets: int, farthest: int = 128) -> Tensor:
    """A bucket for each distance: half of them for either side; near ones exact, far ones by their logarithm."""
    buckets //= 2
    exact = buckets // 2
    size = distances.abs()
    log_size = torch.log(size.clamp(min=1).float() / exact) / math.log(farthest / exact)
    far = (exact + (log_size * (buckets - exact)).long()).clamp(max=buckets - 1)
    return torch.where(size < exact, size, far) + buckets * (distances > 0)


class Layer(nn.Module):
    """Attention and two dense maps, each with a residual and a normalisation."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention = MPNetAttention(config) if config.model_type == "mpnet" else Attention(config)
        self.intermediate = Intermediate(config)
        self.output = Residual(config.intermediate_size, config)


class Attention(nn.Module):
    """BERT's names: ``self`` projects, ``output`` adds what was read."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.self = Projections(config, ("query", "key", "value"))
        self.output = Residual(config.hidden_size, config)


class MPNetAttention(nn.Module):
    """MPNet's names."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attn = Projections(config, ("q", "k", "v", "o"))
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)


class Projections(nn.Module):
    """The maps of attention by their names."""

    def __init__(self, config: EncoderConfig, names: tuple[str, ...]) -> None:
        super().__init__()
        for name in names:
            self.add_module(name, Linear(config.hidden_size, config.hidden_size))
        self.num_attention_heads = config.num_attention_heads
        self.dropout = Dropout(config.attention_probs_dropout_prob)


class Intermediate(nn.Module):
    """(…, d) → (…, wide), and an activation."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.dense = Linear(config.hidden_size, config.intermediate_size)
        self.activation = ACTIVATIONS[config.hidden_act]()

    def forward(self, states: Tensor) -> Tensor:
        """(…, d) → (…, wide)."""
        wide: Tensor = self.activation(self.dense(states))
        return wide


class Residual(nn.Module):
    """A dense map, added to what was there, and normalised."""

    def __init__(self, inputs: int, config: EncoderConfig) -> None:
        super().__init__()
        self.dense = Linear(inputs, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        """(…, inputs), (…, d) → (…, d)."""
        added: Tensor = self.LayerNorm(self.dropout(self.dense(states)) + before)
        return added


class Pooler(nn.Module):
    """tanh of a dense map of the first token's state."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense = Linear(size, size)

    def forward(self, states: Tensor) -> Tensor:
        """(R, L, d) → (R, d)."""
        return torch.tanh(self.dense(states[:, 0]))


def build_encoder(values: Mapping[str, Any]) -> Encoder:
    """A new encoder, random as BERT is before it is trained: normal weights of standard deviation 0.02."""
    encoder = Encoder(values)
    _initialise(encoder)
    return encoder.eval()


def _initialise(part: nn.Module) -> None:
    for module in part.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding) and module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])


def read_encoder(folder: Path, *, weights: bool = True) -> Encoder | None:
    """The encoder of a folder in single precision, or None where it is not one that we know.

    Weights may stand below the family's name and beside others, as in models with a language-modelling head; a pooler
    that was not published is a new one. Without ``weights`` they are left to be loaded: their memory is not set.
    """
    values = read_config(folder)
    if values is None or not is_known(values):
        return None
    if not weights:
        return Encoder(values).eval()
    if not (folder / WEIGHTS).is_file():
        return None
    from safetensors.torch import load_file

    stored = {parameter_name(name): value for name, value in load_file(folder / WEIGHTS).items()}
    encoder = Encoder(values)
    missing = [name for name in encoder.state_dict() if name not in stored]
    if any(not name.startswith("pooler.") for name in missing):
        return None
    if missing:
        _initialise(encoder.pooler)
    encoder.load_state_dict(
        {name: stored.get(name, value).float() for name, value in encoder.state_dict().items()}, assign=True
    )
    return encoder.eval()
