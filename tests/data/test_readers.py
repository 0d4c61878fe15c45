from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.data.readers import (
    CLAIM_FORMATS,
    EXAMPLE_FORMATS,
    read_claims_any,
    read_examples_any,
    recognise,
)
from adjudge.errors import ConfigError, DataError
from adjudge.types import LabelSet

CLAIM = {"id": 1, "claim": "Rome is old.", "label": "SUPPORTS"}
SENTENCE = {"evidence_id": "Rome:0", "article": "Rome", "evidence": "Rome is old."}
EXAMPLES = {
    "kgat": CLAIM | {"evidence": [["Rome", 0, "Rome is old.", 1.0]], "retrieved": []},
    "pairs": CLAIM | {"evidence_sentence": "Rome is old."},
    "climate-fever": {
        "claim_id": "1",
        "claim": "Rome is old.",
        "claim_label": "SUPPORTS",
        "evidences": [SENTENCE],
    },
}
CLAIMS = {
    "fever": CLAIM | {"evidence": [[[1, 2, "Rome", 0]]]},
    "scifact": {
        "id": 1,
        "claim": "Rome is old.",
        "evidence": {"1": [{"sentences": [0], "label": "SUPPORT"}]},
    },
}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_read_whatever_their_format(tmp_path: Path, name: str) -> None:
    path = lines(tmp_path / "a.jsonl", EXAMPLES[name])
    assert recognise(path, EXAMPLE_FORMATS) == name
    assert recognise(path, CLAIM_FORMATS) is None
    (example,) = read_examples_any(path, require_labels=True)
    assert (example.claim, example.label) == ("Rome is old.", "SUPPORTS")
    assert [item.text for item in example.evidence] == ["Rome is old."]


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_are_read_whatever_their_format(tmp_path: Path, name: str) -> None:
    path = lines(tmp_path / "a.jsonl", CLAIMS[name])
    assert recognise(path, CLAIM_FORMATS) == name
    assert recognise(path, EXAMPLE_FORMATS) is None
    (claim,) = read_claims_any(path, require_labels=True)
    assert (claim.text, claim.label, len(claim.gold)) == ("Rome is old.", "SUPPORTS", 1)


def test_every_format_is_tested() -> None:
    assert EXAMPLES.keys() == EXAMPLE_FORMATS.keys()
    assert CLAIMS.keys() == CLAIM_FORMATS.keys()


def test_a_claim_without_evidence_is_a_fever_test_claim(tmp_path: Path) -> None:
    (claim,) = read_claims_any(lines(tmp_path / "a.jsonl", {"id": 1, "claim": "Rome is old."}))
    assert claim.label is None


def test_a_label_set_of_ones_own_replaces_the_formats(tmp_path: Path) -> None:
    labels = LabelSet(("TRUE", "FALSE"), {"SUPPORTS": "TRUE"})
    (example,) = read_examples_any(lines(tmp_path / "a.jsonl", EXAMPLES["kgat"]), labels=labels)
    assert example.label == "TRUE"


def test_the_list_of_sentences_can_be_chosen_in_kgat_files_only(tmp_path: Path) -> None:
    (example,) = read_examples_any(lines(tmp_path / "a.jsonl", EXAMPLES["kgat"]), field="retrieved")
    assert example.evidence == ()
    with pytest.raises(ConfigError, match="KGAT files only; this one is pairs"):
        read_examples_any(lines(tmp_path / "b.jsonl", EXAMPLES["pairs"]), field="retrieved")


def test_the_format_can_be_said(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", EXAMPLES["kgat"])
    with pytest.raises(DataError, match="field 'evidence' is .* expected text"):
        list(read_examples_any(path, format="pairs"))
    with pytest.raises(ConfigError, match="Format 'csv' is not one of climate-fever, pairs, kgat"):
        read_examples_any(path, format="csv")


def test_an_unknown_format_is_said_with_what_was_found_and_what_is_known(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"statement": "Rome is old.", "verdict": "true"})
    with pytest.raises(DataError) as caught:
        read_examples_any(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:1: format not recognised from the fields 'statement', 'verdict'.")
    assert "kgat: id, claim, label, evidence: [[page, line, text, score], …]" in message


def test_a_file_of_the_other_kind_is_recognised_as_such(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="It looks like fever claims, .* find evidence for them first"):
        read_examples_any(lines(tmp_path / "a.jsonl", CLAIMS["fever"]))
    with pytest.raises(DataError, match="It looks like kgat, which has sentences but no gold groups"):
        read_claims_any(lines(tmp_path / "b.jsonl", EXAMPLES["kgat"]))


def test_an_empty_file_and_a_missing_one_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(DataError, match=r"empty\.jsonl: the file is empty"):
        read_examples_any(tmp_path / "empty.jsonl")
    with pytest.raises(DataError, match="no such file"):
        read_claims_any(tmp_path / "none.jsonl")


def test_the_real_files_are_recognised(shared_data) -> None:
    for name in ("train", "dev_gold", "dev_retrieved"):
        assert recognise(shared_data / f"fever/{name}.jsonl.gz", EXAMPLE_FORMATS) == "kgat"
    assert recognise(shared_data / "fever/dev_claims.jsonl.gz", CLAIM_FORMATS) == "fever"
    assert recognise(shared_data / "scifact/claims_train.jsonl.gz", CLAIM_FORMATS) == "scifact"
