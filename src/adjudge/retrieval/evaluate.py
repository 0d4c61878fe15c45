"""How much of the gold evidence a retriever finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adjudge.config import DEFAULT_EVIDENCE
from adjudge.io.chunks import chunks
from adjudge.retrieval.pipeline import WINDOW, EvidencePipeline
from adjudge.retrieval.protocol import Retriever
from adjudge.types import Claim, SentenceRef

DEFAULT_KS = (1, 3, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """Means over the claims of one slice.

    ``page_recall[k]``: all pages of some gold group are among the first k different pages.
    ``group_recall[k]``: some whole gold group is among the first k sentences (what the FEVER score asks).
    ``sentence_recall``: the largest share of a gold group among the first five sentences; ``precision``: the
    share of those five that is gold; ``f1``: of the two means.
    """

    claims: int
    page_recall: Mapping[int, float]
    group_recall: Mapping[int, float]
    sentence_recall: float
    precision: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and sentence recall."""
        total = self.precision + self.sentence_recall
        return 2 * self.precision * self.sentence_recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """Figures over all claims with gold evidence, per label, and for claims that need two pages or more.

    ``gold_injected`` when gold pages were among the candidates: then these are not figures of a search.
    """

    overall: RetrievalFigures
    by_label: Mapping[str, RetrievalFigures]
    multi_hop: RetrievalFigures
    without_gold: int
    gold_injected: bool = False


@dataclass(frozen=True, slots=True)
class _ClaimFigures:
    label: str
    multi_hop: bool
    page_rank: float
    group_rank: float
    recall: float
    precision: float


def evaluate_retrieval(
    retriever: Retriever, claims: Iterable[Claim], ks: Sequence[int] = DEFAULT_KS
) -> RetrievalScores:
    """Retrieve for every claim that has gold evidence and compare; claims without are counted.

    A pipeline with gold is shown the claims' gold pages, and the scores say so.
    """
    depth = 10 * max(*ks, DEFAULT_EVIDENCE)
    injected = isinstance(retriever, EvidencePipeline) and retriever.injected
    rows: list[_ClaimFigures] = []
    without = 0
    for window in chunks(claims, WINDOW):
        usable = [claim for claim in window if claim.gold]
        without += len(window) - len(usable)
        if isinstance(retriever, EvidencePipeline):
            retrieved = retriever.retrieve_for(usable, depth)
        else:
            retrieved = retriever.retrieve_many([claim.text for claim in usable], depth)
        for claim, sentences in zip(usable, retrieved, strict=True):
            rows.append(_row(claim, [sentence.ref for sentence in sentences]))
    labels = dict.fromkeys(sorted(row.label for row in rows))
    return RetrievalScores(
        overall=_mean(rows, ks),
        by_label={label: _mean([row for row in rows if row.label == label], ks) for label in labels},
        multi_hop=_mean([row for row in rows if row.multi_hop], ks),
        without_gold=without,
        gold_injected=injected,
    )


def needs_two_pages(claim: Claim) -> bool:
    """Whether no single page holds a whole gold group."""
    return bool(claim.gold) and all(len({ref.page for ref in group}) > 1 for group in claim.gold)


def _row(claim: Claim, ranked: Sequence[SentenceRef]) -> _ClaimFigures:
    lines = {ref: rank for rank, ref in reversed(list(enumerate(ranked, start=1)))}
    order = dict.fromkeys(ref.page for ref in ranked)
    pages = {page: rank for rank, page in enumerate(order, start=1)}
    never = float("inf")
    first = set(ranked[:DEFAULT_EVIDENCE])
    gold = {ref for group in claim.gold for ref in group}
    return _ClaimFigures(
        label=claim.label or "",
        multi_hop=needs_two_pages(claim),
        page_rank=min(max(pages.get(ref.page, never) for ref in group) for group in claim.gold),
        group_rank=min(max(lines.get(ref, never) for ref in group) for group in claim.gold),
        recall=max(len(first.intersection(group)) / len(set(group)) for group in claim.gold),
        precision=len(first & gold) / len(first) if first else 0.0,
    )


def _mean(rows: Sequence[_ClaimFigures], ks: Sequence[int]) -> RetrievalFigures:
    count = max(len(rows), 1)
    return RetrievalFigures(
        claims=len(rows),
        page_recall={k: sum(row.page_rank <= k for row in rows) / count for k in ks},
        group_recall={k: sum(row.group_rank <= k for row in rows) / count for k in ks},
        sentence_recall=sum(row.recall for row in rows) / count,
        precision=sum(row.precision for row in rows) / count,
    )
