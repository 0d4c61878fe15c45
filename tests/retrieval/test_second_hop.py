"""A second hop on pages made by hand, against the same selection written out naively."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from adjudge.errors import ConfigError
from adjudge.retrieval.second_hop import SecondHop, hop_twice
from adjudge.retrieval.selectors import LexicalSelector, ScoredSelector
from adjudge.types import Evidence

FILM = Evidence("Denial was released by Bleecker Street.", "Denial", 3, links=("Bleecker_Street", "Nowhere"))
CRITICS = Evidence("Denial was praised by critics.", "Denial", 4, links=("Critics",))
SEAT = Evidence("Bleecker Street is based in New York.", "Bleecker_Street", 0)
FOUNDED = Evidence("Bleecker Street was founded in 2014.", "Bleecker_Street", 1)
PRESS = Evidence("Critics write for a living.", "Critics", 0)
PAGES = {
    "Bleecker_Street": [SEAT, FOUNDED, Evidence("  ", "Bleecker_Street", 2)],
    "Critics": [PRESS],
    "Denial": [FILM, CRITICS],
}
ALONE = {FILM.ref: 0.8, CRITICS.ref: 0.5, SEAT.ref: 0.1, FOUNDED.ref: 0.3, PRESS.ref: 0.99}
AFTER_FILM = {SEAT.ref: 0.9, FOUNDED.ref: 0.2, FILM.ref: 1.0, CRITICS.ref: 0.4}


class Known:
    """A scorer that knows its sentences by heart, and notes what it read after the claims."""

    identity = {"kind": "known"}

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, list[Evidence]]] = []

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        return [[ALONE[sentence.ref] for sentence in sentences] for sentences in candidates]

    def score_after(
        self,
        claims: Sequence[str],
        firsts: Sequence[Evidence | None],
        candidates: Sequence[Sequence[Evidence]],
    ) -> list[list[float]]:
        self.asked += [
            (first and first.text, list(sentences))
            for first, sentences in zip(firsts, candidates, strict=True)
        ]
        return [[AFTER_FILM[sentence.ref] for sentence in sentences] for sentences in candidates]


def page_sentences(page: str) -> list[Evidence]:
    return PAGES.get(page, [])


def lines(selection: Sequence[Evidence]) -> list[tuple[str, int]]:
    return [(sentence.page, sentence.line) for sentence in selection]


def test_the_best_sentence_stands_after_the_claim_where_its_links_are_read():
    scorer = Known()
    selection = SecondHop(scorer, page_sentences).select("claim", [CRITICS, FILM], 2)
    # The film leads with .8; its page's seat scores .9 after it, though .1 alone.
    assert lines(selection) == [("Bleecker_Street", 0), ("Denial", 3)]
    assert [sentence.score for sentence in selection] == pytest.approx([0.9, 0.8])
    assert scorer.asked == [(FILM.text, [SEAT, FOUNDED])]  # not the critics' link, and no line without text


def test_a_sentence_of_both_hops_has_the_higher_score():
    selection = SecondHop(Known(), page_sentences).select("claim", [FILM, FOUNDED, SEAT], 3)
    # Seat .9 of the second hop over .1; founded .3 of the first over .2; each once.
    assert lines(selection) == [("Bleecker_Street", 0), ("Denial", 3), ("Bleecker_Street", 1)]
    assert [sentence.score for sentence in selection] == pytest.approx([0.9, 0.8, 0.3])


def test_a_link_to_its_own_page_does_not_offer_the_first_sentence_again():
    own = Evidence(FILM.text, "Denial", 3, links=("Denial",))
    scorer = Known()
    SecondHop(scorer, page_sentences).select("claim", [own], 5)
    assert scorer.asked == [(FILM.text, [CRITICS])]


def test_of_many_links_the_first_are_followed():
    many = Evidence(FILM.text, "Denial", 3, links=("Bleecker_Street", "Critics"))
    scorer = Known()
    SecondHop(scorer, page_sentences, most_links=1).select("claim", [many], 5)
    assert scorer.asked == [(FILM.text, [SEAT, FOUNDED])]


def naive(candidates: Sequence[Evidence], k: int) -> list[tuple[str, int]]:
    """The definition, loop by loop: all scores of all sentences read, the highest first, the candidates' order kept."""
    best = candidates[0]
    for sentence in candidates:
        if ALONE[sentence.ref] > ALONE[best.ref]:
            best = sentence
    scores = {sentence.ref: ALONE[sentence.ref] for sentence in candidates}
    for page in best.links:
        for sentence in page_sentences(page):
            if sentence.text.strip() and sentence.ref != best.ref:
                scores[sentence.ref] = max(scores.get(sentence.ref, -1.0), AFTER_FILM[sentence.ref])
    return [(ref.page, ref.line) for ref in sorted(scores, key=lambda ref: -scores[ref])][:k]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_every_order_and_choice_of_candidates_is_as_the_definition_has_it(k: int):
    hop = SecondHop(Known(), page_sentences)
    for count in (1, 2, 3, 4):
        for candidates in itertools.permutations([FILM, CRITICS, SEAT, FOUNDED], count):
            if any(s.links == ("Critics",) for s in candidates) and FILM not in candidates:
                continue  # critics would be read after another sentence than the film
            assert lines(hop.select("claim", candidates, k)) == naive(candidates, k)


def test_claims_without_candidates_select_nothing():
    hop = SecondHop(Known(), page_sentences)
    assert hop.select_many(["a", "b"], [[], [FILM]], 1)[0] == []
    assert hop.select_many(["a"], [[]], 5) == [[]]
    assert hop.select_many(["a"], [[FILM]], 0) == [[]]


def test_a_selector_that_reads_nothing_after_the_claim_is_refused():
    assert hop_twice(ScoredSelector(Known()), page_sentences).identity["kind"] == "second hop"
    with pytest.raises(ConfigError, match="ranker of pages or lists"):
        hop_twice(LexicalSelector(), page_sentences)
