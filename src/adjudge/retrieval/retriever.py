"""The embedded retriever: an index searched by words and, where it has vectors, by meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from adjudge.encoders.embedder import Embedder, load_embedder
from adjudge.retrieval import protocol
from adjudge.retrieval.analysis import query_text
from adjudge.retrieval.index import Hit, Index, PageHit, fingerprint
from adjudge.retrieval.lexical import LexicalSearch, RetrievalSettings
from adjudge.retrieval.protocol import Selector
from adjudge.retrieval.selectors import LexicalSelector, fuse
from adjudge.retrieval.vectors import Floats
from adjudge.types import Evidence


@dataclass(frozen=True)
class IndexRetriever:
    """A ``Retriever`` over an index on disk.

    Without an embedder it searches by words. With one the vectors of the index propose sentences too, whatever their
    words; ``Evidence.score`` is then still the score by words, ``Evidence.similarity`` the cosine with the claim, and
    the order is that of both.
    """

    index: Index
    settings: RetrievalSettings = RetrievalSettings()
    embedder: Embedder | None = None

    @property
    def identity(self) -> Mapping[str, Any]:
        """Settings, the content of the index and, where it searches by meaning, the embedder."""
        vectors = None if self.embedder is None else dict(self.embedder.identity)
        return {
            "kind": "index",
            "index": fingerprint(self.index),
            "settings": asdict(self.settings),
            "embedder": vectors,
        }

    retrieve = protocol.retrieve

    def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        """The ``k`` best sentences for each claim; any string is a claim, and some have none."""
        if k < 1 or not claims:
            return [[] for _ in claims]
        search = self._search.search
        queries = self._embed(claims)
        if queries is None:
            return [_evidence(search(claim, k)) for claim in claims]
        results = []
        for claim, query, numbers in zip(claims, queries, self._nearest(queries), strict=True):
            results.append(self._order(search(claim, k, numbers), query)[:k])
        return results

    def retrieve_pages(self, claim: str, k: int) -> list[PageHit]:
        """The ``k`` best pages for a claim by words, without the second hop."""
        return self._search.search_pages(claim, k)

    def retrieve_within(self, claim: str, pages: Sequence[str], k: int) -> list[Evidence]:
        """The ``k`` best sentences of given pages by words, scored as if these pages came first."""
        hits = self._search.search_within(claim, pages, k)
        queries = self._embed([claim]) if hits else None
        return _evidence(hits) if queries is None else self._order(hits, queries[0])

    @property
    def _search(self) -> LexicalSearch:
        return LexicalSearch(self.index, self.settings)

    def _embed(self, claims: Sequence[str]) -> Floats | None:
        """(n, d) vectors of the claims, None where only words are searched."""
        if self.embedder is None or self.index.vectors is None:
            return None
        return self.embedder([query_text(claim) for claim in claims])

    def _nearest(self, queries: Floats) -> list[list[int]]:
        """The numbers of the sentences that the vectors propose for each query."""
        vectors, settings = self.index.vectors, self.settings
        if vectors is None or not settings.nearest:
            return [[] for _ in queries]
        hits = vectors.search(queries, settings.nearest)
        return [numbers[cosines >= settings.min_similarity].tolist() for numbers, cosines in hits]

    def _order(self, hits: Sequence[Hit], query: Floats) -> list[Evidence]:
        """Sentences with their cosines, in the order of words and meaning."""
        vectors = self.index.vectors
        if vectors is None:
            return _evidence(hits)
        cosines = vectors.cosines(query, [hit.sentence.number for hit in hits]).tolist()
        evidence = [sentence.evidence(score, c) for (sentence, score), c in zip(hits, cosines, strict=True)]
        scores = fuse(evidence, cosines, self.settings.similarity_weight)
        return [evidence[n] for n in np.argsort(-np.asarray(scores), kind="stable")]


def open_retriever(
    index: Index,
    selector: str | Selector = "fusion",
    device: Any = "cpu",
    precision: str = "auto",
    runtime: str = "auto",
) -> IndexRetriever:
    """What searches an index, with the embedder that its vectors were made by if it has vectors.

    Args:
        index: an opened index.
        selector: what selects among its sentences; the lexical one searches by words alone and needs no model.
        device: where the embedder computes.
        precision: as a judge's.
        runtime: as a judge's.
    """
    if index.vectors is None or not searches_by_meaning(selector):
        return IndexRetriever(index)
    embedder = load_embedder(index.vectors.record.embedder["name"], device, precision, runtime)
    index.vectors.check(embedder.identity)
    return IndexRetriever(index, embedder=embedder)


def searches_by_meaning(selector: str | Selector) -> bool:
    """Whether a selector wants sentences that were found by their meaning."""
    return selector != "lexical" and not isinstance(selector, LexicalSelector)


def _evidence(hits: Sequence[Hit]) -> list[Evidence]:
    return [sentence.evidence(score) for sentence, score in hits]
