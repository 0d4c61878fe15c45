"""A second hop: what the best sentence links to, read with that sentence after the claim (Stammbach, 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adjudge.errors import ConfigError
from adjudge.retrieval import protocol
from adjudge.retrieval.links import MOST_LINKS, PageSentences
from adjudge.retrieval.protocol import Selector
from adjudge.retrieval.selectors import Scorer, select_best
from adjudge.types import Evidence


class HoppingScorer(Scorer, Protocol):
    """A scorer that also reads a claim with a sentence after it."""

    def score_after(
        self,
        claims: Sequence[str],
        firsts: Sequence[Evidence | None],
        candidates: Sequence[Sequence[Evidence]],
    ) -> list[list[float]]:
        """For each claim, with its first sentence after it, one score per candidate."""
        ...


@dataclass(frozen=True)
class SecondHop:
    """Selects, reads the pages that the best sentence links to with that sentence after the claim, selects again.

    1. The scores of the candidates, s(claim, c); the best of them is f.
    2. The sentences of the pages that f links to, at most ``most_links``, scored as s(claim f, c), f itself left out.
    3. The ``k`` of the highest scores; a sentence that both hops read has the higher of its two.
    """

    scorer: HoppingScorer
    page_sentences: PageSentences
    most_links: int = MOST_LINKS

    @property
    def identity(self) -> Mapping[str, Any]:
        """How many links, and what scores."""
        return {
            "kind": "second hop",
            "most_links": self.most_links,
            "scorer": dict(self.scorer.identity),
        }

    select = protocol.select

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """For each claim the ``k`` best of its candidates and of what the best of them links to."""
        if k < 1 or not any(candidates):
            return [[] for _ in claims]
        scores = self.scorer.score_many(claims, candidates)
        firsts = [
            next(iter(select_best(sentences, values, 1)), None)
            for sentences, values in zip(candidates, scores, strict=True)
        ]
        linked = [self._linked(first) for first in firsts]
        again = self.scorer.score_after(claims, firsts, linked)
        return [_select_of_both(*hops, k) for hops in zip(candidates, scores, linked, again, strict=True)]

    def _linked(self, first: Evidence | None) -> list[Evidence]:
        """Sentences of the pages that the first hop's sentence links to, without that sentence."""
        if first is None:
            return []
        pages = dict.fromkeys(first.links[: self.most_links])
        sentences = (sentence for page in pages for sentence in self.page_sentences(page))
        return [s for s in sentences if s.ref != first.ref and s.text.strip()]


def _select_of_both(
    first: Sequence[Evidence],
    first_scores: Sequence[float],
    second: Sequence[Evidence],
    second_scores: Sequence[float],
    k: int,
) -> list[Evidence]:
    again = {sentence.ref: score for sentence, score in zip(second, second_scores, strict=True)}
    known = {sentence.ref for sentence in first}
    best = [
        max(score, again.get(sentence.ref, score))
        for sentence, score in zip(first, first_scores, strict=True)
    ]
    new = [pair for pair in zip(second, second_scores, strict=True) if pair[0].ref not in known]
    return select_best([*first, *(s for s, _ in new)], [*best, *(score for _, score in new)], k)


def hop_twice(selector: Selector, page_sentences: PageSentences) -> SecondHop:
    """A selector that scores as another does, in two hops.

    Raises:
        ConfigError: the other selector does not read a sentence after the claim.
    """
    scorer = getattr(selector, "scorer", None)
    if scorer is None or not hasattr(scorer, "score_after"):
        raise ConfigError(
            "A second hop reads the first hop's sentence after the claim: use a ranker of pages or lists "
            "(adjudge train-ranker --kind page)."
        )
    return SecondHop(scorer, page_sentences)
