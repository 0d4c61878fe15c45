"""From a judge's numbers to a verdict: the same whatever computed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from adjudge.config import ModelSettings
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


def verdict_of(example: Example, answer: Answer, labels: LabelSet, max_evidence: int | None) -> Verdict:
    """The verdict on an example, of whose sentences the model read the first ``max_evidence``."""
    evidence = example.evidence[:max_evidence]
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
    )


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
