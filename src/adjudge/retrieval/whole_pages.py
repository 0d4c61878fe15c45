"""Whole pages offered to a selector, not the sentences that a search finds on them alone (Stammbach, 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.errors import ConfigError
from adjudge.retrieval import protocol
from adjudge.retrieval.links import PageSentences
from adjudge.retrieval.protocol import Selector
from adjudge.types import Evidence

MOST_WORDS = 1500
"""Words of a page from which on it is not read whole."""


@dataclass(frozen=True)
class WholePages:
    """A selector that sees all sentences of the first pages among the candidates.

    ``pages`` of them are read whole, in the candidates' order; a sentence that the search did not find has the score 0.
    Other candidates are offered as they are, and so are those of pages of more than ``MOST_WORDS`` words.
    """

    selector: Selector
    page_sentences: PageSentences
    pages: int

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise ConfigError(f"whole pages = {self.pages}: expected 1 or more.")

    @property
    def identity(self) -> Mapping[str, Any]:
        """How many pages, and what selects."""
        return {"kind": "whole pages", "pages": self.pages, "selector": dict(self.selector.identity)}

    select = protocol.select

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """For each claim at most ``k`` sentences of its candidates and of their pages."""
        return self.selector.select_many(claims, [self._widen(sentences) for sentences in candidates], k)

    def _widen(self, candidates: Sequence[Evidence]) -> list[Evidence]:
        known = {sentence.ref for sentence in candidates}
        widened = list(candidates)
        for page in list(dict.fromkeys(s.page for s in candidates if s.page))[: self.pages]:
            sentences = self.page_sentences(page)
            if sum(len(sentence.text.split()) for sentence in sentences) <= MOST_WORDS:
                widened += [s for s in sentences if s.ref not in known and s.text.strip()]
        return widened
