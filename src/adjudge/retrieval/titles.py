"""Pages whose title resembles a name of the claim, misspelt or written otherwise (BEVERS)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adjudge.errors import MissingExtra
from adjudge.retrieval import protocol
from adjudge.retrieval.analysis import name_of, names_in, query_text
from adjudge.retrieval.retriever import IndexRetriever
from adjudge.types import Evidence

MIN_RESEMBLANCE = 85.0
"""Percent of agreeing characters from which a title is taken."""
MOST_PAGES = 5
"""Pages of a claim that are taken by their titles."""
SHORTEST = 4
"""Characters from which a name is compared: short names resemble each other by chance."""


@dataclass(frozen=True)
class FuzzyTitles:
    """A retriever that adds the sentences of pages whose title resembles a name of the claim.

    Resemblance is 100 · (1 − edits / characters of both), the normalised indel distance, between the folded name and
    the folded title without its bracket. Exact titles are left to the retriever, which knows them. All titles are read
    once, when it is made.
    """

    retriever: IndexRetriever
    min_resemblance: float = MIN_RESEMBLANCE
    most_pages: int = MOST_PAGES
    pages_of: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    """Folded title → pages."""

    def __post_init__(self) -> None:
        pages: dict[str, tuple[str, ...]] = {}
        for page, _ in self.retriever.index.all_pages():
            name = name_of(page.title)
            if len(name) >= SHORTEST:
                pages[name] = (*pages.get(name, ()), page.page)
        object.__setattr__(self, "pages_of", pages)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The inner retriever's, and what counts as resemblance."""
        return {
            "kind": "fuzzy titles",
            "min_resemblance": self.min_resemblance,
            "most_pages": self.most_pages,
            "retriever": dict(self.retriever.identity),
        }

    retrieve = protocol.retrieve

    def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        """The ``k`` best sentences of each claim by the retriever's score, those of resembling pages among them."""
        results = []
        for claim, sentences in zip(claims, self.retriever.retrieve_many(claims, k), strict=True):
            known = {sentence.ref for sentence in sentences}
            pages = self.resembling_pages(claim)
            within = self.retriever.retrieve_within(claim, pages, k) if pages else []
            added = [sentence for sentence in within if sentence.ref not in known]
            results.append(_merge(sentences, added)[: max(k, 0)])
        return results

    def retrieve_within(self, claim: str, pages: Sequence[str], k: int) -> list[Evidence]:
        """The inner retriever's."""
        return self.retriever.retrieve_within(claim, pages, k)

    def resembling_pages(self, claim: str) -> list[str]:
        """Pages whose title resembles a name of the claim without being it, the most alike first."""
        try:
            from rapidfuzz import fuzz, process
        except ImportError:
            raise MissingExtra("Fuzzy matching of titles needs rapidfuzz", "systems") from None
        best: dict[str, float] = {}
        names = names_in(query_text(claim))
        for name in names:
            if len(name) < SHORTEST:
                continue
            matches = process.extract(
                name,
                self.pages_of.keys(),
                scorer=fuzz.ratio,
                score_cutoff=self.min_resemblance,
                limit=self.most_pages,
            )
            for title, resemblance, _ in matches:
                if title not in names:
                    best[title] = max(best.get(title, 0.0), resemblance)
        titles = sorted(best, key=lambda title: (-best[title], title))
        return [page for title in titles for page in self.pages_of[title]][: self.most_pages]


def _merge(sentences: Sequence[Evidence], added: Sequence[Evidence]) -> list[Evidence]:
    """Both by falling score; the retriever's own order is kept among its sentences."""
    merged, rest = [], sorted(added, key=lambda sentence: -sentence.score)
    for sentence in sentences:
        while rest and rest[0].score > sentence.score:
            merged.append(rest.pop(0))
        merged.append(sentence)
    return [*merged, *rest]
