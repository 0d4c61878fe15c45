"""The sentence ranker: how much a sentence has to say about a claim; its loss, its folder, its use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.dropout import Dropout
from adjudge.encoders.loading import load_encoder
from adjudge.encoders.precision import set_precision
from adjudge.encoders.rows import Layout, RowWriter
from adjudge.encoders.tensors import device_of, weights_hash
from adjudge.errors import ConfigError
from adjudge.io.chunks import chunks
from adjudge.judges.folder import Metadata, read_folder, write_folder
from adjudge.types import FEVER_LABELS, Evidence, Example

if TYPE_CHECKING:
    from adjudge.retrieval.long_rows import TrainedLongRanker

BATCH_ROWS = 64


class Ranker(nn.Module):
    """s = tanh(w · h + b), h the backbone's state of a row that holds the claim and one sentence."""

    def __init__(self, backbone: Backbone, dropout: float = 0.1) -> None:
        super().__init__()
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.score = nn.Linear(backbone.hidden_size, 1)

    def forward(self, batch: Batch) -> Tensor:
        """(R,) one score per row, between −1 and 1."""
        pooled = self.dropout(self.backbone(batch).pooled)  # (R, d)
        return torch.tanh(self.score(pooled).float().squeeze(-1))


def margin_loss(scores: Tensor, gold: Tensor, present: Tensor, margin: float = 1.0) -> Tensor:
    """Mean over the (gold, other) pairs of each claim: max(0, margin − s_gold + s_other).

    Args:
        scores: (B, N) a score per slot.
        gold: (B, N) which slots are gold.
        present: (B, N) which slots take part.
        margin: how far gold is to lie above the others.

    Returns:
        (B,) 0 for a claim without a pair.
    """
    pairs = pair_mask(gold, present)  # (B, N, N): n gold, m other
    gap = (margin - scores[:, :, None] + scores[:, None, :]).clamp(min=0) * pairs
    return gap.sum(dim=(1, 2)) / pairs.sum(dim=(1, 2)).clamp(min=1)


def pair_mask(gold: Tensor, present: Tensor) -> Tensor:
    """(B, N, N) whether slot n is gold and slot m is another sentence of the claim."""
    return (gold & present)[:, :, None] & (~gold & present)[:, None, :]


class RankerSettings(BaseModel):
    """The ranker and the pairs it learns from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["pair", "page", "list"] = Field(
        "pair", description="what a row holds beside the claim: a sentence, a page, or all candidates"
    )
    backbone: str = Field("minilm", description="a short name, a hub id or a path")
    max_length: int = Field(130, ge=16, le=512, description="tokens per row")
    dropout: float = Field(0.1, ge=0, lt=1)
    titles: bool = Field(True, description="show the model the page's title")
    title_dropout: float = Field(0.2, ge=0, le=1, description="share of the claims trained without titles")
    margin: float = Field(1.0, gt=0, allow_inf_nan=False, description="how far gold is to lie above others")
    gold: int = Field(2, ge=1, description="most gold sentences of a claim")
    negatives: int = Field(4, ge=1, description="other sentences of a claim: half the hardest, half any")


def ranker_identity(settings: RankerSettings, module: nn.Module) -> dict[str, Any]:
    """What decides the scores of a ranker of any kind."""
    return {"kind": "ranker", "settings": settings.model_dump(mode="json"), "sha256": weights_hash(module)}


@dataclass(frozen=True)
class TrainedRanker:
    """A ranker with what it takes to use it; ``weight`` is its share against the retriever's score."""

    module: Ranker
    writer: RowWriter
    settings: RankerSettings
    weight: float = 1.0

    @property
    def identity(self) -> Mapping[str, Any]:
        """Settings and weights."""
        return ranker_identity(self.settings, self.module)

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        """One score per sentence, between −1 and 1."""
        self.module.eval()
        examples = [
            Example(index, claim, tuple(part))
            for index, (claim, sentences) in enumerate(zip(claims, candidates, strict=True))
            for part in chunks(sentences, BATCH_ROWS)
        ]
        data = tokenize(examples, self.writer, FEVER_LABELS)
        device = device_of(self.module)
        scores: list[list[float]] = [[] for _ in claims]
        for row, example in enumerate(examples):
            with torch.inference_mode():
                scores[int(example.id)] += self.module(data.batch([row]).to(device)).tolist()
        return scores


AnyRanker = Union[TrainedRanker, "TrainedLongRanker"]
"""A ranker of any kind."""


def build_ranker(settings: RankerSettings, freeze_layers: int = 0) -> AnyRanker:
    """A new ranker on a pre-trained backbone; the head's weights come from torch's random state."""
    encoder, tokenizer = load_encoder(settings.backbone)
    return _assemble(settings, encoder, tokenizer, freeze_layers)


def _assemble(
    settings: RankerSettings, encoder: Any, tokenizer: Any, freeze_layers: int = 0, weight: float = 1.0
) -> AnyRanker:
    backbone = Backbone(encoder, frozen=freeze_layers)
    if backbone.max_length is not None and settings.max_length > backbone.max_length:
        raise ConfigError(
            f"max_length is {settings.max_length}; {settings.backbone} reads {backbone.max_length} tokens."
        )
    writer = RowWriter(tokenizer, Layout(max_length=settings.max_length, titles=settings.titles))
    if settings.kind != "pair":
        from adjudge.retrieval.long_rows import LongRanker, LongRowWriter, TrainedLongRanker

        rows = LongRowWriter(writer, by_page=settings.kind == "page")
        return TrainedLongRanker(LongRanker(backbone, settings.dropout), rows, settings, weight)
    return TrainedRanker(Ranker(backbone, settings.dropout), writer, settings, weight)


def save_ranker(ranker: AnyRanker, folder: Path) -> None:
    """Write a ranker with all that :func:`load_ranker` needs to read it without a hub."""
    settings = ranker.settings.model_dump(mode="json")
    metadata = Metadata(type="ranker", settings=settings, weight=ranker.weight)
    writer = ranker.writer if isinstance(ranker.writer, RowWriter) else ranker.writer.writer
    write_folder(folder, ranker.module, writer.tokenizer, metadata)


def load_ranker(folder: Path, device: Any = "cpu", precision: str = "fp32") -> AnyRanker:
    """The ranker that :func:`save_ranker` wrote, in eval mode; see ``set_precision`` for ``precision``."""
    stored = read_folder(folder, "ranker")
    settings, weight = stored.settings(RankerSettings), stored.metadata.weight
    ranker = _assemble(settings, stored.encoder, stored.tokenizer, weight=1.0 if weight is None else weight)
    stored.load_into(ranker.module)
    ranker.module.to(device)
    set_precision(ranker.module, precision)
    return ranker
