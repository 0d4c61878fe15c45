"""Search by words: BM25 over pages and over sentences, names in the claim, a second hop by links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from adjudge.errors import ConfigError
from adjudge.retrieval.analysis import PROSE, TITLE, name_of, names_in, query_text, terms
from adjudge.retrieval.index import Hit, Index, PageHit
from adjudge.types import SentenceRef

if TYPE_CHECKING:
    import tantivy


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How to search; the defaults were tuned on FEVER's training claims over its training pages alone.

    A page scores BM25(body) + ``title_boost`` · BM25(title) + ``bracket_boost`` · BM25(bracket)
    + ``name_bonus`` · (words of its name, where the claim names it). A sentence scores BM25(text)
    + ``sentence_title_boost`` · BM25(title of its page) + ``page_weight`` · score of its page.
    """

    pages: int = 10
    """Pages whose sentences are looked at."""
    named_pages: int = 30
    """Most pages taken for the names in a claim, before they are ranked with the others."""
    sentences: int = 20
    """Least number of sentences ranked, so that the first few do not depend on how many are asked for."""
    title_boost: float = 0.5
    bracket_boost: float = 1.0
    name_bonus: float = 2.0
    sentence_title_boost: float = 1.0
    page_weight: float = 0.5
    hop_sentences: int = 5
    """How many of the best sentences are followed to other pages; 0 turns the second hop off."""
    hop_pages: int = 20
    """Most pages reached by the second hop."""
    hop_weight: float = 0.5
    """Share of its score that a sentence gives to the pages it leads to, in place of their own."""
    hop_mentions: bool = True
    """Follow names of pages in a sentence that has no links, as in documents of one's own."""
    nearest: int = 50
    """Sentences that the vectors of the index propose."""
    similarity_weight: float = 0.5
    """Share of the cosine in what orders sentences of an index with vectors."""
    min_similarity: float = 0.2
    """A sentence is not proposed by its vector alone if its cosine with the claim is lower."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or (field.name == "pages" and value < 1):
                least = 1 if field.name == "pages" else 0
                raise ConfigError(f"retrieval setting {field.name} = {value}: expected {least} or more.")


@dataclass(frozen=True)
class LexicalSearch:
    """Searches an index by words, names and links."""

    index: Index
    settings: RetrievalSettings = RetrievalSettings()

    def search(self, claim: str, k: int, also: Sequence[int] = ()) -> list[Hit]:
        """The ``k`` best sentences for a claim, then those with the numbers ``also``, scored the same way.

        Any string is a claim, and some match nothing.
        """
        query = _Query(self.index, self.settings, query_text(claim))
        if query.empty or k < 1:
            return self.index.search_sentences(query.numbered(also), len(also))
        pages = query.pages()
        scored = _Ranking()
        depth = max(k, self.settings.sentences)
        for hits in (query.sentences_of(list(pages), depth), query.sentences_anywhere(depth)):
            scored.add(hits, pages, self.settings.page_weight)
        reached = self._second_hop(query, scored.best(self.settings.hop_sentences), pages)
        if reached:
            scored.add(query.sentences_of(list(reached), depth), reached, 1.0)
        best = scored.best(k)
        numbers = {sentence.number for sentence, _ in best}
        also = [sentence_number for sentence_number in also if sentence_number not in numbers]
        others = _Ranking()
        hits = self.index.search_sentences(query.numbered(also), len(also))
        others.add(hits, pages, self.settings.page_weight)
        return [*best, *others.best(len(also))]

    def search_pages(self, claim: str, k: int) -> list[PageHit]:
        """The ``k`` best pages for a claim, without the second hop."""
        query = _Query(self.index, self.settings, query_text(claim))
        return [] if k < 1 or query.empty else query.ranked_pages()[:k]

    def search_within(self, claim: str, pages: Sequence[str], k: int) -> list[Hit]:
        """The ``k`` best sentences of given pages, scored as if these pages came first."""
        query = _Query(self.index, self.settings, query_text(claim))
        if k < 1 or query.empty:
            return []
        first = max((hit.score for hit in query.ranked_pages()[:1]), default=0.0)
        scored = _Ranking()
        scored.add(query.sentences_of(list(pages), k), dict.fromkeys(pages, first), self.settings.page_weight)
        return scored.best(k)

    def _second_hop(
        self, query: _Query, sources: Sequence[Hit], pages: Mapping[str, float]
    ) -> dict[str, float]:
        """Pages that the best sentences lead to → what a sentence there gains by it."""
        reached: dict[str, float] = {}
        weight = self.settings.hop_weight
        mentions: dict[str, float] = {}
        for sentence, score in sources:
            for link in sentence.links:
                reached[link] = max(reached.get(link, 0.0), weight * score)
            if not sentence.links and self.settings.hop_mentions:
                for name in names_in(query_text(sentence.text)):
                    if name not in query.names:
                        mentions[name] = max(mentions.get(name, 0.0), weight * score)
        for page, name in query.pages_named(mentions, self.settings.hop_pages):
            reached[page] = max(reached.get(page, 0.0), mentions[name])
        ranked = sorted(reached.items(), key=lambda item: (-item[1], item[0]))
        return dict([(page, gain) for page, gain in ranked if page not in pages][: self.settings.hop_pages])


class _Query:
    """The searches that one claim needs, all with the same terms."""

    def __init__(self, index: Index, settings: RetrievalSettings, claim: str) -> None:
        self.index, self.settings = index, settings
        self.names = names_in(claim)
        self.prose, self.title = terms(claim, PROSE), terms(claim, TITLE)

    @property
    def empty(self) -> bool:
        return not (self.prose or self.title)

    def pages(self) -> dict[str, float]:
        """The pages to look at → their scores."""
        ranked = self.ranked_pages()[: self.settings.pages]
        return {hit.page.page: hit.score for hit in reversed(ranked)}

    def ranked_pages(self) -> list[PageHit]:
        """Pages by words or by name, best first."""
        schema, settings = self.index.pages.schema, self.settings
        words = _match_any(
            _terms(schema, "body", self.prose, 1.0)
            + _terms(schema, "title", self.title, settings.title_boost)
            + _terms(schema, "bracket", self.prose, settings.bracket_boost)
        )
        hits = self.index.search_pages(words, max(settings.pages, 1))
        if self.names and settings.named_pages:
            within = _restrict_to(schema, "name", list(self.names), words)
            hits += self.index.search_pages(within, settings.named_pages)
        named = _longest({name_of(hit.page.title) for hit in hits} & self.names.keys())
        best: dict[tuple[str, str | None], PageHit] = {}
        for page, score in hits:
            name = name_of(page.title)
            bonus = settings.name_bonus * self.names[name] if name in named else 0.0
            best[page.page, page.source] = PageHit(page, score + bonus)
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.page.page, hit.page.source or ""))

    def pages_named(self, names: Collection[str], limit: int) -> list[tuple[str, str]]:
        """(page, name) of the pages that have one of these names."""
        if not names or not limit:
            return []
        schema = self.index.pages.schema
        words = _match_any(_terms(schema, "body", self.prose, 1.0))
        hits = self.index.search_pages(_restrict_to(schema, "name", sorted(names), words), limit)
        pages = [(hit.page.page, name_of(hit.page.title)) for hit in hits]
        longest = _longest({name for _, name in pages})
        return [(page, name) for page, name in pages if name in longest]

    def sentences_of(self, pages: Sequence[str], limit: int) -> list[Hit]:
        """The best sentences of these pages; those without a word of the claim come last."""
        if not pages:
            return []
        query = _restrict_to(self.index.sentences.schema, "page", pages, self._sentence_words())
        return self.index.search_sentences(query, limit)

    def sentences_anywhere(self, limit: int) -> list[Hit]:
        """The best sentences of the whole index."""
        return self.index.search_sentences(self._sentence_words(), limit)

    def numbered(self, numbers: Sequence[int]) -> tantivy.Query:
        """Only the sentences with these numbers."""
        return _restrict_to(self.index.sentences.schema, "number", numbers, self._sentence_words())

    def _sentence_words(self) -> tantivy.Query:
        schema = self.index.sentences.schema
        boost = self.settings.sentence_title_boost
        return _match_any(
            _terms(schema, "text", self.prose, 1.0) + _terms(schema, "title", self.title, boost)
        )


class _Ranking:
    """Sentences with the best score each has got."""

    def __init__(self) -> None:
        self._hits: dict[tuple[str, int, str | None], Hit] = {}

    def add(self, hits: Iterable[Hit], gains: Mapping[str, float], weight: float) -> None:
        for sentence, score in hits:
            key = (sentence.page, sentence.line, sentence.source)
            score += weight * gains.get(sentence.page, 0.0)
            if key not in self._hits or self._hits[key].score < score:
                self._hits[key] = Hit(sentence, score)

    def best(self, limit: int) -> list[Hit]:
        return sorted(self._hits.values(), key=_order)[:limit]


def _order(hit: Hit) -> tuple[float, SentenceRef, str]:
    """Best first; of equal scores by page, line and source, whenever they were indexed."""
    return -hit.score, hit.sentence.ref, hit.sentence.source or ""


def _longest(names: Collection[str]) -> set[str]:
    """The names that are not part of a longer one: of New York City and York, the former."""
    padded = [f" {name} " for name in names]
    return {name for name in names if not any(f" {name} " in other != f" {name} " for other in padded)}


def _terms(schema: tantivy.Schema, field: str, words: Sequence[str], boost: float) -> list[tantivy.Query]:
    from tantivy import Query

    if boost == 0:
        return []
    queries = [Query.term_query(schema, field, word, index_option="freq") for word in words]
    return queries if boost == 1 else [Query.boost_query(query, boost) for query in queries]


def _match_any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    from tantivy import Occur, Query

    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _restrict_to(
    schema: tantivy.Schema, field: str, values: Sequence[str] | Sequence[int], words: tantivy.Query
) -> tantivy.Query:
    """Only documents with one of the values, scored by the words alone."""
    from tantivy import Occur, Query

    members = Query.boost_query(Query.term_set_query(schema, field, list(values)), 0.0)
    return Query.boolean_query([(Occur.Must, members), (Occur.Should, words)])
