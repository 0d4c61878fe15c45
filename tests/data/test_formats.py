"""Every format, read as claims, examples, gold and predictions; what a format cannot give is refused clearly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.data.formats import (
    FORMATS,
    read_claim_texts,
    read_claims,
    read_examples,
    read_gold,
    read_predictions,
    recognise,
)
from adjudge.data.records import Entry, Format, Record
from adjudge.data.stats import dataset_stats
from adjudge.data.submissions import Prediction
from adjudge.errors import ConfigError, DataError
from adjudge.types import FEVER_LABELS, Claim, Evidence, Example, LabelSet
from format_samples import RECORDS, write_sample

WITHOUT_CLAIMS = "looks like a submission, which has predictions but no claims. Expected one of:"
WITHOUT_SENTENCES = "claims, which come without sentences: find evidence for them first"
WITHOUT_GOLD = "which has sentences but no gold groups"


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_every_format_is_tested() -> None:
    assert RECORDS.keys() == FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_recognised(tmp_path: Path, name: str) -> None:
    assert recognise(write_sample(tmp_path, name)) is FORMATS[name]


@pytest.mark.parametrize("name", FORMATS)
def test_claims_are_read_or_refused(tmp_path: Path, name: str) -> None:
    path = write_sample(tmp_path, name)
    if not FORMATS[name].has_claims:
        for read in (read_claims, read_claim_texts):
            with pytest.raises(
                DataError, match=WITHOUT_CLAIMS if read is read_claims else "no field 'claim'"
            ):
                list(read(path))
        return
    gold_label = None if FORMATS[name].predicts else "SUPPORTS"  # a verdict is not gold
    first, second = read_claims(path)
    assert (first.text, first.label, second.label) == ("Rome is old.", gold_label, gold_label and "REFUTES")
    assert bool(first.gold) == FORMATS[name].has_gold
    assert [(claim.id, claim.label) for claim in read_claim_texts(path)] == [
        (first.id, None),
        (second.id, None),
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_gold_groups_are_read_or_refused(tmp_path: Path, name: str) -> None:
    path = write_sample(tmp_path, name)
    if FORMATS[name].has_gold:
        assert [len(claim.gold) for claim in read_claims(path, require_gold=True)] == [1, 1]
        return
    message = (
        WITHOUT_CLAIMS
        if not FORMATS[name].has_claims
        else "predictions"
        if FORMATS[name].predicts
        else WITHOUT_GOLD
    )
    with pytest.raises(DataError, match=message):
        read_claims(path, require_gold=True)


@pytest.mark.parametrize("name", FORMATS)
def test_examples_are_read_or_refused(tmp_path: Path, name: str) -> None:
    path = write_sample(tmp_path, name)
    if FORMATS[name].has_sentences:
        first, _ = read_examples(path)
        assert (first.claim, [item.text for item in first.evidence]) == ("Rome is old.", ["Rome is old."])
        return
    with pytest.raises(DataError, match=WITHOUT_SENTENCES if FORMATS[name].has_claims else WITHOUT_CLAIMS):
        read_examples(path)


@pytest.mark.parametrize("name", FORMATS)
def test_labels_that_training_needs_are_gold(tmp_path: Path, name: str) -> None:
    path = write_sample(tmp_path, name)
    if FORMATS[name].has_sentences and not FORMATS[name].predicts:
        assert [example.label for example in read_examples(path, require_labels=True)] == [
            "SUPPORTS",
            "REFUTES",
        ]
        return
    with pytest.raises(DataError, match="looks like"):
        read_examples(path, require_labels=True)


@pytest.mark.parametrize("name", FORMATS)
def test_gold_is_read_or_refused(tmp_path: Path, name: str) -> None:
    path = write_sample(tmp_path, name)
    if not FORMATS[name].has_claims:
        with pytest.raises(DataError, match=WITHOUT_CLAIMS):
            read_gold(path)
        return
    truths = list(read_gold(path))
    assert [truth.label for truth in truths] == ["SUPPORTS", "REFUTES"]
    assert (truths[0].groups is not None) == FORMATS[name].has_gold


@pytest.mark.parametrize("name", FORMATS)
def test_predictions_are_read_from_any_format(tmp_path: Path, name: str) -> None:
    first, second = read_predictions(write_sample(tmp_path, name))
    assert (first.label, second.label) == ("SUPPORTS", "REFUTES")
    assert first.evidence is not None and len(first.evidence) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_counted_or_refused(tmp_path: Path, name: str) -> None:
    path = write_sample(tmp_path, name)
    if not FORMATS[name].has_claims:
        with pytest.raises(DataError, match=WITHOUT_CLAIMS):
            dataset_stats(path)
        return
    stats = dataset_stats(path)
    assert (stats.format, stats.total, stats.labels["SUPPORTS"], stats.with_evidence) == (name, 2, 1, 2)
    assert list(stats.labels) == list(FORMATS[name].labels)


def test_a_disputed_claim_keeps_its_label_or_is_counted_as_another(tmp_path: Path) -> None:
    disputed = RECORDS["climate-fever"][0] | {"claim_label": "DISPUTED"}
    path = lines(tmp_path / "a.jsonl", disputed)
    assert next(read_gold(path)).label == "DISPUTED"
    fewer = FORMATS["climate-fever"].labels.with_aliases({"disputed": "NOT ENOUGH INFO"})
    assert fewer == FEVER_LABELS and next(read_gold(path, fewer)).label == "NOT ENOUGH INFO"
    with pytest.raises(
        DataError,
        match="'DISPUTED' of climate-fever files is not one of .*\nTrain with .*--set 'data.labels=.*\"DISPUTED\".*"
        "--label 'DISPUTED=NOT ENOUGH INFO' to count it",
    ):
        next(read_gold(path, FEVER_LABELS))
    assert next(read_examples(path, labels=FEVER_LABELS, with_labels=False)).label is None


def test_a_formats_spellings_are_understood_in_a_set_of_ones_own(tmp_path: Path) -> None:
    two = LabelSet(("REFUTES", "SUPPORTS"))
    assert [truth.label for truth in read_gold(write_sample(tmp_path, "scifact"), two)] == [
        "SUPPORTS",
        "REFUTES",
    ]


def test_a_claim_without_evidence_is_a_fever_test_claim(tmp_path: Path) -> None:
    (claim,) = read_claims(lines(tmp_path / "a.jsonl", {"id": 1, "claim": "Rome is old."}))
    assert claim.label is None


@pytest.mark.parametrize("name", ["kgat", "pairs", "fever"])
def test_records_without_evidence_do_not_decide_the_format(tmp_path: Path, name: str) -> None:
    bare = [{"id": f"n{number}", "claim": "Rome.", "label": "REFUTES", "evidence": []} for number in range(3)]
    assert recognise(lines(tmp_path / "a.jsonl", *bare, *RECORDS[name] * 2)) is FORMATS[name]


def test_a_label_set_of_ones_own_replaces_the_formats(tmp_path: Path) -> None:
    labels = LabelSet(("TRUE", "FALSE"), {"SUPPORTS": "TRUE"})
    assert next(read_examples(write_sample(tmp_path, "kgat"), labels=labels)).label == "TRUE"


def test_the_list_of_sentences_can_be_chosen_in_kgat_files_only(tmp_path: Path) -> None:
    retrieved = RECORDS["kgat"][0] | {"retrieved": []}
    (example,) = read_examples(lines(tmp_path / "a.jsonl", retrieved), field="retrieved")
    assert example.evidence == ()
    with pytest.raises(ConfigError, match="KGAT files only; this one is pairs"):
        read_examples(write_sample(tmp_path, "pairs"), field="retrieved")


def test_the_format_can_be_named(tmp_path: Path) -> None:
    path = write_sample(tmp_path, "kgat")
    with pytest.raises(DataError, match="field 'evidence' is .* expected a text"):
        list(read_examples(path, format="pairs"))
    with pytest.raises(ConfigError, match="Format 'csv' is not one of verdicts, climate-fever, kgat, pairs"):
        read_examples(path, format="csv")


def test_an_unknown_format_is_said_with_what_was_found_and_what_is_known(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"statement": "Rome is old.", "verdict": "true"})
    with pytest.raises(DataError) as caught:
        read_examples(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:1: format not recognised from the fields 'statement', 'verdict'.")
    assert "kgat: id, claim, label, evidence: [[page, line, text, score], …]" in message


def test_an_empty_file_and_a_missing_one_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(DataError, match=r"empty\.jsonl: the file is empty"):
        read_examples(tmp_path / "empty.jsonl")
    with pytest.raises(DataError, match="no such file"):
        read_claims(tmp_path / "none.jsonl")


def test_an_empty_answer_is_read_from_a_file_of_verdicts(tmp_path: Path) -> None:
    empty = {
        "id": 1,
        "claim": "Rome is old.",
        "label": None,
        "probabilities": {},
        "evidence": [],
        "reason": "nothing",
    }
    path = lines(tmp_path / "a.jsonl", empty)
    assert list(read_predictions(path)) == [Prediction(1, "NOT ENOUGH INFO", ())]
    assert list(read_predictions(path, LabelSet(("yes", "no")))) == [Prediction(1, None, ())]


def test_the_real_files_are_recognised(shared_data) -> None:
    for name in ("train", "dev_gold", "dev_retrieved"):
        assert recognise(shared_data / f"fever/{name}.jsonl.gz") is FORMATS["kgat"]
    assert recognise(shared_data / "fever/dev_claims.jsonl.gz") is FORMATS["fever"]
    assert recognise(shared_data / "scifact/claims_train.jsonl.gz") is FORMATS["scifact"]
    for path in sorted((shared_data / "pairs").glob("*/*.jsonl.gz")):
        assert recognise(path) is FORMATS["pairs"], path


def test_a_format_of_ones_own_names_its_fields_and_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(record: Record, where: str) -> Entry:
        return Entry(record["verdict"], evidence=(Evidence(record["text"]),))

    form = Format(
        "mine",
        "key, statement, text",
        lambda r: "statement" in r,
        parse,
        LabelSet(("yes", "no")),
        ("key",),
        claim_field="statement",
        has_sentences=True,
    )
    monkeypatch.setattr("adjudge.data.formats.FORMATS", {**FORMATS, "mine": form})
    path = lines(
        tmp_path / "a.jsonl", {"key": "k", "statement": "Rome is old.", "text": "It is.", "verdict": "YES"}
    )
    assert list(read_examples(path)) == [Example("k", "Rome is old.", (Evidence("It is."),), "yes")]
    assert list(read_claim_texts(path)) == [Claim("k", "Rome is old.")]
    assert list(read_gold(path)) == [("k", "yes", None)]
    assert dataset_stats(path).labels == {"yes": 1, "no": 0}


def test_the_documentation_lists_every_format_and_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")
    table = page.partition("| format |")[2].partition("\n\n")[0]
    assert {line.split("`")[1] for line in table.splitlines()[2:]} == FORMATS.keys()
