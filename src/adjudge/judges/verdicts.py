"""From a judge's numbers to a verdict: the same whatever computed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adjudge.config import ModelSettings
from adjudge.encoders.rows import WHOLE, Cut
from adjudge.types import Example, Explanation, LabelSet, Verdict


@dataclass(frozen=True)
class Answer:
    """What a judge says of one claim.

    Attributes:
        probabilities: (K,) of the labels, in their order.
        node_weights: (N,) the share of each sentence; None for models that do not weigh sentences.
        edge_weights: (N, N) what sentences took from each other; None likewise.
    """

    probabilities: Sequence[float]
    node_weights: Sequence[float] | None = None
    edge_weights: Sequence[Sequence[float]] | None = None


def verdict_of(
    example: Example, answer: Answer, labels: LabelSet, max_evidence: int | None, cut: Cut = WHOLE
) -> Verdict:
    """The verdict on an example, of whose sentences the model read the first ``max_evidence``, but for what was cut."""
    evidence = example.evidence[:max_evidence]
    if cut.sentences or any(sentence.cut for sentence in evidence):
        evidence = tuple(
            replace(sentence, cut=position in cut.sentences) for position, sentence in enumerate(evidence)
        )
    if answer.node_weights is not None and evidence:
        pairs = zip(evidence, answer.node_weights, strict=False)
        evidence = tuple(replace(sentence, weight=weight) for sentence, weight in pairs)
    top = max(range(len(labels)), key=answer.probabilities.__getitem__)
    return Verdict(
        example.id,
        example.claim,
        labels.names[top],
        dict(zip(labels, answer.probabilities, strict=True)),
        evidence,
        None if evidence else "no evidence was given",
        gold_injected=example.gold_injected,
        explanation=_explanation(answer, len(evidence)),
        claim_cut=cut.claim,
    )


def cut_in_text(source: Callable[[int], str], reads_all: Callable[[str], bool], sentences: int) -> Cut:
    """What a model did not read whole of a text that holds the claim and then the sentences.

    Args:
        source: the text with the first n sentences.
        reads_all: whether the model reads a text to its end.
        sentences: how many there are.
    """
    if reads_all(source(sentences)):
        return WHOLE
    missing = (position for position in range(sentences) if not reads_all(source(position + 1)))
    return Cut(not reads_all(source(0)), frozenset(missing))


def row_identity(
    labels: LabelSet, settings: ModelSettings, weights: str, temperature: float, precision: str
) -> dict[str, Any]:
    """All that decides the answers of a row model; ``weights`` is a hash of them."""
    return {
        "labels": list(labels),
        "model": settings.model_dump(mode="json", exclude={"init"}),
        "weights": weights,
        "temperature": temperature,
        "precision": precision,
    }


def _explanation(answer: Answer, sentences: int) -> Explanation | None:
    """What sentences took from each other, where there are several and the model says it."""
    if answer.edge_weights is None or sentences < 2:
        return None
    rows = answer.edge_weights[:sentences]
    return Explanation(edges=tuple(tuple(round(weight, 6) for weight in row[:sentences]) for row in rows))
