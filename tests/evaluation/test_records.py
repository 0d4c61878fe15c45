from __future__ import annotations

import gzip
import json

import pytest

from adjudge.data.records import NOWHERE
from adjudge.data.submissions import Prediction
from adjudge.errors import DataError
from adjudge.evaluation.records import read_gold, read_predictions
from adjudge.evaluation.scoring import score
from adjudge.types import FEVER_LABELS, Claim, Evidence, Example, Label, LabelSet, SentenceRef, Verdict

A0, A1, B2 = SentenceRef("A", 0), SentenceRef("A", 1), SentenceRef("B", 2)


def predictions(*records):
    return list(read_predictions(records, FEVER_LABELS))


def truths(*records):
    return list(read_gold(records, FEVER_LABELS))


def test_every_form_of_one_prediction_reads_the_same():
    expected = Prediction(1, "SUPPORTS", (A0, B2))
    kgat = {"id": 1, "claim": "c", "label": "SUPPORTS", "evidence": [["A", 0, "t", 0.9], ["B", 2, "t", 0.1]]}
    evidence = (Evidence("t", "A", 0), Evidence("t", "B", 2))
    verdict_json = {
        "id": 1,
        "label": "SUPPORTS",
        "evidence": [{"page": "A", "line": 0}, {"page": "B", "line": 2}],
    }
    forms = [
        {"id": 1, "predicted_label": "supports", "predicted_evidence": [["A", 0], ["B", 2]]},
        kgat,
        verdict_json,
        {"id": 1, "label": "SUPPORTS", "evidence": [[[1, 2, "A", 0], [1, 2, "B", 2]]]},
        Prediction(1, "SUPPORTS", (A0, B2)),
        Verdict(1, "c", "SUPPORTS", {}, evidence),
        Example(1, "c", evidence, Label.SUPPORTS),
        Claim(1, "c", "SUPPORTS", ((A0, B2),)),
    ]
    assert predictions(*forms) == [expected] * len(forms)


def test_a_prediction_names_its_own_label_before_a_copied_gold_one():
    record = {
        "id": 1,
        "label": "REFUTES",
        "predicted_label": "SUPPORTS",
        "evidence": [],
        "predicted_evidence": [],
    }
    assert predictions(record)[0].label == "SUPPORTS"
    assert truths(record)[0].label == "REFUTES"


def test_absent_evidence_is_not_empty_evidence():
    bare = {"id": 1, "predicted_label": "NEI"}
    found = predictions(bare, bare | {"predicted_evidence": None}, bare | {"predicted_evidence": []})
    assert [prediction.evidence for prediction in found] == [None, None, ()]
    assert predictions(Prediction(1, "NEI", None))[0].evidence is None


def test_gold_claims_as_predictions_put_the_smallest_group_first():
    claim = Claim(1, "c", "SUPPORTS", ((A0, A1), (B2,), (A0, B2)))
    assert predictions(claim)[0].evidence == (B2, A0, A1)


def test_sentences_without_a_place_keep_their_rank():
    example = Example(1, "c", (Evidence("t"), Evidence("t", "A", -1), Evidence("t", "A", 0)), "REFUTES")
    assert predictions(example)[0].evidence == (NOWHERE, NOWHERE, A0)


def test_gold_groups_come_from_claims_and_fever_dicts():
    fever = {"id": 1, "label": "SUPPORTS", "evidence": [[[1, 2, "A", 0], [1, 2, "B", 2]], [[1, 3, "A", 1]]]}
    expected = (1, "SUPPORTS", ((A0, B2), (A1,)))
    assert truths(fever, Claim(1, "c", "SUPPORTS", ((A0, B2), (A1,)))) == [expected] * 2


def test_not_enough_info_is_written_in_two_ways():
    nulls = [1, None, None, None]
    grouped, bare = ({"id": 1, "label": "NEI", "evidence": evidence} for evidence in ([[nulls]], [nulls]))
    assert [truth.groups for truth in truths(grouped, bare)] == [((NOWHERE,),), ()]
    assert [prediction.evidence for prediction in predictions(grouped, bare)] == [(), ()]


def test_examples_as_gold_say_only_the_label():
    kgat = {"id": 1, "label": "REFUTES", "evidence": [["A", 0, "text", 1.0]]}
    found = truths(kgat, Example(1, "c", (Evidence("t", "A", 0),), "REFUTES"), {"id": 1, "label": "REFUTES"})
    assert found == [(1, "REFUTES", None)] * 3


def test_files_are_read_gzipped_or_not(tmp_path):
    plain, packed = tmp_path / "predictions.jsonl", tmp_path / "gold.jsonl.gz"
    plain.write_text(
        json.dumps({"id": 1, "predicted_label": "SUPPORTS", "predicted_evidence": [["A", 0]]}) + "\n\n"
    )
    gold = {"id": 1, "label": "SUPPORTS", "claim": "c", "evidence": [[[1, 2, "A", 0]]]}
    packed.write_bytes(gzip.compress(json.dumps(gold).encode()))
    assert score(plain, str(packed)).fever_score == 1


def test_other_label_sets_and_aliases_are_understood():
    labels = LabelSet(("YES", "NO"), {"SUPPORTED": "YES"})
    assert [p.label for p in read_predictions([{"id": 1, "predicted_label": "supported"}], labels)] == ["YES"]


SUBMITTED = {"id": 1, "predicted_label": "SUPPORTS"}
GOLD = {"id": 1, "label": "SUPPORTS"}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"predicted_label": "SUPPORTS"}, "prediction 1: no field 'id'; found 'predicted_label'"),
        ({"id": 1.5, "predicted_label": "SUPPORTS"}, "field 'id' is 1.5, expected a whole number or text"),
        ({"id": True, "predicted_label": "SUPPORTS"}, "field 'id' is true, expected"),
        ({"id": 1, "verdict": "SUPPORTS"}, "format not recognised from the fields 'id', 'verdict'"),
        (
            {"id": 1, "predicted_label": "SUPPORTED"},
            "prediction 1: label 'SUPPORTED' is not one of SUPPORTS, REF",
        ),
        ({"id": 1, "predicted_label": 3}, "label '3' is not one of"),
        (SUBMITTED | {"predicted_evidence": "A"}, "field 'predicted_evidence' is \"A\", expected a list"),
        (SUBMITTED | {"predicted_evidence": [["A", "0"]]}, r"holds \[\"A\",\"0\"\], expected \[page, line\]"),
        (SUBMITTED | {"predicted_evidence": [["A", True]]}, r"expected \[page, line\]"),
        (SUBMITTED | {"predicted_evidence": [["A", 0, "text"]]}, r"expected \[page, line\]"),
        (GOLD | {"evidence": [[1, 2, "A", 0]]}, "format not recognised"),
        (
            GOLD | {"evidence": [["A", None, "t", 0]]},
            r"is not a sentence, expected \[page, line, text, score\]",
        ),
        (17, "prediction 1: found int, expected a Prediction"),
    ],
)
def test_undocumented_predictions_are_refused_with_their_place(record, message):
    with pytest.raises(DataError, match=message):
        predictions(record)


@pytest.mark.parametrize(
    ("labels", "counted"), [(FEVER_LABELS, "NOT ENOUGH INFO"), (LabelSet(("A", "B")), None)]
)
def test_an_empty_answer_counts_as_the_neutral_label_where_there_is_one(labels, counted):
    empty = [
        {"id": 1, "predicted_label": None},
        {"id": 2, "label": None, "evidence": []},
        Verdict(3, "c", None, {}),
    ]
    assert [p.label for p in read_predictions(empty, labels)] == [counted] * 3


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"id": 1}, "gold claim 1: format not recognised from the fields 'id'"),
        ({"id": 1, "claim": "c"}, "gold claim 1: the claim has no label"),
        ({"id": 1, "predicted_label": "REFUTES"}, "a submission, which has predictions but no claims"),
        (Claim(1, "c"), "the claim has no label"),
        (
            GOLD | {"evidence": [[["A", 0]]]},
            r"\[\"A\",0\] is not a group of gold sentences, expected \[\[annotation id, evidence id, page, line\]",
        ),
        (GOLD | {"evidence": [[[1, 2, 3, 0]]]}, "expected ..annotation id"),
        (GOLD | {"evidence": [[[1, 2, "A", 0]], "B"]}, "format not recognised"),
        (Prediction(1, "SUPPORTS", ()), "found Prediction, expected a Claim"),
    ],
)
def test_undocumented_gold_is_refused_with_its_place(record, message):
    with pytest.raises(DataError, match=message):
        truths(record)


def test_errors_in_files_name_the_line(tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text('{"id": 1, "predicted_label": "REFUTES"}\n\n{"id": 2, "predicted_label": "MAYBE"}\n')
    with pytest.raises(DataError, match=r"predictions\.jsonl:3: label 'MAYBE'"):
        list(read_predictions(path, FEVER_LABELS))
