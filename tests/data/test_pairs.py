from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from adjudge.data import formats
from adjudge.data.pairs import write_examples
from adjudge.errors import DataError
from adjudge.types import Evidence, Example

read_examples = partial(formats.read_examples, format="pairs")

VITAMIN = {
    "unique_id": "5ec_1",
    "case_id": "5ec",
    "page": "Alien (film)",
    "claim": "Alien made 100 million.",
    "evidence": "It made 106 million.",
    "label": "SUPPORTS",
}
SYMMETRIC = {
    "id": "70002",
    "label": "REFUTES",
    "claim": "Rome is new .",
    "evidence_sentence": "Rome is old .",
}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_both_spellings_of_a_pair_are_read(tmp_path: Path) -> None:
    anonymous = {"claim": "Rome is.", "evidence": "Rome exists.", "gold_label": "SUPPORTS"}
    assert list(read_examples(lines(tmp_path / "a.jsonl", VITAMIN, SYMMETRIC, anonymous))) == [
        Example(
            "5ec_1",
            "Alien made 100 million.",
            (Evidence("It made 106 million.", "Alien_-LRB-film-RRB-"),),
            "SUPPORTS",
        ),
        Example("70002", "Rome is new .", (Evidence("Rome is old ."),), "REFUTES"),
        Example(3, "Rome is.", (Evidence("Rome exists."),), "SUPPORTS"),  # its line is its id
    ]


def test_pairs_survive_writing(tmp_path: Path) -> None:
    examples = list(read_examples(lines(tmp_path / "a.jsonl", VITAMIN, SYMMETRIC)))
    examples.append(Example("none", "Nothing is known."))
    assert write_examples(tmp_path / "b.jsonl", examples) == 3
    assert list(read_examples(tmp_path / "b.jsonl")) == examples


def test_a_claim_may_have_several_sentences_and_a_title(tmp_path: Path) -> None:
    several = {
        "id": "fm2_1",
        "claim": "Rome is.",
        "label": "SUPPORTS",
        "evidence": ["a", " ", "b"],
        "title": "Rome (city)",
    }
    [example] = read_examples(lines(tmp_path / "a.jsonl", several))
    page = "Rome_-LRB-city-RRB-"
    assert example == Example("fm2_1", "Rome is.", (Evidence("a", page), Evidence("b", page)), "SUPPORTS")
    write_examples(tmp_path / "b.jsonl", [example])
    assert list(read_examples(tmp_path / "b.jsonl")) == [example]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (SYMMETRIC, "id '70002' was already used in line 1."),
        ({"claim": "Rome is.", "label": "SUPPORTS"}, "no field 'evidence'; found 'claim', 'label'."),
        (
            {"claim": "Rome is.", "evidence": ["a", 1], "label": "SUPPORTS"},
            "field 'evidence' is [\"a\",1], expected a text or a list of texts.",
        ),
        ({"claim": "Rome is.", "evidence": "a", "gold_label": "YES"}, "label 'YES' is not one of"),
        ({"claim": "Rome is.", "evidence": "a"}, "the claim has no label"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, record: object, message: str) -> None:
    path = lines(tmp_path / "a.jsonl", SYMMETRIC, record)
    with pytest.raises(DataError) as caught:
        list(read_examples(path, require_labels=True))
    assert str(caught.value).startswith(f"{path}:2: {message}")


@pytest.mark.parametrize(
    ("name", "count"), [("dev/fm2", 1_169), ("dev/contract_nli", 1_037), ("train/creak", 10_176)]
)
def test_real_pairs_are_all_read(shared_data, name: str, count: int) -> None:
    examples = list(formats.read_examples(shared_data / f"pairs/{name}.jsonl.gz", require_labels=True))
    assert len(examples) == count  # as their README counts them
    assert all(example.evidence for example in examples)
