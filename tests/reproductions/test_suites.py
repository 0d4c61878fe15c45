"""The hand-written suites of reproductions/ have the form that their README promises."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.documents import read_pages, walk
from adjudge.types import Label
from wording import content_words

SUITES = Path(__file__).parents[2] / "reproductions"
LABELS = {label.value for label in Label}
S, R, N = (label.value for label in Label)


def rows(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SUITES / path).read_text("utf-8").splitlines()]


def document(path: Path) -> str:
    """The words of a document, without the tags of HTML."""
    text = path.read_text("utf-8")
    return html.unescape(re.sub(r"<[^>]+>", "\n", text)) if path.suffix == ".html" else text


def words(text: str) -> str:
    """The words of a text, without what stands between them."""
    return " ".join(re.findall(r"\w+", text))


def duplicates(values: list[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1]


def normal(text: str) -> str:
    """The text without case, spacing and final punctuation, so that near-copies count as copies."""
    return " ".join(text.casefold().split()).rstrip(".!?")


@pytest.mark.parametrize("path", ["behaviour/cases.jsonl", "ordinary/claims.jsonl", "second/claims.jsonl"])
def test_ids_are_unique_labels_valid_and_no_claim_stands_twice(path):
    suite = rows(path)
    assert duplicates([row["id"] for row in suite]) == []
    assert {row["label"] for row in suite} == LABELS
    assert duplicates([normal(row["claim"]) for row in suite]) == []


@pytest.mark.parametrize("path", ["behaviour/cases.jsonl", "ordinary/claims.jsonl", "second/claims.jsonl"])
def test_the_readme_counts_the_labels_of_every_kind(path):
    section = (SUITES / "README.md").read_text("utf-8").split(f"## {path.split('/')[0]}/")[1].split("## ")[0]
    written = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", section, re.M)
    counts = Counter((row["kind"], row["label"]) for row in rows(path))
    for kind in {kind for kind, _ in counts}:
        figures = [counts[kind, label] for label in (S, R, N)]
        assert (kind, *map(str, [sum(figures), *figures])) in written


class TestBehaviour:
    CASES = rows("behaviour/cases.jsonl")
    # Kinds in which not every label can occur: part of the claim is open or wrong, or nothing is decided.
    ONLY = {"partial": {R, N}, "irrelevant": {N}}

    def test_every_kind_has_thirty_cases_or_more(self):
        counts = Counter(case["kind"] for case in self.CASES)
        assert len(counts) == 13 and min(counts.values()) >= 30

    def test_every_kind_has_the_labels_that_it_allows_and_none_rules_it(self):
        for kind in {case["kind"] for case in self.CASES}:
            counts = Counter(case["label"] for case in self.CASES if case["kind"] == kind)
            allowed = self.ONLY.get(kind, LABELS)
            assert set(counts) == allowed, kind
            assert len(allowed) == 1 or max(counts.values()) <= 0.6 * sum(counts.values()), kind

    def test_a_case_has_one_to_three_evidence_sentences_and_names_its_kind(self):
        for case in self.CASES:
            assert case["id"].startswith(f"{case['kind']}-")
            assert 1 <= len(case["evidence"]) <= 3
            assert all(text == text.strip() and text for text in [case["claim"], *case["evidence"]])
            assert set(case) <= {"id", "kind", "claim", "label", "evidence", "title"}

    def test_paraphrases_share_no_content_word_with_their_evidence(self):
        for case in (case for case in self.CASES if case["kind"] == "paraphrase"):
            evidence = content_words(" ".join(case["evidence"]))
            assert not content_words(case["claim"]) & evidence, case["id"]

    def test_pronoun_cases_come_with_the_sentence_before(self):
        assert all(len(case["evidence"]) == 2 for case in self.CASES if case["kind"] == "pronoun")


class TestOrdinary:
    CLAIMS = rows("ordinary/claims.jsonl")
    TEXTS = {path.name: document(path) for path in (SUITES / "ordinary" / "documents").iterdir()}

    def test_there_are_fifteen_documents_and_each_has_claims_of_every_label(self):
        assert len(self.TEXTS) == 15
        for name in self.TEXTS:
            assert {claim["label"] for claim in self.CLAIMS if claim["document"] == name} == LABELS, name

    def test_labels_have_about_their_stated_shares(self):
        counts = Counter(claim["label"] for claim in self.CLAIMS)
        shares = [counts[label] / len(self.CLAIMS) for label in (S, R, N)]
        assert shares == pytest.approx([0.45, 0.35, 0.20], abs=0.03)

    def test_kinds_are_those_of_the_behaviour_suite(self):
        assert {claim["kind"] for claim in self.CLAIMS} == {case["kind"] for case in TestBehaviour.CASES}

    def test_the_deciding_sentences_stand_word_for_word_in_the_document(self):
        for claim in self.CLAIMS:
            for sentence in claim["sentences"]:
                assert sentence in self.TEXTS[claim["document"]], claim["id"]

    def test_a_claim_has_deciding_sentences_unless_nothing_decides_it(self):
        for claim in self.CLAIMS:
            assert bool(claim["sentences"]) == (claim["label"] != N), claim["id"]

    def test_no_claim_copies_a_sentence(self):
        sentences = {normal(text) for claim in self.CLAIMS for text in claim["sentences"]}
        assert not sentences & {normal(claim["claim"]) for claim in self.CLAIMS}


def test_content_words_leave_out_function_words_and_endings():
    assert content_words("The dogs stopped; a dog's been stopping.") == {"dog", "stop"}
    assert content_words("Twelve walkers walked the nation's walks.") == {"twelv", "walk", "nation"}


class TestSecond:
    CLAIMS = rows("second/claims.jsonl")
    TEXTS = {path.name: words(document(path)) for path in (SUITES / "second" / "documents").iterdir()}

    def test_there_are_fifteen_documents_with_twelve_claims_each(self):
        counts = Counter(claim["document"] for claim in self.CLAIMS)
        assert counts.keys() == self.TEXTS.keys() and set(counts.values()) == {12}

    def test_kinds_are_those_of_the_behaviour_suite_and_labels_have_their_shares(self):
        assert {claim["kind"] for claim in self.CLAIMS} == {case["kind"] for case in TestBehaviour.CASES}
        assert Counter(claim["label"] for claim in self.CLAIMS) == {S: 72, R: 72, N: 36}

    def test_the_deciding_sentences_stand_in_the_document_and_no_claim_copies_one(self):
        for claim in self.CLAIMS:
            assert bool(claim["sentences"]) == (claim["label"] != N), claim["id"]
            for sentence in claim["sentences"]:  # rows of tables are given without their bars
                assert words(sentence) in self.TEXTS[claim["document"]], claim["id"]
                assert normal(sentence) != normal(claim["claim"])


class TestParaphrases:
    PAIRS = rows("paraphrases/pairs.jsonl")
    DISTRACTORS = (SUITES / "paraphrases" / "distractors.txt").read_text("utf-8").splitlines()

    def test_there_are_a_hundred_pairs_decided_both_ways_and_a_thousand_distractors(self):
        assert len(self.PAIRS) == 100 and len(self.DISTRACTORS) == 1000
        assert min(Counter(pair["label"] for pair in self.PAIRS).values()) >= 40
        assert {pair["label"] for pair in self.PAIRS} == {S, R}

    def test_claim_and_sentence_share_no_content_word(self):
        for pair in self.PAIRS:
            assert not content_words(pair["claim"]) & content_words(pair["sentence"]), pair["id"]

    def test_ids_claims_and_sentences_occur_once(self):
        assert duplicates([pair["id"] for pair in self.PAIRS]) == []
        sentences = [normal(pair["sentence"]) for pair in self.PAIRS]
        assert duplicates([*sentences, *map(normal, self.DISTRACTORS)]) == []
        assert duplicates([normal(pair["claim"]) for pair in self.PAIRS]) == []

    def test_a_distractor_is_a_sentence_of_its_own_and_no_variant_of_another(self):
        words = [content_words(text) for text in self.DISTRACTORS]
        assert duplicates([" ".join(sorted(stems)) for stems in words]) == []
        for text, stems in zip(self.DISTRACTORS, words, strict=True):
            assert text[0].isupper() and text[-1] in ".!?" and len(stems) >= 2, text

    def test_no_distractor_holds_all_content_words_of_a_claim(self):
        distractors = [content_words(text) for text in self.DISTRACTORS]
        for pair in self.PAIRS:
            stems = content_words(pair["claim"])
            assert not any(stems <= other for other in distractors), pair["id"]


class TestMultifile:
    CLAIMS = rows("multifile/claims.jsonl")
    TEXTS = {path.name: document(path) for path in (SUITES / "multifile" / "documents").iterdir()}

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [claim for claim in self.CLAIMS if claim["kind"] == kind]

    def test_there_are_twenty_claims_of_two_files_and_fifteen_with_a_pronoun(self):
        assert Counter(claim["kind"] for claim in self.CLAIMS) == {"two files": 20, "pronoun": 15}
        for kind in ("two files", "pronoun"):
            assert min(Counter(claim["label"] for claim in self.of_kind(kind)).values()) >= 6

    def test_ids_and_claims_occur_once(self):
        assert duplicates([claim["id"] for claim in self.CLAIMS]) == []
        assert duplicates([normal(claim["claim"]) for claim in self.CLAIMS]) == []

    def test_the_deciding_sentences_stand_word_for_word_and_once_in_their_documents(self):
        for claim in self.CLAIMS:
            for part in claim["sentences"]:
                assert self.TEXTS[part["document"]].count(part["sentence"]) == 1, claim["id"]

    def test_a_claim_of_two_files_names_one_sentence_of_each(self):
        for claim in self.of_kind("two files"):
            assert len({part["document"] for part in claim["sentences"]}) == 2 == len(claim["sentences"])

    def test_a_deciding_pronoun_is_explained_by_the_sentence_before_or_by_the_title(self):
        for claim in self.of_kind("pronoun"):
            deciding, *before = claim["sentences"]
            text = self.TEXTS[deciding["document"]]
            assert re.match(r"(It|She|He|They|The company) ", deciding["sentence"]), claim["id"]
            if before:
                assert f"{before[0]['sentence']} {deciding['sentence']}" in text, claim["id"]
            else:
                assert text.startswith(f"# {claim['title']}\n"), claim["id"]


class TestOffice:
    CLAIMS = rows("office/claims.jsonl")
    DOCUMENTS = SUITES / "office" / "documents"

    def test_there_are_five_claims_of_each_kind(self):
        counts = Counter(claim["kind"] for claim in self.CLAIMS)
        assert counts == {"cell": 5, "pronoun": 5, "two files": 5, "paraphrase": 5}
        assert Counter(claim["label"] for claim in self.CLAIMS) == {S: 13, R: 7}
        assert duplicates([claim["id"] for claim in self.CLAIMS]) == []

    def test_the_deciding_sentences_are_read_from_the_documents_named(self):
        texts: dict[str, list[str]] = {}
        for file in walk(self.DOCUMENTS, pytest.fail):
            pages = read_pages(file, pytest.fail)
            texts[file.path.name] = [sentence.text for page in pages for sentence in page.sentences]
        for claim in self.CLAIMS:
            for deciding in claim["sentences"]:
                assert any(deciding["sentence"] in text for text in texts[deciding["document"]]), deciding
            files = {deciding["document"] for deciding in claim["sentences"]}
            assert len(files) == (2 if claim["kind"] == "two files" else 1)
