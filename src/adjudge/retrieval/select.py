"""From many sentences to the few that the verdict model reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from adjudge.errors import ConfigError
from adjudge.types import MAX_EVIDENCE, Claim, Evidence

Score = Callable[[str, Sequence[Evidence]], Sequence[float]]
"""A claim and sentences → one score each, the higher the better."""

SPREAD = 0.02
"""What a sentence loses for each one already taken from its page, so that a claim that needs two pages may
get both. It buys claims on two pages with a few on one page: docs/retrieval.md has the figures."""


class Selector(Protocol):
    """Chooses among the sentences that a retriever found."""

    def select(self, claim: str, candidates: Sequence[Evidence], k: int) -> list[Evidence]:
        """At most ``k`` of the candidates, best first, ``Evidence.score`` set to what ranked them."""
        ...


@dataclass(frozen=True)
class LexicalSelector:
    """Keeps the retriever's own order: no model."""

    def select(self, claim: str, candidates: Sequence[Evidence], k: int) -> list[Evidence]:
        """The first ``k`` candidates."""
        return list(candidates[: max(k, 0)])


@dataclass(frozen=True)
class ScoredSelector:
    """Fuses the retriever's score with another.

    A sentence s scores (1 − ``weight``) · r(s) / max r + ``weight`` · score(claim, s), where r is the
    retriever's score; with a weight of 1 the retriever only proposes. See :func:`best` for ``spread``.
    """

    score: Score
    weight: float = 1.0
    spread: float = SPREAD

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and 0.0 <= self.weight <= 1.0):
            raise ConfigError(f"selection weight = {self.weight}: expected a number from 0 to 1.")
        if not (math.isfinite(self.spread) and self.spread >= 0.0):
            raise ConfigError(f"selection spread = {self.spread}: expected a number of 0 or more.")

    def select(self, claim: str, candidates: Sequence[Evidence], k: int) -> list[Evidence]:
        """The ``k`` best by the fused score."""
        if not candidates or k < 1:
            return []
        scores = fuse(candidates, self.score(claim, candidates), self.weight)
        return best(candidates, scores, k, self.spread)


def fuse(candidates: Sequence[Evidence], scores: Sequence[float], weight: float) -> list[float]:
    """(1 − weight) · the retriever's score as a share of the best one + weight · the other score."""
    highest = max((sentence.score for sentence in candidates), default=0.0)
    scale = 1.0 / highest if highest > 0 else 0.0
    return [
        (1.0 - weight) * sentence.score * scale + weight * score
        for sentence, score in zip(candidates, scores, strict=True)
    ]


def best(
    candidates: Sequence[Evidence], scores: Sequence[float], k: int, spread: float = 0.0
) -> list[Evidence]:
    """The ``k`` candidates of the highest scores, taken one by one; equal scores keep the candidates' order.

    A sentence loses ``spread`` for each one already taken from its page, where its page is known.
    """
    left = dict(enumerate(scores))
    taken: dict[str, int] = {}
    chosen: list[Evidence] = []

    def worth(place: int) -> float:
        return left[place] - spread * taken.get(candidates[place].page, 0)

    while left and len(chosen) < k:
        place = max(left, key=worth)
        sentence = replace(candidates[place], score=float(worth(place)))
        del left[place]
        chosen.append(sentence)
        if sentence.page:
            taken[sentence.page] = taken.get(sentence.page, 0) + 1
    return chosen


WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def choose_weight(
    judged: Sequence[tuple[Claim, Sequence[Evidence], Sequence[float]]],
    k: int = MAX_EVIDENCE,
    weights: Sequence[float] = WEIGHTS,
    spread: float = SPREAD,
) -> tuple[float, dict[float, float]]:
    """The weight under which most claims have a whole gold group among the first ``k``, and all shares.

    Equal shares are told apart by how early the groups are complete (mean reciprocal rank).

    Args:
        judged: claims with their candidates and the other score of each, of claims that no result is
            reported on.
        k: how many sentences are kept.
        weights: what to try.
        spread: as the selector will have it.
    """
    shares: dict[float, float] = {}
    early: dict[float, float] = {}
    for weight in weights:
        ranks = [
            _group_rank(claim, best(found, fuse(found, scores, weight), len(found), spread))
            for claim, found, scores in judged
        ]
        shares[weight] = sum(rank <= k for rank in ranks) / max(len(ranks), 1)
        early[weight] = sum(1.0 / rank for rank in ranks)
    return max(weights, key=lambda weight: (shares[weight], early[weight])), shares


def _group_rank(claim: Claim, ordered: Sequence[Evidence]) -> float:
    """How many sentences it takes to hold a whole gold group; infinite where the candidates hold none."""
    place = {sentence.ref: rank for rank, sentence in enumerate(ordered, start=1)}
    ranks = [max(place.get(ref, math.inf) for ref in group) for group in claim.gold]
    return min(ranks, default=math.inf)
