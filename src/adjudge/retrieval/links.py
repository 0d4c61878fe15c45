"""Evidence looked for again on the pages that the best sentences link to (BEVERS' re-retrieval)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.errors import ConfigError
from adjudge.retrieval import protocol
from adjudge.retrieval.protocol import Selector
from adjudge.retrieval.selectors import Scorer, select_best
from adjudge.types import Evidence

DISCOUNT = 0.95
MOST_LINKS = 7

PageSentences = Callable[[str], Sequence[Evidence]]
"""The sentences of a page; none where the corpus lacks it."""


@dataclass(frozen=True)
class LinkSelector:
    """Selects, looks at the pages that the selection links to, and selects again.

    1. The ``k`` candidates of the highest scores.
    2. The pages they link to, at most ``most_links`` of each sentence; all sentences of these pages, scored by the
       same scorer, their scores multiplied by ``discount``.
    3. The ``k`` best of both.

    A discount makes a score smaller only where it is positive, so scores below 0 are divided by it.
    """

    scorer: Scorer
    page_sentences: PageSentences
    discount: float = DISCOUNT
    most_links: int = MOST_LINKS

    def __post_init__(self) -> None:
        if not (math.isfinite(self.discount) and 0.0 < self.discount <= 1.0):
            raise ConfigError(f"discount of links = {self.discount}: expected a number above 0, at most 1.")

    @property
    def identity(self) -> Mapping[str, Any]:
        """Discount, links of a sentence, and what scores."""
        return {
            "kind": "links",
            "discount": self.discount,
            "most_links": self.most_links,
            "scorer": dict(self.scorer.identity),
        }

    select = protocol.select

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """For each claim the ``k`` best of its candidates and of the sentences that the best of them lead to."""
        if k < 1 or not any(candidates):
            return [[] for _ in claims]
        scores = self.scorer.score_many(claims, candidates)
        first = [select_best(*pair, k) for pair in zip(candidates, scores, strict=True)]
        linked = [
            self._linked(selection, sentences) for selection, sentences in zip(first, candidates, strict=True)
        ]
        again = self.scorer.score_many(claims, linked)
        return [
            select_best([*old, *new], [*old_scores, *map(self._lower, new_scores)], k)
            for old, old_scores, new, new_scores in zip(candidates, scores, linked, again, strict=True)
        ]

    def _linked(self, selection: Sequence[Evidence], known: Sequence[Evidence]) -> list[Evidence]:
        """Sentences of the pages that a selection links to, without those known."""
        pages = dict.fromkeys(page for sentence in selection for page in sentence.links[: self.most_links])
        refs = {sentence.ref for sentence in known}
        sentences = (sentence for page in pages for sentence in self.page_sentences(page))
        return [sentence for sentence in sentences if sentence.ref not in refs and sentence.text.strip()]

    def _lower(self, score: float) -> float:
        return score * self.discount if score > 0 else score / self.discount


def follow_links(
    selector: Selector, page_sentences: PageSentences, discount: float = DISCOUNT
) -> LinkSelector:
    """A selector that scores as another does, and follows links.

    Raises:
        ConfigError: the other selector has no scorer.
    """
    scorer = getattr(selector, "scorer", None)
    if scorer is None:
        kind = selector.identity.get("kind")
        raise ConfigError(
            f"Links are followed by a selector that scores sentences; {kind} does not. Use fusion or a trained one."
        )
    return LinkSelector(scorer, page_sentences, discount)
