from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from adjudge.data import formats
from adjudge.data.scifact import read_claims_by_document, read_pages
from adjudge.errors import DataError
from adjudge.types import Claim, Page, Sentence, SentenceRef

read_claims = partial(formats.read_claims, format="scifact")

SUPPORTED = {
    "id": 1,
    "claim": "Aspirin thins blood.",
    "evidence": {"42": [{"sentences": [0, 2], "label": "SUPPORT"}, {"sentences": [5], "label": "SUPPORT"}]},
    "cited_doc_ids": [42, 43],
}
CONTRADICTED = {
    "id": 2,
    "claim": "Aspirin is blue.",
    "evidence": {"43": [{"sentences": [1], "label": "CONTRADICT"}]},
    "cited_doc_ids": [43],
}
OPEN = {"id": 3, "claim": "Aspirin sings.", "evidence": {}, "cited_doc_ids": [42]}
DISPUTED = {"id": 4, "claim": "Aspirin helps.", "evidence": SUPPORTED["evidence"] | CONTRADICTED["evidence"]}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_claims_speak_of_labels_and_gold_as_fever_does(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", SUPPORTED, CONTRADICTED, OPEN)
    both = (SentenceRef("42", 0), SentenceRef("42", 2))
    assert list(read_claims(path, require_labels=True)) == [
        Claim(1, "Aspirin thins blood.", "SUPPORTS", (both, (SentenceRef("42", 5),))),
        Claim(2, "Aspirin is blue.", "REFUTES", ((SentenceRef("43", 1),),)),
        Claim(3, "Aspirin sings.", "NOT ENOUGH INFO"),
    ]


def test_a_test_claim_has_no_label(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"id": 1, "claim": "Aspirin sings."})
    assert list(read_claims(path)) == [Claim(1, "Aspirin sings.")]
    with pytest.raises(DataError, match=r"a\.jsonl:1: the claim has no label"):
        list(read_claims(path, require_labels=True))


def test_documents_that_disagree_are_an_error_or_claims_of_their_own(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", DISPUTED)
    with pytest.raises(DataError, match=r"a\.jsonl:1: the evidence says REFUTES and SUPPORTS at once"):
        list(read_claims(path))
    claims = read_claims_by_document(path)
    assert [(claim.id, claim.label) for claim in claims] == [("4:42", "SUPPORTS"), ("4:43", "REFUTES")]


def test_a_cited_document_without_evidence_is_not_enough_info(tmp_path: Path) -> None:
    claims = read_claims_by_document(lines(tmp_path / "a.jsonl", SUPPORTED))
    assert [(claim.id, claim.label) for claim in claims] == [
        ("1:42", "SUPPORTS"),
        ("1:43", "NOT ENOUGH INFO"),
    ]


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        {"42": "SUPPORT"},
        {"42": [{"label": "SUPPORT"}]},
        {"42": [{"sentences": ["0"], "label": "SUPPORT"}]},
    ],
)
def test_evidence_of_the_wrong_shape_is_said_with_its_line(tmp_path: Path, evidence: object) -> None:
    path = lines(tmp_path / "a.jsonl", OPEN, SUPPORTED | {"evidence": evidence})
    with pytest.raises(DataError, match=r"a\.jsonl:2: evidence .* has the wrong shape, expected \{document:"):
        list(read_claims(path))


def test_a_wrong_label_is_said_with_its_line(tmp_path: Path) -> None:
    evidence = {"42": [{"sentences": [0], "label": "MAYBE"}]}
    path = lines(tmp_path / "a.jsonl", SUPPORTED | {"evidence": evidence})
    with pytest.raises(DataError, match=r"a\.jsonl:1: label 'MAYBE' is not one of SUPPORTS, REFUTES"):
        list(read_claims(path))


def test_abstracts_become_pages(tmp_path: Path) -> None:
    record = {
        "doc_id": 42,
        "title": "Aspirin",
        "abstract": ["It thins.", " ", "It helps."],
        "structured": False,
    }
    (page,) = read_pages(lines(tmp_path / "corpus.jsonl", record))
    assert page == Page("42", "Aspirin", (Sentence("It thins.", 0), Sentence("It helps.", 2)))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"title": "A", "abstract": []}, "no field 'doc_id'"),
        ({"doc_id": 1, "abstract": []}, "no field 'title'"),
        ({"doc_id": 1, "title": "A", "abstract": "One."}, "field 'abstract' is \"One.\", expected a list."),
        ({"doc_id": 1, "title": "A", "abstract": [1]}, "abstract sentence 1, expected text."),
        ({"doc_id": 0, "title": "A", "abstract": []}, "id 0 was already used in line 1."),
    ],
)
def test_a_wrong_abstract_is_said_with_its_line(tmp_path: Path, record: object, message: str) -> None:
    path = lines(tmp_path / "corpus.jsonl", {"doc_id": 0, "title": "Z", "abstract": []}, record)
    with pytest.raises(DataError) as caught:
        list(read_pages(path))
    assert str(caught.value).startswith(f"{path}:2: {message}")


def test_the_real_claims_point_into_the_real_corpus(shared_data) -> None:
    pages = {page.id: page for page in read_pages(shared_data / "scifact/corpus.jsonl.gz")}
    claims = list(read_claims(shared_data / "scifact/claims_train.jsonl.gz", require_labels=True))
    assert (len(pages), len(claims)) == (5_183, 809)
    # Counted in the raw JSON: 332 claims with SUPPORT only, 173 with CONTRADICT only, 304 with neither.
    assert Counter(claim.label for claim in claims) == {
        "SUPPORTS": 332,
        "REFUTES": 173,
        "NOT ENOUGH INFO": 304,
    }
    for claim in claims:
        for group in claim.gold:
            for ref in group:
                assert ref.line in {sentence.line for sentence in pages[ref.page].sentences}
