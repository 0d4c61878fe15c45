"""From a claim to the example that the verdict model reads; with gold only where it is asked for by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from adjudge.config import DEFAULT_EVIDENCE
from adjudge.data.kgat import GOLD_SCORE, is_gold
from adjudge.data.text import evidence_title
from adjudge.errors import ConfigError
from adjudge.io.chunks import chunks
from adjudge.retrieval import protocol
from adjudge.retrieval.index import Index
from adjudge.retrieval.protocol import Retriever, Selector
from adjudge.retrieval.selectors import LexicalSelector
from adjudge.types import Claim, Evidence, Example, SentenceRef

CANDIDATES = 30
"""Sentences a selector reads; tuned on FEVER's training claims, as the weight of the fusion was."""

COPIES = 8
"""How many times deeper is searched where copies of a document take the places of other sentences."""

WINDOW = 32
"""Claims whose evidence is retrieved together where claims are read as a stream."""

LookUp = Callable[[SentenceRef], Evidence | None]
"""The sentence of a reference, None where the corpus lacks it."""
WithinPages = Callable[[str, Sequence[str], int], Sequence[Evidence]]
"""(claim, pages, k) → the best k sentences of these pages, scored as a retriever would."""


@dataclass(frozen=True)
class EvidencePipeline:
    """Retrieves sentences and selects the few to keep. It is a ``Retriever`` itself.

    ``within`` is set by :meth:`with_gold` alone; while it is None no gold reaches an evaluation.
    """

    retriever: Retriever
    selector: Selector = LexicalSelector()
    candidates: int = CANDIDATES
    k: int = DEFAULT_EVIDENCE
    within: WithinPages | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.candidates:
            raise ConfigError(
                f"k = {self.k} of {self.candidates} candidates: expected 1 or more, of as many or more."
            )

    @property
    def injected(self) -> bool:
        """Whether gold pages join the candidates; what is made so says it (``gold_injected``)."""
        return self.within is not None

    @property
    def identity(self) -> Mapping[str, Any]:
        """Retriever, selector and the numbers between them."""
        return {
            "kind": "pipeline",
            "retriever": dict(self.retriever.identity),
            "selector": dict(self.selector.identity),
            "candidates": self.candidates,
            "gold_injected": self.injected,
        }

    def find(self, claim: str) -> tuple[Evidence, ...]:
        """At most ``k`` sentences for a claim, best first; none is an answer."""
        return tuple(self.retrieve(claim, self.k))

    retrieve = protocol.retrieve

    def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        """At most ``k`` sentences each: the candidates in the selector's order, then the other sentences."""
        return self._retrieve(claims, [()] * len(claims), k)

    def retrieve_for(self, claims: Sequence[Claim], k: int) -> list[list[Evidence]]:
        """As :meth:`retrieve_many`, with gold pages among the candidates if :meth:`with_gold` was called."""
        pages = [sorted({ref.page for group in claim.gold for ref in group}) for claim in claims]
        return self._retrieve([claim.text for claim in claims], pages, k)

    def examples(self, claims: Sequence[Claim]) -> list[Example]:
        """For evaluation: the sentences retrieved, and no gold unless :meth:`with_gold` was called."""
        return [
            Example(claim.id, claim.text, tuple(evidence), claim.label, self.injected)
            for claim, evidence in zip(claims, self.retrieve_for(claims, self.k), strict=True)
        ]

    def training_examples(self, claims: Sequence[Claim], look_up: LookUp) -> list[Example]:
        """For training: gold sentences first (score 1.0), then those retrieved, ``k`` in all."""
        examples = []
        retrieved = self.retrieve_many([claim.text for claim in claims], self.k)
        for claim, sentences in zip(claims, retrieved, strict=True):
            gold = gold_sentences(claim, look_up)
            refs = {sentence.ref for sentence in gold}
            others = [_unmarked(sentence) for sentence in sentences if sentence.ref not in refs]
            examples.append(
                Example(claim.id, claim.text, tuple([*gold, *others][: self.k]), claim.label, True)
            )
        return examples

    def _retrieve(
        self, claims: Sequence[str], gold_pages: Sequence[Sequence[str]], k: int
    ) -> list[list[Evidence]]:
        offers, rests = [], []
        retrieved = self._distinct_candidates(claims, max(k, self.candidates))
        for claim, pages, sentences in zip(claims, gold_pages, retrieved, strict=True):
            offer, rest = sentences[: self.candidates], sentences[self.candidates :]
            if self.within is not None and pages:
                offer, rest = self._add_gold_pages(claim, pages, offer, rest, self.within)
            offers.append(offer)
            rests.append(rest)
        selections = self.selector.select_many(claims, offers, k)
        return [[*selection, *rest][:k] for selection, rest in zip(selections, rests, strict=True)]

    def _distinct_candidates(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        """The ``k`` best different sentences; where copies took their places, of ``COPIES`` times as many."""
        retrieved = self.retriever.retrieve_many(claims, k)
        distinct = [without_copies(sentences) for sentences in retrieved]
        crowded = [
            number for number, proposed in enumerate(retrieved) if len(distinct[number]) < len(proposed) >= k
        ]
        if crowded:
            deeper = self.retriever.retrieve_many([claims[number] for number in crowded], COPIES * k)
            for number, sentences in zip(crowded, deeper, strict=True):
                distinct[number] = without_copies(sentences)[:k]
        return distinct

    def _add_gold_pages(
        self,
        claim: str,
        pages: Sequence[str],
        offer: list[Evidence],
        rest: list[Evidence],
        within: WithinPages,
    ) -> tuple[list[Evidence], list[Evidence]]:
        known = {sentence.ref for sentence in offer}
        added = [s for s in within(claim, pages, self.candidates) if s.ref not in known]
        known.update(sentence.ref for sentence in added)
        # As a retriever orders its own: a selector that keeps the order must see one order.
        offer = sorted([*offer, *added], key=lambda sentence: -sentence.score)
        return offer, [sentence for sentence in rest if sentence.ref not in known]

    def with_gold(self, within: WithinPages) -> EvidencePipeline:
        """The pipeline with the sentences of gold pages among the candidates of :meth:`examples`.

        So was FEVER's development data published. Selection stays as it is: gold pages are offered, gold
        sentences are not marked. ``IndexRetriever.retrieve_within`` is such a function.
        """
        return replace(self, within=within)


def without_copies(sentences: Iterable[Evidence]) -> list[Evidence]:
    """The first of the sentences that a model reads as the same: copies of a document add nothing to each other."""
    first: dict[tuple[str, str, str], Evidence] = {}
    for sentence in sentences:
        first.setdefault((evidence_title(sentence), sentence.context, sentence.text), sentence)
    return list(first.values())


def sentence_in(index: Index) -> LookUp:
    """The sentences of an index by reference; the last pages read are cached."""

    @lru_cache(maxsize=1024)
    def lines(page: str) -> dict[int, Evidence]:
        return {sentence.line: sentence.evidence(0.0) for sentence in index.page_sentences(page)}

    return lambda ref: lines(ref.page).get(ref.line)


@dataclass(frozen=True, slots=True)
class RankingExample:
    """What a ranker learns from: any ``gold`` sentence is to come before all ``others``, hardest first.

    ``hops`` are gold sentences that link to a page of another sentence of their group, with those sentences.
    """

    claim: str
    gold: tuple[Evidence, ...]
    others: tuple[Evidence, ...]
    hops: tuple[tuple[Evidence, tuple[Evidence, ...]], ...] = ()


def gold_sentences(claim: Claim, look_up: LookUp) -> list[Evidence]:
    """The different gold sentences that the corpus holds, group by group, with score 1.0."""
    sentences = (look_up(ref) for ref in dict.fromkeys(ref for group in claim.gold for ref in group))
    return [
        replace(sentence, score=GOLD_SCORE) for sentence in sentences if sentence and sentence.text.strip()
    ]


def _unmarked(sentence: Evidence) -> Evidence:
    """A retrieved sentence, its score next to the one that marks gold where it happens to be that one."""
    score = math.nextafter(GOLD_SCORE, 0.0) if is_gold(sentence) else sentence.score
    return replace(sentence, score=score)


def second_hops(claim: Claim, look_up: LookUp) -> Iterator[tuple[Evidence, tuple[Evidence, ...]]]:
    """The gold sentences that link to pages of others of their group, and these others; each sentence once."""
    seen: set[SentenceRef] = set()
    for group in claim.gold:
        sentences = gold_sentences(replace(claim, gold=(group,)), look_up)
        for first in sentences:
            linked = tuple(s for s in sentences if s.page in first.links and s.ref != first.ref)
            if linked and first.ref not in seen:
                seen.add(first.ref)
                yield first, linked


def ranking_examples(
    claims: Iterable[Claim],
    retriever: Retriever,
    look_up: LookUp,
    candidates: int = CANDIDATES,
) -> Iterator[RankingExample]:
    """Claims that have gold text in the corpus, with the other sentences that the retriever proposes.

    All sentences of all gold groups are positives, those of the second hop too. A retriever that looks
    at pages proposes other sentences of the gold pages and of the pages next to them.
    """
    for window in chunks(claims, WINDOW):
        usable = [(claim, gold) for claim in window if (gold := gold_sentences(claim, look_up))]
        retrieved = retriever.retrieve_many([claim.text for claim, _ in usable], candidates)
        for (claim, gold), sentences in zip(usable, retrieved, strict=True):
            refs = {ref for group in claim.gold for ref in group}
            others = tuple(sentence for sentence in sentences if sentence.ref not in refs)
            if others:
                yield RankingExample(claim.text, tuple(gold), others, tuple(second_hops(claim, look_up)))
