"""Which sentences are kept, with scores that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from adjudge.errors import ConfigError
from adjudge.retrieval.selectors import (
    LexicalSelector,
    ScoredSelector,
    choose_weight,
    fuse,
    select_best,
)
from adjudge.types import Claim, Evidence, SentenceRef

CANDIDATES = [
    Evidence("a", "P", 0, score=10.0, source="p.txt", start=3, end=4),
    Evidence("b", "P", 1, score=5.0),
    Evidence("c", "Q_-LRB-film-RRB-", 0, score=4.0),
]


def cosines(claim: str, sentences: Sequence[Evidence]) -> list[float]:
    assert claim == "claim"
    return [{"a": 0.0, "b": 0.6, "c": 1.0}[sentence.text] for sentence in sentences]


@dataclass(frozen=True)
class ByFunction:
    """A scorer of a function of one claim and its sentences."""

    function: Callable[[str, Sequence[Evidence]], list[float]]
    identity = {"kind": "test"}

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        return [self.function(*pair) for pair in zip(claims, candidates, strict=True)]


def texts(found: Sequence[Evidence]) -> str:
    return "".join(sentence.text for sentence in found)


def test_the_lexical_selector_keeps_the_retrievers_order_and_scores() -> None:
    assert LexicalSelector().select("claim", CANDIDATES, 2) == CANDIDATES[:2]


def test_fusion_adds_the_share_of_the_best_score_and_the_cosine() -> None:
    found = ScoredSelector(ByFunction(cosines), weight=0.5, spread=0.0).select("claim", CANDIDATES, 3)
    # a: .5 · 10/10 + .5 · 0;  b: .5 · 5/10 + .5 · .6;  c: .5 · 4/10 + .5 · 1
    assert texts(found) == "cba"
    assert [sentence.score for sentence in found] == pytest.approx([0.7, 0.55, 0.5])


@pytest.mark.parametrize(("weight", "order"), [(0.0, "abc"), (0.25, "acb"), (1.0, "cba")])
def test_the_weight_moves_the_order_from_words_to_meaning(weight: float, order: str) -> None:
    assert (
        texts(ScoredSelector(ByFunction(cosines), weight, spread=0.0).select("claim", CANDIDATES, 3)) == order
    )


def test_the_other_score_decides_alone_by_default() -> None:
    found = ScoredSelector(ByFunction(lambda claim, sentences: [-0.5, 0.9, 0.1])).select(
        "claim", CANDIDATES, 2
    )
    assert [(sentence.text, sentence.score) for sentence in found] == [("b", 0.9), ("c", 0.1)]


def test_a_sentence_keeps_its_place_in_the_source() -> None:
    found = ScoredSelector(ByFunction(lambda claim, sentences: [1.0, 0.0, 0.0])).select(
        "claim", CANDIDATES, 1
    )
    assert (found[0].source, found[0].start, found[0].end, found[0].ref) == ("p.txt", 3, 4, ("P", 0))


def test_equal_scores_keep_the_retrievers_order() -> None:
    found = ScoredSelector(ByFunction(lambda claim, sentences: [0.3] * 3), spread=0.0).select(
        "claim", CANDIDATES, 3
    )
    assert texts(found) == "abc"


class TestSpread:
    SCORES = (0.9, 0.85, 0.8)  # of P, P and Q

    def test_a_page_that_is_already_there_gives_way_to_another(self) -> None:
        found = select_best(CANDIDATES, self.SCORES, 3, spread=0.06)
        assert texts(found) == "acb"  # b is left .85 − .06 = .79 < .8
        assert [sentence.score for sentence in found] == pytest.approx([0.9, 0.8, 0.79])

    def test_a_small_spread_changes_nothing_but_the_score(self) -> None:
        found = select_best(CANDIDATES, self.SCORES, 3, spread=0.04)
        assert texts(found) == "abc"
        assert [sentence.score for sentence in found] == pytest.approx([0.9, 0.81, 0.8])

    def test_every_sentence_of_the_page_counts(self) -> None:
        five = [Evidence(str(n), "P", n) for n in range(4)] + [Evidence("q", "Q")]
        assert (
            texts(select_best(five, [0.9, 0.9, 0.9, 0.9, 0.75], 5, spread=0.06)) == "012q3"
        )  # .9 − 3 · .06 = .72

    def test_unknown_pages_are_not_one_page(self) -> None:
        unknown = [Evidence("a"), Evidence("b"), Evidence("c")]
        assert [sentence.score for sentence in select_best(unknown, self.SCORES, 3, spread=0.5)] == list(
            self.SCORES
        )

    @pytest.mark.parametrize("spread", [-0.1, float("inf")])
    def test_it_is_no_bonus(self, spread: float) -> None:
        with pytest.raises(ConfigError, match="0 or more"):
            ScoredSelector(ByFunction(lambda claim, sentences: [1.0]), spread=spread)


def test_each_claim_of_many_gets_its_own_candidates() -> None:
    selector = ScoredSelector(
        ByFunction(lambda claim, sentences: [float(claim == s.text) for s in sentences])
    )
    selections = selector.select_many(["b", "none", "a"], [CANDIDATES, [], CANDIDATES[:2]], 1)
    assert [texts(selection) for selection in selections] == ["b", "", "a"]


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize("selector", [LexicalSelector(), ScoredSelector(ByFunction(cosines))])
def test_asking_for_nothing_gives_nothing(selector: LexicalSelector, k: int) -> None:
    assert selector.select("claim", CANDIDATES, k) == []


def test_no_candidates_ask_no_model() -> None:
    def fail(*args: object) -> list[float]:
        raise AssertionError("asked")

    assert ScoredSelector(ByFunction(fail)).select("claim", [], 5) == []


def test_a_score_of_nothing_but_zeros_leaves_the_other_score() -> None:
    zeros = [Evidence("a", score=0.0), Evidence("b", score=0.0)]
    assert fuse(zeros, [0.2, 0.4], 0.5) == [0.1, 0.2]


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_outside_zero_and_one_is_refused(weight: float) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        ScoredSelector(ByFunction(cosines), weight)


class TestChooseWeight:
    GOLD = Claim(1, "claim", "SUPPORTS", ((SentenceRef("P", 1), SentenceRef("P", 2)), (SentenceRef("P", 9),)))

    def judged(
        self, words: Sequence[float], other: Sequence[float]
    ) -> tuple[Claim, list[Evidence], list[float]]:
        return self.GOLD, [Evidence(str(n), "P", n, score=s) for n, s in enumerate(words)], list(other)

    def test_a_whole_group_must_be_among_the_first(self) -> None:
        # By words 0, 1, 2; by the other score 2, 1, 0. Of the group {1, 2} two are kept only by the other.
        weight, shares = choose_weight(
            [self.judged([3, 2, 1], [0.0, 0.5, 1.0])], k=2, weights=[0.0, 1.0], spread=0.0
        )
        assert (weight, shares) == (1.0, {0.0: 0.0, 1.0: 1.0})

    def test_equal_shares_are_decided_by_how_early_the_group_is_whole(self) -> None:
        # Both keep {1, 2} in three; without the other score it is whole at rank 2, with it at 3.
        weight, shares = choose_weight(
            [self.judged([1, 3, 2], [1.0, 0.5, 0.0])], k=3, weights=[1.0, 0.0], spread=0.0
        )
        assert (weight, shares) == (0.0, {1.0: 1.0, 0.0: 1.0})

    def test_a_group_that_was_not_retrieved_counts_against_every_weight(self) -> None:
        _, shares = choose_weight([self.judged([1, 3], [1.0, 0.5])], k=5, weights=[0.5])
        assert shares == {0.5: 0.0}
