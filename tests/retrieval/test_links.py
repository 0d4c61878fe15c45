"""Links followed from the best sentences, on links made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adjudge.errors import ConfigError
from adjudge.retrieval.links import LinkSelector, follow_links
from adjudge.retrieval.selectors import LexicalSelector, ScoredSelector
from adjudge.types import Evidence

FILM = Evidence("Denial was released by Bleecker Street.", "Denial", 3, links=("Bleecker_Street", "Nowhere"))
CRITICS = Evidence("Denial was praised by critics.", "Denial", 4, links=("Critics",))
OTHER = Evidence("Revlon sells lipstick.", "Revlon", 0, links=("Lipstick",))
SEAT = Evidence("Bleecker Street is based in New York.", "Bleecker_Street", 0)
FOUNDED = Evidence("Bleecker Street was founded in 2014.", "Bleecker_Street", 1)
PRESS = Evidence("Critics write for a living.", "Critics", 0)
LIPSTICK = Evidence("Lipstick is red.", "Lipstick", 0)
PAGES = {
    "Bleecker_Street": [SEAT, FOUNDED, Evidence("  ", "Bleecker_Street", 2)],
    "Critics": [PRESS],
    "Lipstick": [LIPSTICK],
    "Denial": [FILM],
}
SCORES = {FILM: 0.8, CRITICS: 0.5, OTHER: 0.4, SEAT: 0.9, FOUNDED: 0.2, PRESS: 0.51, LIPSTICK: 1.0}


class Known:
    """A scorer that knows its sentences by heart, and notes what it was asked."""

    identity = {"kind": "known"}

    def __init__(self) -> None:
        self.asked: list[list[Evidence]] = []

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        self.asked += [list(sentences) for sentences in candidates]
        return [[SCORES[sentence] for sentence in sentences] for sentences in candidates]


def selector(**settings: float) -> tuple[LinkSelector, Known]:
    scorer = Known()
    return LinkSelector(scorer, lambda page: PAGES.get(page, []), **settings), scorer  # type: ignore[arg-type]


def test_sentences_of_linked_pages_compete_at_a_discount():
    links, scorer = selector()
    selection = links.select("claim", [FILM, CRITICS, OTHER], 2)
    # First film .8 and critics .5; through their links seat .9 · .95, press .51 · .95 = .4845, founded .19.
    assert [(sentence.page, sentence.line) for sentence in selection] == [
        ("Bleecker_Street", 0),
        ("Denial", 3),
    ]
    assert [sentence.score for sentence in selection] == pytest.approx([0.855, 0.8])
    assert scorer.asked[1] == [SEAT, FOUNDED, PRESS]  # not lipstick, and no line without text


def test_without_a_discount_what_is_linked_counts_in_full():
    links, _ = selector(discount=1.0)
    selection = links.select("claim", [FILM, CRITICS, OTHER], 3)
    assert [sentence.score for sentence in selection] == pytest.approx([1.0, 0.9, 0.8])  # lipstick's too


def test_a_strong_discount_leaves_the_first_selection():
    links, _ = selector(discount=0.4)
    assert [s.line for s in links.select("claim", [FILM, CRITICS, OTHER], 3)] == [3, 4, 0]


def test_of_many_links_the_first_are_followed():
    many = Evidence(FILM.text, "Denial", 3, links=("Critics", "Bleecker_Street"))
    SCORES[many] = 0.8
    links, scorer = selector(most_links=1)
    links.select("claim", [many], 2)
    assert scorer.asked[1] == [PRESS]


def test_what_is_known_is_not_scored_again():
    links, scorer = selector()
    back = Evidence(SEAT.text, "Bleecker_Street", 0, links=("Denial",))
    SCORES[back] = 0.9
    selection = links.select("claim", [FILM, back], 4)
    assert scorer.asked[1] == [FOUNDED]
    assert len(selection) == 3


def test_a_score_below_zero_gets_lower_too():
    SCORES[PRESS] = -0.5
    links, _ = selector(discount=0.5)
    selection = links.select("claim", [CRITICS], 2)
    SCORES[PRESS] = 0.51
    assert [sentence.score for sentence in selection] == pytest.approx([0.5, -1.0])


def test_claims_without_candidates_stay_without():
    links, _ = selector()
    assert links.select_many(["a", "b"], [[], [OTHER]], 1)[0] == []
    assert links.select_many(["a"], [[OTHER]], 0) == [[]]


@pytest.mark.parametrize("discount", [0.0, 1.1, float("nan")])
def test_a_discount_outside_its_range_is_refused(discount: float):
    with pytest.raises(ConfigError, match="discount of links"):
        selector(discount=discount)


def test_it_takes_the_scorer_of_another_selector():
    scorer = Known()
    links = follow_links(ScoredSelector(scorer), lambda page: [], 0.9)
    assert links.scorer is scorer and links.identity["discount"] == 0.9
    with pytest.raises(ConfigError, match="lexical does not"):
        follow_links(LexicalSelector(), lambda page: [])
