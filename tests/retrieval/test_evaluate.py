"""Retrieval figures, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from adjudge.retrieval.evaluate import evaluate_retrieval
from adjudge.types import Claim, Evidence, SentenceRef


@dataclass(frozen=True)
class Fixed:
    """Answers what it is told to."""

    answers: dict[str, list[tuple[str, int]]]

    identity = {"kind": "test"}

    def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        return [[Evidence("", page, line) for page, line in self.answers[claim]][:k] for claim in claims]


def ref(page: str, line: int) -> SentenceRef:
    return SentenceRef(page, line)


CLAIMS = [
    Claim(1, "one", "SUPPORTS", ((ref("A", 0),), (ref("B", 3), ref("B", 4)))),
    Claim(2, "two", "REFUTES", ((ref("C", 0), ref("D", 1)),)),
    Claim(3, "none", "NOT ENOUGH INFO"),
]
RETRIEVER = Fixed(
    {
        # First different pages: X, B, A. Group (A 0) is whole at rank 4; gold in the first five: B 3, A 0.
        "one": [("X", 0), ("B", 3), ("X", 1), ("A", 0), ("X", 2), ("B", 4)],
        # Pages: C, Y, D. C 0 at rank 1, D 1 at rank 6: half the group within five.
        "two": [("C", 0), ("Y", 0), ("Y", 1), ("D", 0), ("Y", 2), ("D", 1)],
    }
)


def test_figures_are_those_counted_by_hand() -> None:
    scores = evaluate_retrieval(RETRIEVER, CLAIMS, ks=(1, 2, 3, 4, 6))
    one, two = scores.by_label["SUPPORTS"], scores.by_label["REFUTES"]
    assert one.page_recall == {1: 0, 2: 1, 3: 1, 4: 1, 6: 1}
    assert one.group_recall == {1: 0, 2: 0, 3: 0, 4: 1, 6: 1}
    assert (one.sentence_recall, one.precision) == (1.0, pytest.approx(2 / 5))
    assert two.page_recall == {1: 0, 2: 0, 3: 1, 4: 1, 6: 1}
    assert two.group_recall == {1: 0, 2: 0, 3: 0, 4: 0, 6: 1}
    assert (two.sentence_recall, two.precision) == (0.5, pytest.approx(1 / 5))
    overall = scores.overall
    assert (overall.claims, overall.group_recall[4], overall.sentence_recall) == (2, 0.5, 0.75)
    assert overall.precision == pytest.approx(0.3)
    assert overall.f1 == pytest.approx(2 * 0.3 * 0.75 / 1.05)
    assert scores.multi_hop == two  # claim 1 has a group on one page
    assert scores.without_gold == 1


def test_nothing_retrieved_scores_nothing() -> None:
    scores = evaluate_retrieval(Fixed({"one": []}), CLAIMS[:1], ks=(5,))
    assert (scores.overall.group_recall[5], scores.overall.precision, scores.overall.f1) == (0, 0, 0)


def test_no_claim_with_gold_is_no_error() -> None:
    scores = evaluate_retrieval(RETRIEVER, CLAIMS[2:], ks=(5,))
    assert (scores.overall.claims, scores.without_gold) == (0, 1)
