"""Which encoders we know (BERT, RoBERTa, MPNet and their kin), and what their files say: no torch to import."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adjudge.io.files import write_text

ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")
SEGMENTED = ("bert", "roberta", "xlm-roberta", "camembert")
FAMILIES = (*SEGMENTED, "mpnet")
ADAPTER_SCALE = 2.0
"""What a low-rank difference is multiplied by; common rates (1e-4 to 5e-4) suit this."""
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
_DEFAULTS: Mapping[str, Any] = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "relative_attention_num_buckets": 32,
}
"""What a ``config.json`` may leave out; the vocabulary's size it must say."""
_PADDING = {"bert": 0}


class EncoderConfig:
    """``config.json`` of an encoder: its values as attributes, with Hugging Face's defaults."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        padding = {"pad_token_id": _PADDING.get(values["model_type"], 1)}
        self.values: dict[str, Any] = {**_DEFAULTS, **padding, **values}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(name) from None

    def save_pretrained(self, folder: Path | str) -> None:
        """Write ``config.json``, as Hugging Face's models do."""
        write_text(Path(folder) / CONFIG, json.dumps(self.values, indent=2, sort_keys=True) + "\n")


def is_known(values: Mapping[str, Any]) -> bool:
    """Whether an encoder of this configuration can be built here."""
    return (
        values.get("model_type") in FAMILIES
        and "vocab_size" in values
        and values.get("hidden_act", "gelu") in ACTIVATIONS
        and values.get("position_embedding_type", "absolute") == "absolute"
        and not values.get("is_decoder", False)
    )


def read_config(folder: Path) -> dict[str, Any] | None:
    """What ``config.json`` of a folder says; None where there is none that can be read."""
    try:
        values = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def parameter_name(name: str) -> str:
    """As in a plain encoder: without the family's prefix, and with today's names of normalisation weights."""
    for family in ("bert.", "roberta.", "mpnet."):
        name = name.removeprefix(family)
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
