from __future__ import annotations

import json

import pytest

from adjudge.errors import DataError
from adjudge.evaluation.submission import lint_submission
from adjudge.types import Claim

CLAIMS = [Claim(1, "a"), Claim(2, "b")]
FIRST = {"id": 1, "predicted_label": "SUPPORTS", "predicted_evidence": [["A", 0]]}
SECOND = {"id": 2, "predicted_label": "not enough info", "predicted_evidence": []}


def test_a_good_submission_has_no_problems(tmp_path):
    submission, claims = tmp_path / "predictions.jsonl", tmp_path / "test.jsonl"
    submission.write_text("".join(json.dumps(record) + "\n" for record in (FIRST, SECOND)))
    claims.write_text('{"id": 1, "claim": "a"}\n{"id": 2, "claim": "b"}\n')  # test files carry no labels
    assert lint_submission(submission, claims) == []
    assert lint_submission([FIRST, SECOND], CLAIMS) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predicted_label": "NEI"}, "prediction 1: predicted_label 'NEI' is not one of SUPPORTS, REFUTES"),
        ({"predicted_label": 1}, "predicted_label 1 is not one of"),
        ({"predicted_evidence": None}, "predicted_evidence is None, expected a list of [page, line]"),
        ({"predicted_evidence": [["A"]]}, 'predicted_evidence holds ["A"], expected [page, line]'),
        ({"predicted_evidence": [["A", "0"]]}, 'predicted_evidence holds ["A","0"]'),
        ({"predicted_evidence": [["", -1]]}, "names no sentence: ['', -1]"),
        ({"predicted_evidence": [["A", i] for i in range(6)]}, "has 6 sentences; the judge reads only 5"),
    ],
)
def test_each_slip_is_one_message(change, message):
    (problem,) = lint_submission([FIRST | change, SECOND], CLAIMS)
    assert message in problem


@pytest.mark.parametrize("key", ["predicted_label", "predicted_evidence"])
def test_a_missing_field_is_named(key):
    record = {name: value for name, value in FIRST.items() if name != key}
    (problem,) = lint_submission([record, SECOND], CLAIMS)
    assert problem.startswith(f"prediction 1: {key} is missing")


def test_missing_extra_and_repeated_ids_are_named():
    assert lint_submission([FIRST, FIRST, SECOND | {"id": 3}], CLAIMS) == [
        "Ids predicted more than once (1): 1.",
        "Claims without a prediction (1): 2.",
        "Predictions without a claim (1): 3.",
    ]


def test_the_first_place_out_of_order_is_named():
    (problem,) = lint_submission([SECOND, FIRST], CLAIMS)
    assert problem == "prediction 1: id 2 stands where the claims have 1; keep the claims' order."


def test_broken_lines_do_not_hide_what_follows(tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text('{"id": 1,\n[1]\n{"predicted_label": "MAYBE", "predicted_evidence": []}\n')
    problems = lint_submission(path, CLAIMS)
    assert [problem.removeprefix(f"{tmp_path}/").split(": ")[0] for problem in problems] == [
        "predictions.jsonl:1",
        "predictions.jsonl:2",
        "predictions.jsonl:3",  # no id
        "predictions.jsonl:3",  # no such label
        "Claims without a prediction (2)",
    ]


def test_a_missing_file_is_an_error_not_a_problem():
    with pytest.raises(DataError, match="no such file"):
        lint_submission("no-such-file.jsonl", CLAIMS)
