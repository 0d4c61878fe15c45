from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.retrieval.build import index_pages
from adjudge.retrieval.evaluate import evaluate_retrieval
from adjudge.retrieval.index import Index
from adjudge.retrieval.retriever import IndexRetriever
from adjudge.retrieval.titles import FuzzyTitles
from adjudge.types import Claim, Page, Sentence, SentenceRef

pytest.importorskip("rapidfuzz")

PAGES = [
    Page("Nikolaj_Coster-Waldau", "Nikolaj Coster-Waldau", (Sentence("He worked for a broadcaster .", 0),)),
    Page("Keanu_Reeves", "Keanu Reeves", (Sentence("An actor from Canada .", 0), Sentence("He rides .", 1))),
    Page("Reeves", "Reeves", (Sentence("A surname .", 0),)),
    Page("Rain", "Rain", (Sentence("Rain is water .", 0),)),
    Page("Fox", "Fox", (Sentence("An animal .", 0),)),
]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> IndexRetriever:
    path = tmp_path_factory.mktemp("titles") / "index"
    index_pages(PAGES, path)
    return IndexRetriever(Index.open(path))


def test_a_misspelt_name_leads_to_its_page(retriever: IndexRetriever):
    fuzzy = FuzzyTitles(retriever)
    claim = "Kianu Reevess rides horses."
    # An s too many in "reevess", 1 edit of 13 characters: 92%; in the whole name also i for e, 3 of 25: 88%.
    assert fuzzy.resembling_pages(claim) == ["Reeves", "Keanu_Reeves"]
    assert FuzzyTitles(retriever, 90.0).resembling_pages(claim) == ["Reeves"]
    assert FuzzyTitles(retriever, most_pages=1).resembling_pages(claim) == ["Reeves"]
    refs = [sentence.ref for sentence in fuzzy.retrieve(claim, 5)]
    assert SentenceRef("Keanu_Reeves", 1) in refs


def test_it_adds_to_the_retriever_and_takes_nothing_away(retriever: IndexRetriever):
    fuzzy = FuzzyTitles(retriever)
    for claim in ("Rain is water.", "Nikolai Coster-Waldau worked for a broadcaster.", "nothing here"):
        plain = [sentence.ref for sentence in retriever.retrieve(claim, 9)]
        wider = [sentence.ref for sentence in fuzzy.retrieve(claim, 9)]
        assert [ref for ref in wider if ref in plain] == plain
        assert len(set(wider)) == len(wider)
    assert fuzzy.retrieve("Kianu Reevess rides.", 0) == []


def test_exact_and_short_names_are_left_to_the_retriever(retriever: IndexRetriever):
    fuzzy = FuzzyTitles(retriever)
    assert fuzzy.resembling_pages("Keanu Reeves is tall.") == []
    assert fuzzy.resembling_pages("A Box is square.") == []  # one letter from Fox, and too short to mean it


def test_recall_rises_on_misspelt_claims(retriever: IndexRetriever):
    claims = [Claim(1, "Keanoo Reaves is Canadian.", "SUPPORTS", ((SentenceRef("Keanu_Reeves", 0),),))]
    strict, fuzzy = (
        evaluate_retrieval(r, claims, (5,)).overall for r in (retriever, FuzzyTitles(retriever, 75.0))
    )
    assert (strict.group_recall[5], fuzzy.group_recall[5]) == (0.0, 1.0)


def test_its_settings_are_part_of_its_identity(retriever: IndexRetriever):
    strict, loose = FuzzyTitles(retriever), FuzzyTitles(retriever, 50.0)
    assert strict.identity != loose.identity
    assert strict.identity["retriever"] == dict(retriever.identity)
    assert Path(retriever.index.path).exists()
