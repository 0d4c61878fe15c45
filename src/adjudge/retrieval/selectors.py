"""From many sentences to the few that the verdict model reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from adjudge.config import DEFAULT_EVIDENCE
from adjudge.data.text import clean_text
from adjudge.encoders.embedder import Embedder, load_embedder
from adjudge.errors import ConfigError
from adjudge.retrieval import protocol
from adjudge.retrieval.protocol import Selector
from adjudge.retrieval.vectors import embedded_text
from adjudge.types import Claim, Evidence

SPREAD = 0.02
"""What a sentence loses for each one already taken from its page, so that a claim that needs two pages may
get both. It buys claims on two pages with a few on one page: docs/retrieval.md has the figures."""


class Scorer(Protocol):
    """Scores candidate sentences of claims, the higher the better."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides the scores."""
        ...

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        """For each claim one score per candidate."""
        ...


@dataclass(frozen=True)
class LexicalSelector:
    """Keeps the retriever's own order: no model."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """There is nothing to set."""
        return {"kind": "lexical"}

    select = protocol.select

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """The first ``k`` candidates of each claim."""
        return [list(sentences[: max(k, 0)]) for sentences in candidates]


@dataclass(frozen=True)
class ScoredSelector:
    """Fuses the retriever's score with another.

    A sentence s scores (1 − ``weight``) · r(s) / max r + ``weight`` · score(claim, s), where r is the
    retriever's score; with a weight of 1 the retriever only proposes. See :func:`best` for ``spread``.
    """

    scorer: Scorer
    weight: float = 1.0
    spread: float = SPREAD

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and 0.0 <= self.weight <= 1.0):
            raise ConfigError(f"selection weight = {self.weight}: expected a number from 0 to 1.")
        if not (math.isfinite(self.spread) and self.spread >= 0.0):
            raise ConfigError(f"selection spread = {self.spread}: expected a number of 0 or more.")

    @property
    def identity(self) -> Mapping[str, Any]:
        """Weight, spread, and what scores."""
        return {
            "kind": "scored",
            "weight": self.weight,
            "spread": self.spread,
            "scorer": dict(self.scorer.identity),
        }

    select = protocol.select

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """The ``k`` best of each claim by the fused score."""
        if k < 1 or not any(candidates):
            return [[] for _ in claims]
        scores = self.scorer.score_many(claims, candidates)
        return [
            select_best(sentences, fuse(sentences, sentence_scores, self.weight), k, self.spread)
            for sentences, sentence_scores in zip(candidates, scores, strict=True)
        ]


def fuse(candidates: Sequence[Evidence], scores: Sequence[float], weight: float) -> list[float]:
    """(1 − weight) · the retriever's score as a share of the best one + weight · the other score."""
    highest = max((sentence.score for sentence in candidates), default=0.0)
    scale = 1.0 / highest if highest > 0 else 0.0
    return [
        (1.0 - weight) * sentence.score * scale + weight * score
        for sentence, score in zip(candidates, scores, strict=True)
    ]


def select_best(
    candidates: Sequence[Evidence], scores: Sequence[float], k: int, spread: float = 0.0
) -> list[Evidence]:
    """The ``k`` candidates of the highest scores, taken one by one; equal scores keep the candidates' order.

    A sentence loses ``spread`` for each one already taken from its page, where its page is known.
    """
    remaining = dict(enumerate(scores))
    taken: dict[str, int] = {}
    selection: list[Evidence] = []

    def value(index: int) -> float:
        return remaining[index] - spread * taken.get(candidates[index].page, 0)

    while remaining and len(selection) < k:
        index = max(remaining, key=value)
        sentence = replace(candidates[index], score=float(value(index)))
        del remaining[index]
        selection.append(sentence)
        if sentence.page:
            taken[sentence.page] = taken.get(sentence.page, 0) + 1
    return selection


WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def choose_weight(
    judged: Sequence[tuple[Claim, Sequence[Evidence], Sequence[float]]],
    k: int = DEFAULT_EVIDENCE,
    weights: Sequence[float] = WEIGHTS,
    spread: float = SPREAD,
) -> tuple[float, dict[float, float]]:
    """The weight under which most claims have a whole gold group among the first ``k``, and all shares.

    Ties are broken by how early the groups are complete (mean reciprocal rank).

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
            _group_rank(
                claim, select_best(sentences, fuse(sentences, scores, weight), len(sentences), spread)
            )
            for claim, sentences, scores in judged
        ]
        shares[weight] = sum(rank <= k for rank in ranks) / max(len(ranks), 1)
        early[weight] = sum(1.0 / rank for rank in ranks)
    return max(weights, key=lambda weight: (shares[weight], early[weight])), shares


def _group_rank(claim: Claim, ordered: Sequence[Evidence]) -> float:
    """How many sentences it takes to hold a whole gold group; infinite where the candidates hold none."""
    rank_of = {sentence.ref: rank for rank, sentence in enumerate(ordered, start=1)}
    ranks = [max(rank_of.get(ref, math.inf) for ref in group) for group in claim.gold]
    return min(ranks, default=math.inf)


NAMES = ("lexical", "fusion")
CROSS_ENCODER = "hf:"
JUDGE = "judge:"
LIST_T5 = "t5:"


def load_selector(
    name: str,
    embedder: Embedder | None = None,
    device: Any = "cpu",
    precision: str = "auto",
    runtime: str = "auto",
) -> Selector:
    """A selector by name.

    Args:
        name: ``lexical`` (the retriever's order), ``fusion`` (with MiniLM's similarity), ``hf:ID-or-folder`` (a
            Hugging Face cross-encoder), ``judge:NAME`` (a judge: 1 − P(NOT ENOUGH INFO) of each sentence alone),
            ``t5:ID-or-folder`` (a sequence-to-sequence model that marks a list), or a trained ranker's folder.
        embedder: what ``fusion`` embeds with; by default the process's one MiniLM for this device.
        device: where the model computes.
        precision: as a judge's: ``auto``, ``fp32`` or ``int16``.
        runtime: what ``fusion``'s MiniLM runs on: see :mod:`adjudge.encoders.runtime`.
    """
    if name == "lexical":
        return LexicalSelector()
    if name == "fusion":
        from adjudge.retrieval.sets import SetSelector

        return SetSelector(Similarity(embedder or load_embedder("minilm", device, precision, runtime)))
    if name.startswith(CROSS_ENCODER):
        from adjudge.retrieval.cross_encoder import CrossEncoderScorer

        return ScoredSelector(CrossEncoderScorer(name.removeprefix(CROSS_ENCODER), device))
    if name.startswith(LIST_T5):
        from adjudge.encoders.seq2seq import Seq2Seq
        from adjudge.retrieval.list_t5 import ListT5Selector

        return ListT5Selector(Seq2Seq(name.removeprefix(LIST_T5), device))
    if name.startswith(JUDGE):
        from adjudge.judges.folder import load_judge
        from adjudge.retrieval.judged import JudgeScorer

        return ScoredSelector(JudgeScorer(load_judge(name.removeprefix(JUDGE), device, precision)))
    check_selector(name)
    from adjudge.retrieval.ranker import load_ranker

    ranker = load_ranker(Path(name).expanduser(), device, precision)
    return ScoredSelector(ranker, ranker.weight)


def check_selector(name: str) -> None:
    """Refuse what :func:`load_selector` would not load, without loading a model."""
    if name in NAMES or name.startswith((CROSS_ENCODER, JUDGE, LIST_T5)) or Path(name).expanduser().is_dir():
        return
    raise ConfigError(
        f"Selector {name!r} is not one of {', '.join(NAMES)}, nor {CROSS_ENCODER}ID, {JUDGE}NAME or {LIST_T5}ID, nor "
        "the folder of a trained ranker.\nTrain one: adjudge train-ranker --help."
    )


@dataclass(frozen=True)
class Similarity:
    """Scores a sentence by cos(claim, title and sentence)."""

    embedder: Embedder

    @property
    def identity(self) -> Mapping[str, Any]:
        """The embedder's."""
        return {"kind": "similarity", "embedder": dict(self.embedder.identity)}

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        """One cosine per sentence: the one that the index gave, or of its text, all embedded together."""
        known = [[sentence.similarity for sentence in sentences] for sentences in candidates]
        if all(cosine is not None for cosines in known for cosine in cosines):
            return [[float(cosine or 0.0) for cosine in cosines] for cosines in known]
        texts = [clean_text(claim) for claim in claims]
        texts += [embedded_text(sentence) for sentences in candidates for sentence in sentences]
        vectors = self.embedder(texts)
        scores, start = [], len(claims)
        for index, sentences in enumerate(candidates):
            sentence_vectors = vectors[start : start + len(sentences)]
            scores.append((sentence_vectors @ vectors[index]).tolist())
            start += len(sentences)
        return scores


def clear_cache(selector: Selector) -> None:
    """Drop the vectors that a selector keeps of earlier claims."""
    scorer = getattr(selector, "scorer", None)
    if isinstance(scorer, Similarity):
        scorer.embedder.clear_cache()
