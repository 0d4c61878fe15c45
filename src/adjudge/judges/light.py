"""Row models without torch: an encoder of :mod:`adjudge.encoders.light` and a head in NumPy, for verdicts at once.

Their verdicts are those of the same model on torch up to rounding. What they cannot run (other encoders, heads or
devices) is left to torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.config import ModelSettings
from adjudge.encoders.dataset import batches_by_length, tokenize
from adjudge.encoders.known import WEIGHTS, is_known, parameter_name, read_config
from adjudge.encoders.light import LightEncoder, build_light_encoder
from adjudge.encoders.mapped import Array, Weights, map_tensors
from adjudge.encoders.rows import WHOLE, Layout, RowWriter
from adjudge.encoders.tokenizing import read_tokenizer
from adjudge.io.chunks import chunks
from adjudge.judges.verdicts import Answer, row_identity, verdict_of
from adjudge.types import Example, LabelSet, Verdict

WINDOW = 256
BATCH_TOKENS = 4096
_ENCODER = "backbone.encoder."

Floats = npt.NDArray[np.float32]
Head = Callable[[Mapping[str, Array], Floats], tuple[Floats, Floats | None]]
"""Weights and the states (N, d) of a claim's rows → log P(y) (K,) and, of heads that weigh sentences, P(n) (N,)."""


def mixture(weights: Mapping[str, Array], rows: Floats) -> tuple[Floats, Floats | None]:
    """P(y) = Σ_n P(n) P(y | n), as ``judges.mixture`` has it."""
    scores = (rows @ weights["node_score.weight"].T + weights["node_score.bias"])[:, 0]
    node_log_weights = log_softmax(scores)
    shares = np.exp(node_log_weights)
    everything = np.broadcast_to(shares @ rows, rows.shape)
    logits = (
        np.concatenate([rows, everything], axis=1) @ weights["verdict.weight"].T + weights["verdict.bias"]
    )
    joint = node_log_weights[:, None] + log_softmax(logits)
    top = joint.max(axis=0)
    return top + np.log(np.exp(joint - top).sum(axis=0)), shares


def concat(weights: Mapping[str, Array], rows: Floats) -> tuple[Floats, Floats | None]:
    """P(y) = softmax(W h), as ``judges.concat`` has it."""
    return log_softmax(rows[0] @ weights["verdict.weight"].T + weights["verdict.bias"]), None


HEADS: Mapping[str, Head] = {"mixture": mixture, "concat": concat}
ONE_ROW = ("concat",)


def log_softmax(x: Floats) -> Floats:
    """Over the last dimension."""
    x = x - x.max(axis=-1, keepdims=True)
    normalised: Floats = x - np.log(np.exp(x).sum(axis=-1, keepdims=True))
    return normalised


@dataclass(frozen=True)
class LightJudge:
    """A row model that NumPy and the native library run.

    Attributes:
        encoder: rows of tokens in, a state for each row out.
        head: mixes what the rows say.
        weights: the head's.
        writer: text in, rows out.
        labels: the classes, in order.
        settings: what the model was built with.
        temperature: what its log-probabilities are divided by.
        sha256: of the file its weights came from.
    """

    encoder: LightEncoder
    head: Head
    weights: Mapping[str, Array]
    writer: RowWriter
    labels: LabelSet
    settings: ModelSettings
    temperature: float
    sha256: str

    @property
    def max_evidence(self) -> int:
        """Sentences it reads of an example."""
        return self.settings.max_evidence

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that decides its answers."""
        precision = self.encoder.precision
        identity = row_identity(self.labels, self.settings, self.sha256, self.temperature, precision)
        return {**identity, "runtime": "light"}

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order, holding only a window of them in memory."""
        for window in chunks(examples, WINDOW):
            data = tokenize((replace(e, label=None) for e in window), self.writer, self.labels)
            answers: dict[int, Answer] = {}
            for claims in batches_by_length(data, BATCH_TOKENS):
                states, counts = self.encoder.pooled(data, claims, self.settings.pooling)
                for claim, rows in zip(claims, np.split(states, np.cumsum(counts)[:-1]), strict=True):
                    answers[claim] = self._answer(rows)
            for claim, example in enumerate(window):
                cut = data.cut.get(claim, WHOLE)
                yield verdict_of(example, answers[claim], self.labels, self.max_evidence, cut)

    def _answer(self, rows: Floats) -> Answer:
        log_probs, shares = self.head(self.weights, rows)
        probabilities = np.exp(log_softmax(log_probs / np.float32(self.temperature)))
        return Answer(probabilities.tolist(), None if shares is None else shares.tolist())


@dataclass(frozen=True)
class Source:
    """Where a light judge is read from.

    Attributes:
        folder: of encoder and tokenizer: the model's own, or its public backbone's.
        stored: the model's tensors file.
        is_difference: whether the tensors are differences to the public backbone.
        sha256: of the tensors, and of the public backbone's.
    """

    folder: Path
    stored: Path
    is_difference: bool
    sha256: tuple[str, str]


def load_light(
    source: Source, settings: ModelSettings, labels: LabelSet, temperature: float, precision: str
) -> LightJudge | None:
    """The judge of a model's files, or None where it takes torch to run it: see the module."""
    values = read_config(source.folder)
    if settings.kind not in HEADS or settings.options or values is None or not is_known(values):
        return None
    tokenizer = read_tokenizer(source.folder)
    if tokenizer is None:
        return None
    try:
        weights = _read_weights(source)
        encoder = build_light_encoder(
            values, weights.below(_ENCODER), precision, f"{_ENCODER} {' '.join(source.sha256)}"
        )
        head = {name: weights[name] for name in weights if not name.startswith(_ENCODER)}
    except (OSError, ValueError, KeyError):
        return None  # the reader of the whole folder says what is wrong with it
    if settings.max_length > encoder.max_length:
        return None
    layout = Layout(
        max_length=settings.max_length,
        one_row=settings.kind in ONE_ROW,
        titles=settings.titles,
        context=settings.context,
        max_evidence=settings.max_evidence,
    )
    writer = RowWriter(tokenizer, layout)
    judge = HEADS[settings.kind]
    return LightJudge(encoder, judge, head, writer, labels, settings, temperature, source.sha256[0])


def _read_weights(source: Source) -> Weights:
    stored = map_tensors(source.stored)
    if not source.is_difference:
        return Weights(stored)
    public = map_tensors(source.folder / WEIGHTS)
    return Weights(stored, {f"{_ENCODER}{parameter_name(name)}": value for name, value in public.items()})
