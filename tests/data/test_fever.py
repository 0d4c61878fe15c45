from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from adjudge.data import formats
from adjudge.data.fever import write_claims
from adjudge.data.submissions import Prediction, write_submission
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, Claim, Evidence, SentenceRef, Verdict

read_claims = partial(formats.read_claims, format="fever")

ROME = {
    "id": 7,
    "claim": "Rome is old.",
    "label": "SUPPORTS",
    "verifiable": "VERIFIABLE",
    "evidence": [[[1, 2, "Rome", 0]], [[3, 4, "Rome", 2], [3, 5, "Age", 1]]],
}
NOTHING = {
    "id": 8,
    "claim": "Rome is red.",
    "label": "NOT ENOUGH INFO",
    "evidence": [[[9, None, None, None]]],
}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_gold_is_alternatives_of_sentences_needed_together(tmp_path: Path) -> None:
    (claim,) = read_claims(lines(tmp_path / "dev.jsonl", ROME))
    assert claim == Claim(
        7,
        "Rome is old.",
        "SUPPORTS",
        ((SentenceRef("Rome", 0),), (SentenceRef("Rome", 2), SentenceRef("Age", 1))),
    )


def test_not_enough_info_has_no_gold_in_either_notation(tmp_path: Path) -> None:
    flat = NOTHING | {"id": 9, "evidence": [[9, None, None, None]]}
    claims = list(read_claims(lines(tmp_path / "dev.jsonl", NOTHING, flat)))
    assert [claim.gold for claim in claims] == [(), ()]


def test_a_test_file_gives_claims_without_label_and_gold(tmp_path: Path) -> None:
    path = lines(tmp_path / "test.jsonl", {"id": 1, "claim": "Rome is old."})
    assert list(read_claims(path)) == [Claim(1, "Rome is old.")]
    with pytest.raises(DataError, match=r"test\.jsonl:1: the claim has no label"):
        list(read_claims(path, require_labels=True))


def test_labels_are_read_in_the_spelling_of_the_set(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", ROME | {"label": "supports"}, NOTHING | {"label": "yes"})
    labels = FEVER_LABELS.with_aliases({"YES": "REFUTES"})
    assert [claim.label for claim in read_claims(path, labels=labels)] == ["SUPPORTS", "REFUTES"]


def test_labels_may_be_whole_numbers_that_are_named(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", ROME | {"label": 0}, NOTHING | {"label": 2})
    claims = read_claims(path, aliases={"0": "SUPPORTS", "1": "REFUTES", "2": "NOT ENOUGH INFO"})
    assert [claim.label for claim in claims] == ["SUPPORTS", "NOT ENOUGH INFO"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            ROME | {"label": "SUPPORTED"},
            "label 'SUPPORTED' is not one of SUPPORTS, REFUTES, NOT ENOUGH INFO.\n"
            "If your file names them differently, pass --label SUPPORTED=SUPPORTS.",
        ),
        (ROME | {"label": 1}, "label '1' is not one of SUPPORTS, REFUTES, NOT ENOUGH INFO."),
        (ROME | {"label": True}, "label true is not one of SUPPORTS, REFUTES, NOT ENOUGH INFO."),
        (ROME | {"claim": " "}, "the claim is empty."),
        (ROME | {"claim": ["Rome"]}, "field 'claim' is [\"Rome\"], expected text."),
        ({"id": 7, "label": "SUPPORTS"}, "no field 'claim'; found 'id', 'label'."),
        ({"claim": "Rome is old."}, "no field 'id'; found 'claim'."),
        (ROME | {"id": None}, "field 'id' is null, expected a whole number or text."),
        (ROME | {"id": True}, "field 'id' is true, expected a whole number or text."),
        (ROME | {"evidence": "Rome"}, "field 'evidence' is \"Rome\", expected a list."),
        (ROME | {"evidence": [["Rome", 0]]}, 'evidence "Rome" is not a group of gold sentences'),
        (ROME | {"evidence": [[[1, 2, "Rome", "0"]]]}, 'evidence [1,2,"Rome","0"] is not a group'),
        (
            ROME | {"evidence": [[[1, 2, "Rome", 0], [1, 2, None, None]]]},
            'evidence [["Rome",0],["",-1]] is not a group of gold sentences',
        ),
        ({"id": 1, "claim": "Rome is old."}, "id 1 was already used in line 1. Ids must be unique."),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, record: object, message: str) -> None:
    path = lines(tmp_path / "dev.jsonl", {"id": 1, "claim": "Rome is new."}, record)
    with pytest.raises(DataError) as caught:
        list(read_claims(path))
    assert str(caught.value).startswith(f"{path}:2: {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 1,', "not valid JSON (Input data was truncated), expected an object on each line."),
        (
            "[",
            "not valid JSON (Input data was truncated), expected an object on each line. Of a file that is one",
        ),
        (
            "[1]",
            "expected a JSON object on each line, found list. Of a file that is one JSON list, jq -c '.[]'",
        ),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text(json.dumps(ROME) + "\n\n" + line + "\n")  # the blank line counts, and is no error
    with pytest.raises(DataError) as caught:
        list(read_claims(path))
    assert str(caught.value).startswith(f"{path}:3: {message}")


def test_a_missing_file_and_a_directory_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        list(read_claims(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match="is a directory"):
        list(read_claims(tmp_path))


@pytest.mark.parametrize("name", ["claims.jsonl", "claims.jsonl.gz"])
def test_claims_survive_writing(tmp_path: Path, name: str) -> None:
    claims = list(read_claims(lines(tmp_path / "dev.jsonl", ROME, NOTHING, {"id": "t", "claim": "Ünd?"})))
    assert write_claims(tmp_path / name, claims) == 3
    assert list(read_claims(tmp_path / name)) == claims
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith("gz")


def test_written_claims_have_the_fields_of_the_official_file(tmp_path: Path) -> None:
    claims = list(read_claims(lines(tmp_path / "dev.jsonl", ROME, NOTHING)))
    write_claims(tmp_path / "out.jsonl", claims)
    rome, nothing = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert rome.keys() == ROME.keys()
    assert rome["evidence"][1] == [[None, None, "Rome", 2], [None, None, "Age", 1]]
    assert nothing["verifiable"] == "NOT VERIFIABLE"
    assert nothing["evidence"] == [[[None, None, None, None]]]


def test_a_failing_writer_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = lines(tmp_path / "dev.jsonl", ROME)
    before = path.read_bytes()

    def claims():
        yield Claim(1, "One.")
        raise DataError("no more")

    with pytest.raises(DataError, match="no more"):
        write_claims(path, claims())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_submissions_survive_writing_and_may_be_labels_alone(tmp_path: Path) -> None:
    predictions = [
        Prediction(1, "SUPPORTS", (SentenceRef("Rome", 0), SentenceRef("Age", 3))),
        Prediction("b", "NOT ENOUGH INFO", ()),
        Prediction(3, "REFUTES"),
    ]
    assert write_submission(tmp_path / "out.jsonl", predictions) == 3
    assert list(formats.read_predictions(tmp_path / "out.jsonl")) == predictions
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[2]) == {
        "id": 3,
        "predicted_label": "REFUTES",
    }


def test_a_verdict_is_submitted_with_the_sentences_whose_place_is_known(tmp_path: Path) -> None:
    evidence = (Evidence("Rome is old.", "Rome", 0), Evidence("So they say."))
    verdict = Verdict(1, "Rome is old.", "SUPPORTS", {"SUPPORTS": 1.0}, evidence)
    write_submission(tmp_path / "out.jsonl", [verdict])
    assert list(formats.read_predictions(tmp_path / "out.jsonl")) == [
        Prediction(1, "SUPPORTS", (SentenceRef("Rome", 0),))
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"id": 1, "predicted_label": "MAYBE"}, "label 'MAYBE' is not one of"),
        (
            {"id": 1, "predicted_label": "SUPPORTS", "predicted_evidence": [["Rome"]]},
            'predicted_evidence holds ["Rome"], expected [page, line]',
        ),
    ],
)
def test_a_wrong_submission_is_said_with_its_line(tmp_path: Path, record: object, message: str) -> None:
    path = lines(tmp_path / "out.jsonl", record)
    with pytest.raises(DataError) as caught:
        list(formats.read_predictions(path))
    assert str(caught.value).startswith(f"{path}:1: {message}")


def test_the_real_dev_claims_survive_writing(shared_data, tmp_path: Path) -> None:
    claims = list(read_claims(shared_data / "fever/dev_claims.jsonl.gz", require_labels=True))
    assert len(claims) == 10_075
    assert all(bool(claim.gold) == (claim.label != "NOT ENOUGH INFO") for claim in claims)
    write_claims(tmp_path / "dev.jsonl.gz", claims)
    assert list(read_claims(tmp_path / "dev.jsonl.gz")) == claims


def test_a_submission_takes_no_evidence_that_gold_helped_to_find(tmp_path: Path) -> None:
    verdict = Verdict(7, "Rome is old.", "SUPPORTS", {"SUPPORTS": 1.0}, gold_injected=True)
    with pytest.raises(DataError, match="Claim 7: .* without --inject-gold"):
        write_submission(tmp_path / "s.jsonl", [verdict])
    assert list(tmp_path.iterdir()) == []
