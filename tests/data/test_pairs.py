from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.data.pairs import read_examples, write_examples
from adjudge.errors import DataError
from adjudge.types import Evidence, Example

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


def test_a_claim_with_two_sentences_is_no_pair(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Claim 1 has 2 sentences; a file of pairs holds one each"):
        write_examples(tmp_path / "b.jsonl", [Example(1, "Rome is.", (Evidence("a"), Evidence("b")))])


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (SYMMETRIC, "id '70002' was already used in line 1."),
        ({"claim": "Rome is.", "label": "SUPPORTS"}, "no field 'evidence'; found 'claim', 'label'."),
        (
            {"claim": "Rome is.", "evidence": ["a"], "label": "SUPPORTS"},
            "field 'evidence' is [\"a\"], expected text.",
        ),
        ({"claim": "Rome is.", "evidence": "a", "gold_label": "YES"}, "label 'YES' is not one of"),
        ({"claim": "Rome is.", "evidence": "a"}, "the claim has no label (field 'label')"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, record: object, message: str) -> None:
    path = lines(tmp_path / "a.jsonl", SYMMETRIC, record)
    with pytest.raises(DataError) as caught:
        list(read_examples(path, require_labels=True))
    assert str(caught.value).startswith(f"{path}:2: {message}")
