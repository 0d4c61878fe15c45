"""From a claim to the example that the verdict model reads; with gold only where it is asked for by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from adjudge.errors import ConfigError
from adjudge.retrieval.index import Index
from adjudge.retrieval.protocol import Retriever
from adjudge.retrieval.select import LexicalSelector, Selector
from adjudge.types import MAX_EVIDENCE, Claim, Evidence, Example, SentenceRef

CANDIDATES = 30
"""Sentences a selector chooses from; chosen on FEVER's training claims, as the weight of the fusion was."""

LookUp = Callable[[SentenceRef], Evidence | None]
"""The sentence at a place, None where the corpus lacks it."""
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
    k: int = MAX_EVIDENCE
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

    def find(self, claim: str) -> tuple[Evidence, ...]:
        """At most ``k`` sentences for a claim, best first; none is an answer."""
        return tuple(self.retrieve(claim, self.k))

    def retrieve(self, claim: str, k: int) -> list[Evidence]:
        """At most ``k`` sentences: the candidates in the selector's order, then what else was found."""
        return self._ordered(claim, (), k)

    def retrieve_for(self, claim: Claim, k: int) -> list[Evidence]:
        """As :meth:`retrieve`, with the claim's gold pages among the candidates if :meth:`with_gold` said so."""
        return self._ordered(claim.text, sorted({ref.page for group in claim.gold for ref in group}), k)

    def example(self, claim: Claim) -> Example:
        """For evaluation: what was found, and no gold, unless :meth:`with_gold` asked for gold pages."""
        evidence = tuple(self.retrieve_for(claim, self.k))
        return Example(claim.id, claim.text, evidence, claim.label, self.injected)

    def training_example(self, claim: Claim, look_up: LookUp) -> Example:
        """For training: gold sentences first (score 1.0), then those found, ``k`` in all."""
        gold = gold_sentences(claim, look_up)
        refs = {sentence.ref for sentence in gold}
        found = [sentence for sentence in self.find(claim.text) if sentence.ref not in refs]
        return Example(claim.id, claim.text, tuple([*gold, *found][: self.k]), claim.label, True)

    def _ordered(self, claim: str, gold_pages: Sequence[str], k: int) -> list[Evidence]:
        found = self.retriever.retrieve(claim, max(k, self.candidates))
        offered, rest = found[: self.candidates], found[self.candidates :]
        if self.within is not None and gold_pages:
            known = {sentence.ref for sentence in offered}
            added = [s for s in self.within(claim, gold_pages, self.candidates) if s.ref not in known]
            # As a retriever orders its own: a selector that keeps the order must see one order.
            offered = sorted([*offered, *added], key=lambda sentence: -sentence.score)
            known.update(sentence.ref for sentence in added)
            rest = [sentence for sentence in rest if sentence.ref not in known]
        return [*self.selector.select(claim, offered, min(k, len(offered))), *rest][:k]

    def with_gold(self, within: WithinPages) -> EvidencePipeline:
        """The pipeline with the sentences of gold pages among the candidates of :meth:`example`.

        So was FEVER's development data published. Selection stays as it is: gold pages are offered, gold
        sentences are not marked. ``IndexRetriever.retrieve_within`` is such a function.
        """
        return replace(self, within=within)


def sentence_in(index: Index) -> LookUp:
    """The sentences of an index by place, the last pages looked at kept at hand."""

    @lru_cache(maxsize=1024)
    def lines(page: str) -> dict[int, Evidence]:
        return {sentence.line: sentence.evidence(0.0) for sentence in index.page_sentences(page)}

    return lambda ref: lines(ref.page).get(ref.line)


@dataclass(frozen=True, slots=True)
class RankingExample:
    """What a ranker learns from: any ``gold`` sentence is to come before all ``others``, hardest first."""

    claim: str
    gold: tuple[Evidence, ...]
    others: tuple[Evidence, ...]


def gold_sentences(claim: Claim, look_up: LookUp) -> list[Evidence]:
    """The different gold sentences that the corpus holds, group by group, with score 1.0."""
    found = (look_up(ref) for ref in dict.fromkeys(ref for group in claim.gold for ref in group))
    return [replace(sentence, score=1.0) for sentence in found if sentence and sentence.text.strip()]


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
    for claim in claims:
        gold = gold_sentences(claim, look_up)
        refs = {ref for group in claim.gold for ref in group}
        if gold:
            found = retriever.retrieve(claim.text, candidates)
            others = tuple(sentence for sentence in found if sentence.ref not in refs)
            if others:
                yield RankingExample(claim.text, tuple(gold), others)
