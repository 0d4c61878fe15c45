from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from adjudge.data import formats
from adjudge.data.climate_fever import FORMAT
from adjudge.errors import DataError
from adjudge.types import Evidence, Example

read_examples = partial(formats.read_examples, format="climate-fever")

SENTENCE = {
    "evidence_id": "Alien: Covenant:14",
    "evidence_label": "SUPPORTS",
    "article": "Alien: Covenant",
    "evidence": "Seas rise.",
    "entropy": 0.0,
    "votes": ["SUPPORTS", None],
}
RECORD = {"claim_id": "5", "claim": "Seas are rising.", "claim_label": "DISPUTED", "evidences": [SENTENCE]}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_disputed_is_the_fourth_label() -> None:
    assert FORMAT.labels.names == ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO", "DISPUTED")
    assert FORMAT.labels.index("NOT_ENOUGH_INFO") == 2


def test_a_claim_has_its_sentences_with_article_and_line(tmp_path: Path) -> None:
    (example,) = read_examples(lines(tmp_path / "a.jsonl", RECORD))
    evidence = (Evidence("Seas rise.", "Alien-COLON-_Covenant", 14),)
    assert example == Example("5", "Seas are rising.", evidence, "DISPUTED")


def test_a_label_with_underscores_is_understood(tmp_path: Path) -> None:
    nothing = RECORD | {"claim_id": "6", "claim_label": "NOT_ENOUGH_INFO", "evidences": []}
    _, example = read_examples(lines(tmp_path / "a.jsonl", RECORD, nothing))
    assert example == Example("6", "Seas are rising.", (), "NOT ENOUGH INFO")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim_label": "TRUE"}, "label 'TRUE' is not one of SUPPORTS, REFUTES, NOT ENOUGH INFO, DISPUTED."),
        ({"claim_label": None}, "the claim has no label"),
        ({"claim_id": "1"}, "id '1' was already used in line 1."),
        ({"evidences": [SENTENCE | {"evidence_id": "Sea level"}]}, 'evidence {"evidence_id":"Sea level"'),
        ({"evidences": ["Seas rise."]}, 'evidence "Seas rise." has the wrong shape'),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, change: dict, message: str) -> None:
    path = lines(tmp_path / "a.jsonl", RECORD | {"claim_id": "1"}, RECORD | change)
    with pytest.raises(DataError) as caught:
        list(read_examples(path, require_labels=True))
    assert str(caught.value).startswith(f"{path}:2: {message}")
