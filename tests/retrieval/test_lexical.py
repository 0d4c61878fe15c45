"""What the retriever finds, on corpora small enough to see why."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.data.formats import read_claims
from adjudge.errors import ConfigError
from adjudge.retrieval.analysis import MAX_QUERY_TERMS, PROSE, name_of, names_in, terms
from adjudge.retrieval.build import build_index, index_pages
from adjudge.retrieval.evaluate import evaluate_retrieval
from adjudge.retrieval.index import Index
from adjudge.retrieval.lexical import RetrievalSettings
from adjudge.retrieval.retriever import IndexRetriever
from adjudge.types import Claim, Page, Sentence, SentenceRef

PAGES = [
    Page("Savages", "Savages", (Sentence("Savages may refer to :", 0),)),
    Page(
        "Savages_-LRB-2012_film-RRB-",
        "Savages (2012 film)",
        (
            Sentence("Savages is a crime thriller directed by Oliver Stone .", 0, ("Oliver_Stone",)),
            Sentence("It was shot in Mexico .", 1),
        ),
    ),
    Page("Savages_-LRB-band-RRB-", "Savages (band)", (Sentence("Savages are a rock band from London .", 0),)),
    Page(
        "Oliver_Stone",
        "Oliver Stone",
        (Sentence("Stone was born in New York City .", 0), Sentence("He served in Vietnam .", 1)),
    ),
    Page("York", "York", (Sentence("York is a city in England .", 0),)),
    Page("Beyonce\u0301", "Beyonce\u0301", (Sentence("Beyonce\u0301 lives in Du\u0308sseldorf .", 0),)),
    Page("Rain", "Rain", (Sentence("Rain is water falling from clouds .", 0),)),
]

FILLERS = [
    Page(f"F{n}", f"Director {n}", (Sentence(f"A director fought in Mexico with Rain number {n} .", 0),))
    for n in range(4)
]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> IndexRetriever:
    path = tmp_path_factory.mktemp("retrieval") / "index"
    index_pages(PAGES, path)
    return IndexRetriever(Index.open(path))


def refs(retriever: IndexRetriever, claim: str, k: int = 5) -> list[SentenceRef]:
    return [evidence.ref for evidence in retriever.retrieve(claim, k)]


def test_the_best_sentence_comes_first(retriever: IndexRetriever) -> None:
    assert refs(retriever, "Water falls from clouds.")[0] == ("Rain", 0)


def test_a_title_is_matched_without_its_bracket_and_the_bracket_decides(retriever: IndexRetriever) -> None:
    film = retriever.retrieve_pages("The film Savages is long.", 5)
    band = retriever.retrieve_pages("The band Savages is loud.", 5)
    assert film[0].page.page == "Savages_-LRB-2012_film-RRB-"
    assert band[0].page.page == "Savages_-LRB-band-RRB-"
    assert {hit.page.title for hit in film[:3]} == {"Savages", "Savages (2012 film)", "Savages (band)"}


def test_sentences_of_a_named_page_are_offered_though_they_share_no_word(retriever: IndexRetriever) -> None:
    assert ("Oliver_Stone", 1) in refs(retriever, "Oliver Stone never left home.", 10)


def test_links_lead_to_the_second_page(retriever: IndexRetriever) -> None:
    claim = "Savages is a thriller by a director who fought abroad."
    narrow = replace(retriever.settings, pages=3, hop_mentions=False)
    with_hop = refs(IndexRetriever(retriever.index, narrow), claim, 10)
    without = refs(IndexRetriever(retriever.index, replace(narrow, hop_sentences=0)), claim, 10)
    assert ("Oliver_Stone", 1) in with_hop
    assert not any(ref.page == "Oliver_Stone" for ref in without)


def test_names_lead_to_the_second_page_where_there_are_no_links(tmp_path: Path) -> None:
    unlinked = [Page(p.id, p.title, tuple(Sentence(s.text, s.line) for s in p.sentences)) for p in PAGES]
    index_pages(unlinked, tmp_path / "index")
    narrow = RetrievalSettings(pages=3)
    opened = Index.open(tmp_path / "index")
    claim = "Savages is a thriller by a director who fought abroad."
    assert ("Oliver_Stone", 1) in refs(IndexRetriever(opened, narrow), claim, 10)
    assert ("Oliver_Stone", 1) not in refs(
        IndexRetriever(opened, replace(narrow, hop_mentions=False)), claim, 10
    )


def test_decomposed_letters_and_missing_accents_match(retriever: IndexRetriever) -> None:
    for claim in ("Beyoncé lives in Düsseldorf.", "Beyonce lives in Dusseldorf."):
        assert refs(retriever, claim)[0] == ("Beyonce\u0301", 0)


def test_no_word_in_common_finds_nothing(retriever: IndexRetriever) -> None:
    for claim in ("", "   ", "zxqv", "()", "\0", "\ud800"):
        assert retriever.retrieve(claim, 5) == []
    assert retriever.retrieve("Rain falls.", 0) == []


@given(st.text(st.characters(exclude_categories=())), st.integers(-1, 30))
@settings(max_examples=150, deadline=None)
def test_any_string_is_a_claim(retriever: IndexRetriever, claim: str, k: int) -> None:
    found = retriever.retrieve(claim, k)
    assert len(found) <= max(k, 0)
    assert [evidence.score for evidence in found] == sorted((e.score for e in found), reverse=True)
    assert len({evidence.ref for evidence in found}) == len(found)
    assert retriever.retrieve(claim, 3) == retriever.retrieve(claim, 20)[:3]


def test_query_operators_are_words_like_others(retriever: IndexRetriever) -> None:
    for claim in ('title:"Rain" AND -water', "rain* OR [a TO b]", "+rain^4 ~2 /x/", "{rain}\\"):
        assert ("Rain", 0) in refs(retriever, claim)


def test_an_endless_claim_is_searched_by_its_first_words(retriever: IndexRetriever) -> None:
    assert ("Rain", 0) in refs(retriever, "rain " + " ".join(f"word{n}" for n in range(500_000)))
    assert len(terms(" ".join(f"word{n}" for n in range(1000)), PROSE)) == MAX_QUERY_TERMS


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Savages (2012 film)", "savages"),
        ("The Beatles", "beatles"),
        ("The", "the"),
        ("Beyoncé", "beyonce"),
        ("AC/DC", "ac dc"),
        ("(What's the Story)", "what s the story"),
        ("", ""),
    ],
)
def test_a_page_is_called_by_its_title_without_bracket_article_and_accents(title: str, name: str) -> None:
    assert name_of(title) == name


def test_names_are_runs_that_begin_with_a_capital_or_digit() -> None:
    assert names_in("In 1999 the Red Sea froze") == {
        "1999": 1,
        "1999 the": 2,
        "1999 the red": 3,
        "1999 the red sea": 4,
        "1999 the red sea froze": 5,
        "in 1999": 2,
        "in 1999 the": 3,
        "in 1999 the red": 4,
        "in 1999 the red sea": 5,
        "in 1999 the red sea froze": 6,
        "red": 1,
        "red sea": 2,
        "red sea froze": 3,
        "sea": 1,
        "sea froze": 2,
    }


def test_every_setting_changes_something(tmp_path: Path) -> None:
    """Each away from its default changes the sentences or their scores for one of a few claims."""
    index_pages([*PAGES, *FILLERS], tmp_path / "index")
    index = Index.open(tmp_path / "index")
    claims = ["The film Savages by Oliver Stone was shot in Mexico.", "A director of Savages fought in York."]

    def answers(options: RetrievalSettings) -> list[tuple[SentenceRef, float]]:
        searcher = IndexRetriever(index, options)
        return [
            (e.ref, round(e.score, 3))
            for claim in claims
            for k in (1, 9)
            for e in searcher.retrieve(claim, k)
        ]

    # Few pages and a high bonus, so that names and hops matter in so small a corpus.
    base = RetrievalSettings(pages=2, name_bonus=20)
    other = {"pages": 6, "sentences": 1, "hop_mentions": False}
    of_vectors = {"nearest", "similarity_weight", "min_similarity"}  # tests/retrieval/test_retriever.py
    for field in fields(RetrievalSettings):
        if field.name in of_vectors:
            continue
        assert answers(replace(base, **{field.name: other.get(field.name, 0)})) != answers(base), field.name


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="retrieval setting pages = 0: expected 1 or more"):
        RetrievalSettings(pages=0)
    with pytest.raises(ConfigError, match="page_weight = -0.5"):
        RetrievalSettings(page_weight=-0.5)


def naive_bm25(texts: list[list[str]], query: list[str]) -> list[float]:
    """BM25 with k1 = 1.2, b = 0.75 by its formula."""
    mean = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for word in query:
            having = sum(word in other for other in texts)
            idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            count = text.count(word)
            score += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(text) / mean))
        scores.append(score)
    return scores


def test_sentences_rank_as_bm25_by_its_formula_ranks_them(tmp_path: Path) -> None:
    texts = [
        "cat dog bird",
        "cat cat cat tree house road",
        "dog bird tree river stone house road hill",
        "bird",
        "cat dog",
        "tree house river stone",
    ]
    index_pages([Page(str(n), "", (Sentence(text, 0),)) for n, text in enumerate(texts)], tmp_path / "index")
    plain = RetrievalSettings(page_weight=0, hop_sentences=0)
    found = IndexRetriever(Index.open(tmp_path / "index"), plain).retrieve("cat dog river", 6)
    expected = naive_bm25([text.split() for text in texts], ["cat", "dog", "river"])
    order = sorted((n for n in range(6) if expected[n] > 0), key=lambda n: -expected[n])
    assert [int(evidence.page) for evidence in found][: len(order)] == order
    assert [evidence.score for evidence in found][: len(order)] == pytest.approx(
        [expected[n] for n in order], rel=0.02
    )


def test_real_claims_find_their_gold(shared_data: Path, tmp_path: Path) -> None:
    """Closed small world of 3,318 pages; floors a little under what was measured over all 6,590 claims."""
    build_index([shared_data / "fever" / "wiki-pages.jsonl.gz"], tmp_path / "index", strict=True)
    index = Index.open(tmp_path / "index")
    claims = []
    for claim in read_claims(shared_data / "fever" / "dev_claims.jsonl.gz"):
        groups = tuple(group for group in claim.gold if len(claims) < 300 and index.holds(group))
        if groups:
            claims.append(Claim(claim.id, claim.text, claim.label, groups))
    scores = evaluate_retrieval(IndexRetriever(index), claims, (1, 5))
    assert scores.overall.claims == 300
    assert scores.overall.page_recall[5] > 0.95
    assert scores.overall.group_recall[5] > 0.90
