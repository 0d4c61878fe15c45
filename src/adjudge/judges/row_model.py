"""Judges that read rows of tokens: an encoder, a layout of rows, and a head that mixes what the rows say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adjudge.config import ModelSettings
from adjudge.encoders.backbone import Backbone
from adjudge.encoders.frozen import BATCH_TOKENS
from adjudge.encoders.loading import load_encoder
from adjudge.encoders.precision import set_precision
from adjudge.encoders.rows import Layout, RowWriter
from adjudge.encoders.tensors import weights_hash
from adjudge.errors import ConfigError
from adjudge.judges.registry import KINDS, import_object
from adjudge.judges.verdicts import row_identity
from adjudge.types import Example, LabelSet, Verdict


@dataclass(frozen=True)
class RowJudge:
    """A head on an encoder, with what it takes to feed it and what its classes mean.

    Attributes:
        module: batch in, ``ModelOutput`` out; has a ``backbone``.
        writer: text in, rows out.
        labels: the classes, in order.
        settings: what it was built with.
        temperature: what its log-probabilities are divided by.
        weights: SHA-256 of the file its weights came from; empty for a new model.
        precision: what the encoder computes in.
        batch_tokens: tokens of a forward pass when it judges: more need more memory.
        observe: gets the seconds that ``tokenisation`` and ``inference`` take, each time.
    """

    module: Any
    writer: RowWriter
    labels: LabelSet
    settings: ModelSettings
    temperature: float = 1.0
    weights: str = ""
    precision: str = "fp32"
    batch_tokens: int = BATCH_TOKENS
    observe: Callable[[str, float], None] | None = field(default=None, compare=False)

    @property
    def max_evidence(self) -> int:
        """Sentences it reads of an example."""
        return self.settings.max_evidence

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that decides its answers."""
        weights = self.weights or weights_hash(self.module)
        return row_identity(self.labels, self.settings, weights, self.temperature, self.precision)

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order, batched."""
        from adjudge.judges.predict import predict

        return predict(self, examples)

    def on(self, device: Any, precision: str = "fp32") -> RowJudge:
        """The same judge, moved to a device and made ready to predict there; not to be trained afterwards."""
        self.module.to(device)
        return replace(self, precision=set_precision(self.module, precision))


def build(
    settings: ModelSettings, labels: LabelSet, freeze_layers: int = 0, freeze_embeddings: bool = False
) -> RowJudge:
    """A new judge on a pre-trained backbone; the head's weights come from torch's random state."""
    encoder, tokenizer = load_encoder(settings.backbone)
    judge = assemble(settings, labels, encoder, tokenizer, freeze_layers)
    if freeze_embeddings:
        judge.module.backbone.freeze_embeddings()
    return judge


def assemble(
    settings: ModelSettings, labels: LabelSet, encoder: Any, tokenizer: Any, freeze_layers: int = 0
) -> RowJudge:
    """A judge on a given encoder."""
    backbone = Backbone(encoder, freeze_layers, settings.pooling, settings.adapters)
    if settings.backbone_dropout is not None:
        backbone.set_dropout(settings.backbone_dropout)
    longest = backbone.max_length
    if longest is not None and settings.max_length > longest:
        raise ConfigError(
            f"model.max_length is {settings.max_length}; {settings.backbone} reads {longest} tokens."
        )
    head = import_object(KINDS[settings.kind])
    module = head(backbone, len(labels), settings.dropout, **settings.options)
    layout = Layout(
        max_length=settings.max_length,
        one_row=module.one_row,
        titles=settings.titles,
        context=settings.context,
        joined_row=getattr(module, "joins_rows", False),
        empty_rows=settings.max_evidence if module.pads_rows else 0,
        max_evidence=settings.max_evidence,
    )
    return RowJudge(module, RowWriter(tokenizer, layout), labels, settings)
