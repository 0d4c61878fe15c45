"""A sentence ranker on disk and in use: built, written, read, asked for scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file

from adjudge.data.files import write_json
from adjudge.errors import ConfigError
from adjudge.models import Backbone
from adjudge.models.loading import load_encoder
from adjudge.models.ranker import Ranker
from adjudge.training.checkpoint import save_tensors
from adjudge.training.dataset import chunks, tokenize
from adjudge.training.rows import Layout, RowWriter
from adjudge.types import FEVER_LABELS, Evidence, Example

FORMAT = 1
BATCH_ROWS = 64


class RankerSettings(BaseModel):
    """The ranker and the pairs it learns from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    backbone: str = Field("minilm", description="a short name, a hub id or a path")
    max_length: int = Field(130, ge=16, le=512, description="tokens per row")
    dropout: float = Field(0.1, ge=0, lt=1)
    titles: bool = Field(True, description="show the model the page's title")
    title_dropout: float = Field(0.2, ge=0, le=1, description="share of the claims trained without titles")
    margin: float = Field(1.0, gt=0, allow_inf_nan=False, description="how far gold is to lie above others")
    gold: int = Field(2, ge=1, description="most gold sentences of a claim")
    negatives: int = Field(4, ge=1, description="other sentences of a claim: half the hardest, half any")


@dataclass(frozen=True)
class TrainedRanker:
    """A ranker with what it takes to use it; ``weight`` is its share against the retriever's score."""

    module: Ranker
    writer: RowWriter
    settings: RankerSettings
    weight: float = 1.0

    @property
    def device(self) -> torch.device:
        """Where the module computes."""
        return next(self.module.parameters()).device

    def __call__(self, claim: str, sentences: Sequence[Evidence]) -> list[float]:
        """One score per sentence, between −1 and 1."""
        self.module.eval()
        examples = [Example(0, claim, tuple(part)) for part in chunks(sentences, BATCH_ROWS)]
        data = tokenize(examples, self.writer, FEVER_LABELS)
        scores: list[float] = []
        for place in range(len(data)):
            with torch.inference_mode():
                scores += self.module(data.batch([place]).to(self.device)).tolist()
        return scores


def build_ranker(settings: RankerSettings, freeze_layers: int = 0) -> TrainedRanker:
    """A new ranker on a pre-trained backbone; the head's weights come from torch's random state."""
    encoder, tokenizer = load_encoder(settings.backbone)
    return _assemble(settings, encoder, tokenizer, freeze_layers)


def _assemble(
    settings: RankerSettings, encoder: Any, tokenizer: Any, freeze_layers: int = 0, weight: float = 1.0
) -> TrainedRanker:
    backbone = Backbone(encoder, frozen=freeze_layers)
    if backbone.max_length is not None and settings.max_length > backbone.max_length:
        raise ConfigError(
            f"max_length is {settings.max_length}; {settings.backbone} reads {backbone.max_length} tokens."
        )
    writer = RowWriter(tokenizer, Layout(max_length=settings.max_length, titles=settings.titles))
    return TrainedRanker(Ranker(backbone, settings.dropout), writer, settings, weight)


def save_ranker(ranker: TrainedRanker, folder: Path) -> None:
    """Write a ranker with all that :func:`load_ranker` needs to read it without a hub."""
    folder.mkdir(parents=True, exist_ok=True)
    ranker.module.backbone.encoder.config.save_pretrained(folder)
    ranker.writer.tokenizer.save_pretrained(folder)
    save_tensors(folder / "model.safetensors", dict(ranker.module.state_dict()))
    about = {"format": FORMAT, "ranker": ranker.settings.model_dump(mode="json"), "weight": ranker.weight}
    write_json(folder / "ranker.json", about)


def load_ranker(folder: Path) -> TrainedRanker:
    """The ranker that :func:`save_ranker` wrote, in eval mode."""
    settings, weight = _about(folder)
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    try:
        encoder = AutoModel.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32)
        ranker = _assemble(settings, encoder, AutoTokenizer.from_pretrained(folder), weight=weight)
        ranker.module.load_state_dict(load_file(folder / "model.safetensors"))
    except (SafetensorError, RuntimeError, OSError, ValueError) as error:
        raise ConfigError(f"{folder}: damaged ranker ({error}).") from None
    ranker.module.eval()
    return ranker


def _about(folder: Path) -> tuple[RankerSettings, float]:
    try:
        about = json.loads((folder / "ranker.json").read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise ConfigError(f"{folder}: ranker format {about['format']}, this version reads {FORMAT}.")
        return RankerSettings.model_validate(about["ranker"]), float(about["weight"])
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(
            f"{folder}: no ranker (no ranker.json). Train one: adjudge train-ranker --help."
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValidationError) as error:
        raise ConfigError(f"{folder / 'ranker.json'}: damaged ({error}).") from None
