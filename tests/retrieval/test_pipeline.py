"""From claims to examples: what is found, and where gold may and may not appear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from adjudge.data.kgat import is_gold
from adjudge.errors import ConfigError
from adjudge.retrieval.build import index_pages
from adjudge.retrieval.index import Index
from adjudge.retrieval.lexical import RetrievalSettings
from adjudge.retrieval.pipeline import EvidencePipeline, ranking_examples, sentence_in
from adjudge.retrieval.retriever import IndexRetriever
from adjudge.retrieval.selectors import LexicalSelector, ScoredSelector
from adjudge.types import Claim, Evidence, Page, Sentence, SentenceRef

TEXTS = {SentenceRef("Gold", n): Evidence(f"gold {n}", "Gold", n, title="Au") for n in range(3)}
FOUND_2 = {SentenceRef("F", 2): Evidence("found 2", "F", 2)}
GOLD = Claim(
    7, "claim", "REFUTES", ((SentenceRef("Gold", 0), SentenceRef("Gold", 1)), (SentenceRef("F", 2),))
)


class Found:
    """A retriever that always finds the same: sentences 0, 1, 2, … of page F."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    identity = {"kind": "test"}

    def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        self.asked.append(k)
        return [[Evidence(f"found {n}", "F", n, score=9.0 - n) for n in range(9)][:k] for _ in claims]


@dataclass(frozen=True)
class ByFunction:
    """A scorer of a function of one claim and its sentences."""

    function: Callable[[str, Sequence[Evidence]], list[float]]
    identity = {"kind": "test"}

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        return [self.function(*pair) for pair in zip(claims, candidates, strict=True)]


def reversed_order(claim: str, sentences: object) -> list[float]:
    return [float(n) for n in range(6)]


def lines(evidence: tuple[Evidence, ...]) -> list[tuple[str, int]]:
    return [(sentence.page, sentence.line) for sentence in evidence]


def test_the_selector_chooses_among_the_candidates() -> None:
    retriever = Found()
    pipeline = EvidencePipeline(retriever, ScoredSelector(ByFunction(reversed_order)), candidates=6, k=2)
    assert lines(pipeline.find("claim")) == [("F", 5), ("F", 4)]
    assert retriever.asked == [6]


def test_what_the_selector_does_not_see_follows_in_the_retrievers_order() -> None:
    pipeline = EvidencePipeline(
        Found(), ScoredSelector(ByFunction(lambda claim, offered: [0.1, 0.2, 0.3])), 3, k=2
    )
    assert [sentence.line for sentence in pipeline.retrieve("claim", 6)] == [2, 1, 0, 3, 4, 5]
    assert [sentence.line for sentence in pipeline.retrieve("claim", 2)] == [2, 1]


def test_many_claims_get_what_each_gets_alone(retriever: IndexRetriever) -> None:
    claims = ["Snow melts away at noon 3", "Rain falls in York", "", "Nobody knows why"]
    pipeline = EvidencePipeline(retriever, candidates=6, k=2)
    assert pipeline.retrieve_many(claims, 2) == [pipeline.retrieve(claim, 2) for claim in claims]
    assert retriever.retrieve_many(claims, 4) == [retriever.retrieve(claim, 4) for claim in claims]


def test_a_pipeline_describes_what_decides_its_answers(retriever: IndexRetriever) -> None:
    plain = EvidencePipeline(retriever)
    assert plain.identity == EvidencePipeline(IndexRetriever(retriever.index)).identity
    others = [
        EvidencePipeline(retriever, candidates=31),
        plain.with_gold(retriever.retrieve_within),
        EvidencePipeline(retriever, ScoredSelector(ByFunction(reversed_order))),
        EvidencePipeline(IndexRetriever(retriever.index, RetrievalSettings(pages=9))),
    ]
    assert all(other.identity != plain.identity for other in others)


def test_an_example_for_evaluation_holds_no_gold_that_was_not_found() -> None:
    pipeline = EvidencePipeline(Found(), k=2)
    example = pipeline.examples([GOLD])[0]
    assert (example.id, example.claim, example.label) == (7, "claim", "REFUTES")
    assert lines(example.evidence) == [("F", 0), ("F", 1)]
    assert not pipeline.injected and not example.gold_injected


def test_an_example_for_training_has_gold_first_with_score_one() -> None:
    example = EvidencePipeline(Found(), k=4).training_examples([GOLD], (TEXTS | FOUND_2).get)[0]
    assert lines(example.evidence) == [("Gold", 0), ("Gold", 1), ("F", 2), ("F", 0)]
    assert [sentence.score for sentence in example.evidence] == [1.0, 1.0, 1.0, 9.0]
    assert (example.evidence[0].text, example.evidence[0].title) == ("gold 0", "Au")
    assert example.gold_injected


def test_a_found_sentence_is_not_marked_as_gold_by_a_score_of_exactly_one() -> None:
    class Sure(Found):
        def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
            return [[replace(s, score=1.0) for s in found] for found in super().retrieve_many(claims, k)]

    example = EvidencePipeline(Sure(), k=4).training_examples([GOLD], TEXTS.get)[0]
    assert [is_gold(sentence) for sentence in example.evidence] == [True, True, False, False]
    assert all(0.999 < sentence.score < 1 for sentence in example.evidence[2:])


def test_a_found_sentence_that_is_gold_is_not_given_twice() -> None:
    claim = Claim(1, "claim", "SUPPORTS", ((SentenceRef("F", 1),), (SentenceRef("F", 1),)))
    example = EvidencePipeline(Found(), k=3).training_examples(
        [claim], lambda ref: Evidence("found 1", *ref)
    )[0]
    assert lines(example.evidence) == [("F", 1), ("F", 0), ("F", 2)]


def test_gold_beyond_the_limit_is_cut() -> None:
    claim = Claim(1, "claim", "SUPPORTS", (tuple(TEXTS),))
    assert lines(EvidencePipeline(Found(), k=2).training_examples([claim], TEXTS.get)[0].evidence) == [
        ("Gold", 0),
        ("Gold", 1),
    ]


def test_gold_whose_text_the_corpus_lacks_is_left_out() -> None:
    example = EvidencePipeline(Found(), k=2).training_examples([GOLD], lambda ref: None)[0]
    assert lines(example.evidence) == [("F", 0), ("F", 1)]


@pytest.mark.parametrize(("k", "candidates"), [(0, 5), (6, 5)])
def test_more_sentences_than_candidates_are_refused(k: int, candidates: int) -> None:
    with pytest.raises(ConfigError, match="candidates"):
        EvidencePipeline(Found(), k=k, candidates=candidates)


PAGES = [
    Page("Rain", "Rain", (Sentence("Rain falls in York .", 0), Sentence("Nobody knows why it stops .", 1))),
    *(Page(f"Snow_{n}", f"Snow {n}", (Sentence(f"Snow melts away at noon {n} .", 0),)) for n in range(8)),
]
ON_SNOW = Claim(1, "Snow melts away at noon", "SUPPORTS", ((SentenceRef("Rain", 0),),))


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> IndexRetriever:
    path: Path = tmp_path_factory.mktemp("pipeline") / "index"
    index_pages(PAGES, path)
    return IndexRetriever(Index.open(path))


class TestInjectedGold:
    def test_sentences_of_gold_pages_join_the_candidates(self, retriever: IndexRetriever) -> None:
        def prefers_rain(claim: str, sentences: list[Evidence]) -> list[float]:
            return [float(sentence.title == "Rain") for sentence in sentences]

        plain = EvidencePipeline(retriever, ScoredSelector(ByFunction(prefers_rain)), candidates=5, k=2)
        injected = plain.with_gold(retriever.retrieve_within)
        assert "Rain" not in {page for page, _ in lines(plain.examples([ON_SNOW])[0].evidence)}
        assert sorted(lines(injected.examples([ON_SNOW])[0].evidence)) == [("Rain", 0), ("Rain", 1)]

    def test_it_is_known_by_its_flag_and_leaves_the_plain_pipeline_as_it_is(
        self, retriever: IndexRetriever
    ) -> None:
        plain = EvidencePipeline(retriever)
        assert (plain.with_gold(retriever.retrieve_within).injected, plain.injected) == (True, False)

    def test_what_is_found_without_naming_a_claims_gold_stays_the_same(
        self, retriever: IndexRetriever
    ) -> None:
        plain = EvidencePipeline(retriever, candidates=5, k=5)
        assert plain.with_gold(retriever.retrieve_within).find(ON_SNOW.text) == plain.find(ON_SNOW.text)

    def test_the_offered_sentences_are_in_the_order_of_their_scores(self, retriever: IndexRetriever) -> None:
        pipeline = EvidencePipeline(retriever, LexicalSelector(), candidates=5, k=5)
        on_rain = Claim(2, "Rain falls in York", "SUPPORTS", ((SentenceRef("Snow_3", 0),),))
        evidence = pipeline.with_gold(retriever.retrieve_within).examples([on_rain])[0].evidence
        assert evidence[0].ref == ("Rain", 0)
        assert [s.score for s in evidence] == sorted((s.score for s in evidence), reverse=True)


def test_a_page_looked_into_scores_its_sentences_as_the_first_page_found(retriever: IndexRetriever) -> None:
    claim = "Snow melts away at noon 3"
    first = retriever.retrieve(claim, 1)
    assert retriever.retrieve_within(claim, ["Snow_3"], 5) == first
    assert retriever.retrieve_within(claim, [], 5) == []
    assert retriever.retrieve_within("", ["Snow_3"], 5) == []


def test_the_sentence_at_a_place_is_that_of_the_corpus(retriever: IndexRetriever) -> None:
    look_up = sentence_in(retriever.index)
    assert look_up(SentenceRef("Rain", 1)) == Evidence("Nobody knows why it stops .", "Rain", 1, title="Rain")
    assert look_up(SentenceRef("Rain", 2)) is None
    assert look_up(SentenceRef("Nowhere", 0)) is None


class TestRankingExamples:
    def test_all_sentences_of_all_groups_are_gold_and_never_among_the_others(self) -> None:
        known = TEXTS | FOUND_2
        (example,) = ranking_examples([GOLD], Found(), known.get, candidates=4)
        assert lines(example.gold) == [("Gold", 0), ("Gold", 1), ("F", 2)]
        assert lines(example.others) == [("F", 0), ("F", 1), ("F", 3)]

    def test_gold_without_text_is_no_negative_either(self) -> None:
        (example,) = ranking_examples([GOLD], Found(), TEXTS.get, candidates=4)
        assert ("F", 2) not in lines(example.gold) + lines(example.others)

    def test_a_gold_sentence_that_links_to_another_of_its_group_is_a_first_hop(self) -> None:
        refs = {name: SentenceRef(name, 0) for name in "ABC"}
        links = {"A": ("X", "B"), "B": ("Y",), "C": ("A",)}
        texts = {ref: Evidence(f"in {name}", name, 0, links=links[name]) for name, ref in refs.items()}
        a, b, c = refs.values()
        claim = Claim(1, "claim", "SUPPORTS", ((a, b), (c,), (b, a)))
        (example,) = ranking_examples([claim], Found(), texts.get, candidates=4)
        # A leads to B, of its group, once for all groups; B leads elsewhere, and C to A, which is not of its group.
        assert [(first.page, lines(rest)) for first, rest in example.hops] == [("A", [("B", 0)])]

    def test_claims_without_gold_text_teach_nothing(self) -> None:
        assert list(ranking_examples([GOLD, Claim(2, "claim")], Found(), lambda ref: None)) == []
