from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from adjudge.data.formats import read_claims
from adjudge.errors import ConfigError
from adjudge.types import Claim, Evidence, Example, SentenceRef, Verdict
from scifact_folds import (
    cited_abstracts,
    compare_systems,
    figures,
    folds,
    given_examples,
    majority,
    sentence_f1,
    training_examples,
)

S, R, N = "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"


def claim(number: int, label: str, *gold: tuple[str, int], text: str = "") -> Claim:
    refs = tuple(SentenceRef(*ref) for ref in gold)
    return Claim(number, text or f"claim {number}", label, (refs,) if refs else ())


def sentence(page: str, line: int) -> Evidence:
    return Evidence(f"{page} {line}", page, line)


def look_up(ref: SentenceRef) -> Evidence:
    return sentence(*ref)


def within(text: str, pages: Sequence[str], k: int) -> list[Evidence]:
    return [sentence(page, line) for page in pages for line in range(9)][:k]


def verdict(number: int, label: str, *refs: tuple[str, int], sure: float = 1.0) -> Verdict:
    probabilities = dict.fromkeys((S, R, N), (1 - sure) / 2) | {label: sure}
    return Verdict(number, f"claim {number}", label, probabilities, tuple(sentence(*ref) for ref in refs))


class TestFolds:
    def test_claims_that_share_an_abstract_or_a_text_lie_together(self) -> None:
        claims = [
            claim(0, S, ("a", 1)),
            claim(1, R, ("b", 0)),
            claim(2, N),  # cites a and b, so that 0 and 1 belong together by way of it
            claim(3, N, text="the same"),
            claim(4, S, ("c", 2), text="the same"),
            claim(5, R, ("d", 0)),
        ]
        dealt = folds(claims, {"2": ("a", "b"), "3": ("e",)}, 2)
        assert sorted(place for fold in dealt for place in fold) == [0, 1, 2, 3, 4, 5]
        (first,) = (fold for fold in dealt if 0 in fold)
        assert {0, 1, 2} <= set(first)
        assert any({3, 4} <= set(fold) for fold in dealt)

    def test_labels_are_spread_evenly_where_nothing_binds_them(self) -> None:
        claims = [claim(i, label) for i, label in enumerate([S] * 10 + [R] * 5 + [N] * 5)]
        for fold in folds(claims, {}, 5):
            assert Counter(claims[place].label for place in fold) == {S: 2, R: 1, N: 1}

    def test_the_seed_decides_and_nothing_else(self) -> None:
        claims = [claim(i, (S, R, N)[i % 3]) for i in range(30)]
        assert folds(claims, {}, 3, seed=1) == folds(claims, {}, 3, seed=1) != folds(claims, {}, 3, seed=2)

    @pytest.mark.parametrize("count", [1, 3])
    def test_a_number_that_gives_no_folds_is_refused(self, count: int) -> None:
        with pytest.raises(ConfigError, match=f"{count} folds of 2 claims"):
            folds([claim(0, S), claim(1, R)], {}, count)

    def test_the_real_claims_share_no_abstract_between_folds(self, shared_data: Path) -> None:
        path = shared_data / "scifact" / "claims_train.jsonl.gz"
        claims, cited = list(read_claims(path)), cited_abstracts(path)
        dealt = folds(claims, cited, 5)
        assert sorted(place for fold in dealt for place in fold) == list(range(809))
        seen: dict[str, int] = {}
        for number, fold in enumerate(dealt):
            for place in fold:
                gold = {ref.page for group in claims[place].gold for ref in group}
                for page in {*gold, *cited[str(claims[place].id)]}:
                    assert seen.setdefault(page, number) == number
            labels = Counter(claims[place].label for place in fold)
            assert all(abs(labels[label] - n / 5) <= 3 for label, n in ((S, 332), (R, 173), (N, 304)))


def test_cited_abstracts_are_read_with_evidence_in_them_or_not(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    rationale = {"sentences": [1], "label": "SUPPORT"}
    records = [
        {"id": 7, "claim": "One.", "evidence": {"12": [rationale]}, "cited_doc_ids": [12, 13]},
        {"id": 8, "claim": "Two.", "evidence": {}, "cited_doc_ids": [14]},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert cited_abstracts(path) == {"7": ("12", "13"), "8": ("14",)}


class TestExamples:
    def test_gold_is_given_and_else_sentences_of_cited_abstracts(self) -> None:
        claims = [claim(0, S, ("a", 1), ("a", 3)), claim(1, N), claim(2, R, ("b", 2), ("b", 4))]
        first, second, third = given_examples(claims, {"0": ("a",), "1": ("c",)}, look_up, within)
        assert [s.ref for s in first.evidence] == [("a", 1), ("a", 3)]
        assert [s.ref for s in second.evidence] == [("c", 0), ("c", 1)]  # two, as every claim with gold has
        assert [s.ref for s in third.evidence] == [("b", 2), ("b", 4)]
        assert [e.label for e in (first, second, third)] == [S, N, R]
        assert first.gold_injected and second.gold_injected

    def test_the_number_of_sentences_does_not_tell_the_label(self) -> None:
        claims = [claim(i, S, *((f"p{i}", line) for line in range(1 + i % 7))) for i in range(70)]
        claims += [claim(i, N) for i in range(70, 770)]
        given = list(given_examples(claims, {str(i): ("c",) for i in range(770)}, look_up, within))
        shown = Counter(len(example.evidence) for example in given[70:])
        # One to four sentences in a seventh of the claims with gold each, five (or more, cut) in three sevenths.
        assert set(shown) == {1, 2, 3, 4, 5}
        assert all(70 <= shown[n] <= 130 for n in (1, 2, 3, 4)) and 250 <= shown[5] <= 350

    def test_training_shows_a_claim_as_given_and_with_what_was_found(self) -> None:
        given = [Example(3, "claim", (sentence("a", 1), sentence("a", 2)), R, True)]
        lines = (0, 1, 4, 5)
        found = [Example(3, "claim", tuple(sentence("a", line) for line in lines), R)]
        plain, mixed = training_examples(given, found, most=4)
        assert (plain.id, mixed.id, plain.label, mixed.label) == ("3:given", "3:mixed", R, R)
        assert plain.evidence == given[0].evidence
        assert [s.line for s in mixed.evidence] == [1, 2, 0, 4]


def test_sentence_f1_counts_over_all_claims_together() -> None:
    gold = [{("a", 1), ("a", 2)}, {("b", 0)}]
    kept = [{("a", 1), ("c", 0)}, {("c", 1)}]
    assert sentence_f1(gold, kept) == pytest.approx(2 * 1 / (3 + 3))
    assert sentence_f1([set()], [set()]) == 0


class TestFigures:
    claims = [claim(0, S, ("a", 1)), claim(1, R, ("b", 0), ("b", 1)), claim(2, N), claim(3, S, ("d", 0))]

    def test_they_are_those_of_a_hand_count(self) -> None:
        said = [
            verdict(0, S, ("a", 1), ("a", 2), sure=0.9),
            verdict(1, S, ("b", 0), sure=0.9),  # its gold sentence, under the contrary label
            verdict(2, N, ("c", 0), sure=0.9),
            verdict(3, N, ("d", 0), sure=0.9),  # names no sentence
        ]
        found = figures(self.claims, said)
        assert found["label_accuracy"] == 0.5
        assert found["confusion"] == [[1, 0, 1], [1, 0, 0], [0, 0, 1]]
        assert found["recall"] == {S: 0.5, R: 0.0, N: 1.0}
        # F1: SUPPORTS 1/2, REFUTES 0, NOT ENOUGH INFO 2 · (1/2 · 1) / (3/2).
        assert found["macro_f1"] == pytest.approx((1 / 2 + 0 + 2 / 3) / 3)
        assert found["contradiction_rate"] == pytest.approx(1 / 3)
        assert found["ece"] == pytest.approx(0.4)
        # Shown to claims with gold: 4 sentences, 3 of them among 4 gold ones.
        assert found["sentence_f1"] == pytest.approx(2 * 3 / (4 + 4))
        # Named: 2 under a right label, 1 of them gold; 1 under a wrong one.
        assert found["sentence_label_f1"] == pytest.approx(2 * 1 / (4 + 3))
        low, high = found["interval"]
        assert 0 <= low <= 0.5 <= high <= 1

    def test_the_commonest_label_is_the_baseline(self) -> None:
        found = majority(self.claims)
        assert (found["label"], found["label_accuracy"]) == (S, 0.5)
        assert found["confusion"] == [[2, 0, 0], [1, 0, 0], [1, 0, 0]]

    def test_two_systems_are_compared_claim_by_claim(self) -> None:
        one = [verdict(0, S), verdict(1, R), verdict(2, N), verdict(3, N)]
        other = [verdict(0, S), verdict(1, S), verdict(2, S), verdict(3, S)]
        found = compare_systems(self.claims, one, other)
        assert found["difference"] == pytest.approx(0.25)
        assert (found["mcnemar"]["n10"], found["mcnemar"]["n01"]) == (2, 1)
