"""Sentences selected as a set, with values that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from adjudge.errors import ConfigError
from adjudge.retrieval.selectors import load_selector
from adjudge.retrieval.sets import SetSelector, SetSettings, select_set
from adjudge.types import Evidence

PLAIN = SetSettings(weight=0.5, cover=0.0, link=0.0, lead=0.0, link_cover=0.0, bridge=0.0, spread=0.0)
CLAIM = "Denial was released by a distributor based in Brooklyn."
# The terms of the claim: denial, releas, distributor, base, brooklyn.
FILM = Evidence("Denial was released by Bleecker Street.", "Denial", 3, score=4.0)
CRITICS = Evidence("Denial was praised by critics.", "Denial", 4, score=3.0)
LEAD = Evidence("Bleecker Street is a firm with offices in Brooklyn.", "Bleecker_Street", 0, score=1.0)
OTHER = Evidence("Revlon sells lipstick.", "Revlon", 0, score=2.0)


def pages(selection: Sequence[Evidence]) -> list[tuple[str, int]]:
    return [(sentence.page, sentence.line) for sentence in selection]


def test_words_count_by_the_share_of_the_claim_that_one_sentence_holds() -> None:
    found = select_set(CLAIM, [FILM, OTHER], [0.5, 0.9], 2, PLAIN)
    # The film's sentence holds denial and releas, 2 of 5: .5 · 1 · .4 + .5 · .5; the other .5 · ½ · .4 + .5 · .9.
    assert pages(found) == [("Revlon", 0), ("Denial", 3)]
    assert [sentence.score for sentence in found] == pytest.approx([0.55, 0.45])


def test_a_claim_without_words_is_left_to_the_other_score() -> None:
    found = select_set("…", [FILM, OTHER], [0.2, 0.4], 2, PLAIN)
    assert [sentence.score for sentence in found] == pytest.approx([0.2, 0.1])


def test_a_sentence_gains_by_words_that_those_taken_lack() -> None:
    settings = replace(PLAIN, weight=1.0, cover=0.5)
    found = select_set(CLAIM, [FILM, CRITICS, LEAD], [0.9, 0.6, 0.55], 2, settings)
    # Denial is held already; brooklyn is new, one of five words: .55 + .5 / 5 = .65 > .6.
    assert pages(found) == [("Denial", 3), ("Bleecker_Street", 0)]
    assert found[1].score == pytest.approx(0.65)


@pytest.mark.parametrize("linked", [True, False])
def test_a_page_that_a_taken_sentence_names_or_links_to_comes_nearer(linked: bool) -> None:
    first = replace(FILM, text="Denial was released there.", links=("Bleecker_Street",)) if linked else FILM
    settings = replace(PLAIN, weight=1.0, link=0.2, lead=0.1)
    found = select_set(CLAIM, [first, CRITICS, OTHER, LEAD], [0.8, 0.6, 0.6, 0.4], 4, settings)
    # .4 + (.2 + .1) · .8 / .8 = .7 before .6 of the others.
    assert pages(found) == [("Denial", 3), ("Bleecker_Street", 0), ("Denial", 4), ("Revlon", 0)]
    assert found[1].score == pytest.approx(0.7)


def test_only_a_first_line_gains_as_one() -> None:
    settings = replace(PLAIN, weight=1.0, link=0.1, lead=0.2)
    found = select_set(CLAIM, [FILM, replace(LEAD, line=2)], [0.8, 0.4], 2, settings)
    assert found[1].score == pytest.approx(0.5)


def test_a_weak_sentence_leads_on_by_its_share_of_the_highest() -> None:
    settings = replace(PLAIN, weight=1.0, link=0.2)
    found = select_set(CLAIM, [OTHER, FILM, LEAD], [0.8, 0.6, 0.1], 3, settings)
    assert found[2].score == pytest.approx(0.1 + 0.2 * 0.6 / 0.8)


def test_words_of_a_linked_page_that_are_new_count_more() -> None:
    settings = replace(PLAIN, weight=1.0, link_cover=0.5)
    found = select_set(CLAIM, [FILM, LEAD], [0.8, 0.4], 2, settings)
    assert found[1].score == pytest.approx(0.4 + 0.5 / 5)  # brooklyn


class TestBridge:
    """Documents of one's own: titles are file names, and a name leads from one to the other."""

    CLAIM = "Project Heron is led from the Lisbon office."
    LEADER = Evidence("Project Heron is led by Mara Lindt.", "projects.md", 2)
    DESK = Evidence("Mara Lindt sits in Lisbon.", "people.txt", 7)
    RIVAL = Evidence("Olu Adeyinka sits in Lisbon.", "people.txt", 8)
    SETTINGS = replace(PLAIN, weight=1.0, link=0.4, bridge=0.5)

    def test_a_name_that_both_hold_leads_on(self) -> None:
        found = select_set(
            self.CLAIM, [self.LEADER, self.RIVAL, self.DESK], [0.8, 0.5, 0.4], 3, self.SETTINGS
        )
        assert [sentence.text[:4] for sentence in found] == ["Proj", "Mara", "Olu "]
        assert found[1].score == pytest.approx(0.4 + 0.4 * 0.5)

    def test_a_name_of_the_claim_leads_nowhere(self) -> None:
        claim = "Mara Lindt leads Project Heron."
        found = select_set(claim, [self.LEADER, self.RIVAL, self.DESK], [0.8, 0.5, 0.4], 3, self.SETTINGS)
        assert [sentence.score for sentence in found] == pytest.approx([0.8, 0.5, 0.4])

    def test_a_name_that_many_hold_leads_nowhere(self) -> None:
        many = [replace(self.DESK, line=n) for n in range(4)]
        found = select_set(self.CLAIM, [self.LEADER, *many], [0.8, *[0.4] * 4], 2, self.SETTINGS)
        assert found[1].score == pytest.approx(0.4)


def test_a_score_is_no_higher_than_that_of_the_sentence_before() -> None:
    settings = replace(PLAIN, weight=1.0, link=0.9)
    found = select_set(CLAIM, [FILM, LEAD], [0.5, 0.4], 2, settings)
    assert [sentence.score for sentence in found] == pytest.approx([0.5, 0.5])


def test_equal_values_keep_the_candidates_order_and_no_more_than_k_are_taken() -> None:
    found = select_set("nothing", [OTHER, FILM, LEAD], [0.3] * 3, 2, replace(PLAIN, weight=1.0))
    assert pages(found) == [("Revlon", 0), ("Denial", 3)]


def test_sentences_of_unknown_pages_do_not_crowd_each_other() -> None:
    unknown = [Evidence("One."), Evidence("Two.")]
    found = select_set("claim", unknown, [0.5, 0.5], 5, replace(PLAIN, weight=1.0, spread=0.2))
    assert [sentence.score for sentence in found] == [0.5, 0.5]


@dataclass(frozen=True)
class ByLength:
    """Scores a sentence by its characters."""

    identity = {"kind": "length"}

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        return [[len(sentence.text) / 100 for sentence in sentences] for sentences in candidates]


def test_each_claim_of_many_gets_its_own_set() -> None:
    selector = SetSelector(ByLength(), replace(PLAIN, weight=1.0))
    selections = selector.select_many(["a", "b", "c"], [[OTHER, FILM], [], [LEAD]], 1)
    assert [pages(selection) for selection in selections] == [[("Denial", 3)], [], [("Bleecker_Street", 0)]]
    assert selector.select_many(["a"], [[OTHER]], 0) == [[]]
    assert selector.select("a", [OTHER, FILM], 1) == selections[0]


@pytest.mark.parametrize(("name", "value"), [("weight", 1.1), ("cover", -0.1), ("link", float("nan"))])
def test_settings_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"selection {name}"):
        replace(PLAIN, **{name: value})


def test_fusion_selects_sets() -> None:
    selector = load_selector("fusion")
    assert isinstance(selector, SetSelector) and selector.settings == SetSettings()
    assert selector.identity["kind"] == "set"
