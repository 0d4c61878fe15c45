from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import Any

import pytest

from adjudge.data.submissions import Prediction
from adjudge.errors import AdjudgeError, ConfigError, DataError, ScoringError
from adjudge.evaluation.scoring import (
    ClassScores,
    contradiction_rows,
    outcomes,
    score,
    scores_from_matrix,
)
from adjudge.evaluation.statistics import bootstrap, ratio
from adjudge.types import LabelSet

S, R, N = "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"


def gold(id: int, label: str, *groups: list[tuple[str, int]]) -> dict[str, Any]:
    return {"id": id, "label": label, "evidence": [[[1, 2, p, n] for p, n in group] for group in groups]}


def answer(id: int, label: str, *refs: tuple[str, int]) -> dict[str, Any]:
    return {"id": id, "predicted_label": label, "predicted_evidence": [list(ref) for ref in refs]}


NEI_GOLD = {"id": 9, "label": N, "evidence": [[[1, None, None, None]]]}


def test_a_right_label_with_the_gold_sentence_scores_on_everything():
    scores = score([answer(1, S, ("Paris", 0))], [gold(1, S, [("Paris", 0)])])
    assert (scores.label_accuracy, scores.fever_score) == (1, 1)
    assert (scores.evidence_precision, scores.evidence_recall, scores.evidence_f1) == (1, 1, 1)


def test_a_right_label_without_the_gold_sentence_scores_on_the_label_alone():
    scores = score([answer(1, S, ("Paris", 1))], [gold(1, S, [("Paris", 0)])])
    assert (scores.label_accuracy, scores.fever_score) == (1, 0)
    # P + R = 0 leaves F1 undefined; it counts as 0.
    assert (scores.evidence_precision, scores.evidence_recall, scores.evidence_f1) == (0, 0, 0)


def test_a_group_of_two_counts_only_when_both_are_found():
    truth = [gold(1, R, [("Paris", 0), ("France", 3)])]
    half = score([answer(1, R, ("Paris", 0))], truth)
    assert (half.fever_score, half.evidence_precision, half.evidence_recall) == (0, 1, 0)
    whole = score([answer(1, R, ("France", 3), ("Rome", 1), ("Paris", 0))], truth)
    assert (whole.fever_score, whole.evidence_precision, whole.evidence_recall) == (1, 2 / 3, 1)


def test_halves_of_different_groups_do_not_make_a_whole():
    truth = [gold(1, S, [("A", 0), ("B", 0)], [("C", 0), ("D", 0)])]
    scores = score([answer(1, S, ("A", 0), ("C", 0))], truth)
    assert (scores.fever_score, scores.evidence_precision, scores.evidence_recall) == (0, 1, 0)


def test_any_one_of_the_alternatives_suffices():
    truth = [gold(1, S, [("A", 0), ("B", 0)], [("C", 0)])]
    assert score([answer(1, S, ("C", 0))], truth).fever_score == 1


def test_the_sixth_sentence_comes_too_late():
    truth = [gold(1, S, [("Gold", 0)])]
    six = answer(1, S, *[("Other", line) for line in range(5)], ("Gold", 0))
    late = score([six], truth)
    assert (late.fever_score, late.evidence_precision, late.evidence_recall) == (0, 0, 0)
    unlimited = score([six], truth, k=None)
    assert (unlimited.fever_score, unlimited.evidence_precision, unlimited.evidence_recall) == (1, 1 / 6, 1)
    assert score([six], truth, k=6) == unlimited


def test_a_wrong_label_with_right_evidence_earns_the_evidence_figures_only():
    scores = score([answer(1, R, ("A", 0))], [gold(1, S, [("A", 0)])])
    assert (scores.label_accuracy, scores.fever_score, scores.evidence_f1) == (0, 0, 1)


def test_not_enough_info_needs_no_evidence_and_does_not_enter_the_evidence_figures():
    predictions = [answer(9, N, ("Anything", 1)), answer(1, S, ("A", 0), ("A", 1))]
    scores = score(predictions, [NEI_GOLD, gold(1, S, [("A", 0)])])
    assert (scores.label_accuracy, scores.fever_score) == (1, 1)
    assert (scores.evidence_precision, scores.evidence_recall) == (0.5, 1)


def test_predicting_no_evidence_is_precise_and_recalls_nothing():
    scores = score([answer(1, S)], [gold(1, S, [("A", 0)])])
    assert (scores.fever_score, scores.evidence_precision, scores.evidence_recall) == (0, 1, 0)


def test_a_sentence_given_twice_counts_twice_for_precision():
    scores = score([answer(1, S, ("A", 0), ("A", 0), ("B", 0))], [gold(1, S, [("A", 0)])])
    assert scores.evidence_precision == pytest.approx(2 / 3)


def test_evidence_figures_are_averages_over_claims():
    truth = [gold(1, S, [("A", 0)]), gold(2, R, [("B", 0)])]
    scores = score([answer(1, S, ("A", 0)), answer(2, R, ("B", 0), *[("X", i) for i in range(3)])], truth)
    assert scores.evidence_precision == (1 + 1 / 4) / 2  # not 2 hits of 5 sentences
    assert scores.evidence_f1 == pytest.approx(2 * 0.625 / 1.625)


def test_a_verifiable_claim_without_groups_is_recalled_but_never_strictly_right():
    scores = score([answer(1, S, ("A", 0)), answer(2, S)], [gold(1, S, [("A", 0)]), gold(2, S)])
    assert (scores.fever_score, scores.evidence_recall) == (0.5, 1)


def test_a_group_with_an_unknown_sentence_cannot_be_found():
    truth = [{"id": 1, "label": S, "evidence": [[[1, 2, "A", 0], [1, 2, None, None]]]}]
    scores = score([answer(1, S, ("A", 0), ("", -1))], truth)
    assert (scores.fever_score, scores.evidence_precision, scores.evidence_recall) == (0, 0.5, 0)


def test_gold_without_verifiable_claims_follows_the_official_scorer():
    scores = score([answer(9, N)], [NEI_GOLD])
    assert (scores.fever_score, scores.evidence_precision, scores.evidence_recall) == (1, 1, 0)
    assert scores.evidence_f1 == 0


def test_labels_compare_without_case():
    assert score([answer(1, "supports", ("A", 0))], [gold(1, "Supports", [("A", 0)])]).fever_score == 1


def test_predictions_join_gold_by_id_whatever_the_order():
    truth = [gold(1, S, [("A", 0)]), gold(2, R, [("B", 0)]), NEI_GOLD]
    predictions = [answer(9, N), answer(2, R, ("B", 0)), answer(1, S, ("A", 0))]
    assert score(predictions, truth).fever_score == 1
    assert [outcome.id for outcome in outcomes(predictions, truth)] == [1, 2, 9]


def test_missing_extra_and_repeated_ids_are_all_named():
    with pytest.raises(ScoringError) as caught:
        score(
            [answer(1, S), answer(1, S), answer(7, S), answer(8, S)],
            [gold(1, S), gold(2, S), gold(3, S), gold(3, S)],
        )
    assert str(caught.value).splitlines() == [
        "4 predictions do not match 4 gold claims one to one.",
        "Ids predicted more than once (1): 1.",
        "Ids of more than one claim (1): 3.",
        "Claims without a prediction (2): 2, 3.",
        "Predictions without a claim (2): 7, 8.",
    ]


def test_at_most_ten_ids_are_named():
    with pytest.raises(ScoringError, match=r"prediction \(13\): 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 more\."):
        score([answer(99, S)], [*[gold(i, S) for i in range(13)], gold(99, S)])


def test_ids_as_text_on_one_side_get_a_hint():
    with pytest.raises(ScoringError, match="numbers, the other as text"):
        score([{"id": "1", "predicted_label": S}], [gold(1, S)])


def test_nothing_to_score_is_an_error():
    with pytest.raises(ScoringError, match="no claims"):
        score([], [])


def test_inputs_stay_as_they_were():
    predictions, truth = [answer(1, "supports", *[("A", i) for i in range(7)])], [gold(1, S, [("A", 0)])]
    before = copy.deepcopy((predictions, truth))
    score(predictions, truth)
    assert (predictions, truth) == before


def test_label_only_predictions_score_labels_alone():
    scores = score([{"id": 1, "predicted_label": S}], [gold(1, S, [("A", 0)])])
    assert scores.label_accuracy == 1
    assert (scores.fever_score, scores.evidence_precision, scores.evidence_recall) == (None, None, None)


def test_label_only_gold_scores_labels_alone():
    assert score([answer(1, S, ("A", 0))], [{"id": 1, "label": S}]).fever_score is None


def test_evidence_on_some_predictions_only_is_refused():
    with pytest.raises(ScoringError, match=r"1 of 2 predictions have no evidence field: 2\."):
        score(
            [answer(1, S, ("A", 0)), {"id": 2, "predicted_label": S}],
            [gold(1, S, [("A", 0)]), gold(2, S, [("A", 0)])],
        )


def test_groups_on_some_gold_claims_only_are_refused():
    with pytest.raises(ScoringError, match=r"1 of 2 verifiable gold claims have no evidence groups: 2\."):
        score(
            [answer(1, S), answer(2, S), answer(9, N)],
            [gold(1, S, [("A", 0)]), {"id": 2, "label": S}, NEI_GOLD],
        )


def test_k_must_count_something():
    with pytest.raises(ScoringError, match="k = 0"):
        score([answer(1, S)], [gold(1, S)], k=0)


def test_the_matrix_has_gold_rows_and_predicted_columns():
    truth = [gold(1, S), gold(2, S), gold(3, R), gold(4, N)]
    scores = score([answer(1, S), answer(2, R), answer(3, N), answer(4, R)], truth)
    assert scores.confusion == ((1, 1, 0), (0, 0, 1), (0, 1, 0))
    assert (scores.n, scores.labels, scores.label_accuracy) == (4, (S, R, N), 0.25)


def test_figures_of_a_matrix_by_hand():
    scores = scores_from_matrix([[6, 3, 1], [2, 7, 1], [4, 0, 6]])
    assert scores.label_accuracy == pytest.approx(19 / 30)
    assert scores.contradiction_rate == (3 + 2) / 20
    assert scores.per_class[S] == ClassScores(6 / 12, 6 / 10, pytest.approx(2 * 0.5 * 0.6 / 1.1), 10)
    assert scores.per_class[N] == ClassScores(6 / 8, 6 / 10, pytest.approx(2 * 0.75 * 0.6 / 1.35), 10)


def test_a_label_never_predicted_and_never_gold_has_zeros():
    scores = scores_from_matrix([[0, 0, 0], [0, 0, 0], [3, 0, 1]])
    assert scores.per_class[R] == (0, 0, 0, 0)
    assert scores.contradiction_rate is None  # no claim could be contradicted


def test_other_label_sets_name_their_own_contradictions():
    sides = LabelSet(("FOR", "AGAINST", "MIXED", "SILENT"))
    matrix = [[5, 1, 2, 0], [1, 5, 0, 0], [0, 0, 4, 4], [9, 9, 0, 0]]
    assert scores_from_matrix(matrix, sides).contradiction_rate is None
    pairs = [("for", "against"), ("AGAINST", "FOR"), ("FOR", "MIXED")]
    # 1 + 1 between FOR and AGAINST, counted once, 2 + 0 between FOR and MIXED; 8 + 6 + 8 claims.
    assert scores_from_matrix(matrix, sides, contradictory=pairs).contradiction_rate == pytest.approx(4 / 22)
    with pytest.raises(DataError, match="'SUPPORTS' is not one of FOR"):
        scores_from_matrix(matrix, sides, contradictory=[("SUPPORTS", "FOR")])
    with pytest.raises(ConfigError, match="cannot contradict itself"):
        scores_from_matrix(matrix, sides, contradictory=[("FOR", "for")])


def test_other_label_sets_name_the_label_that_needs_no_evidence():
    labels = LabelSet(("true", "false", "unknown"))
    truth = [gold(1, "true", [("A", 0)]), gold(2, "unknown")]
    predictions = [answer(1, "true", ("A", 0)), answer(2, "unknown")]
    assert score(predictions, truth, labels).fever_score == 0.5
    assert score(predictions, truth, labels, unverifiable="Unknown").fever_score == 1
    with pytest.raises(DataError, match="'NEI' is not one of true"):
        score(predictions, truth, labels, unverifiable="NEI")


def test_the_defaults_know_fever_labels_in_another_spelling():
    labels = LabelSet(("supports", "refutes", "not enough info"))
    scores = score([answer(1, R), answer(9, N)], [gold(1, S, [("A", 0)]), NEI_GOLD], labels)
    assert (scores.fever_score, scores.contradiction_rate) == (0.5, 1)


def test_contradiction_rows_give_the_rate_an_interval():
    truth = [gold(1, S), gold(2, S), gold(3, R), gold(4, N)]
    predictions = [answer(1, S), answer(2, R), answer(3, N), answer(4, R)]
    rows = contradiction_rows(outcomes(predictions, truth))
    assert rows == [(0, 1), (1, 1), (0, 1), (0, 0)]
    assert bootstrap(rows, ratio).estimate == pytest.approx(score(predictions, truth).contradiction_rate)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 2], [3, 4]], "3 × 3"),
        ([[1, 2, 3], [1, 2], [1, 2, 3]], "3 × 3"),
        ([[1, -2, 3]] * 3, "holds counts"),
        ([[0.5, 0.25, 0.25]] * 3, "holds counts"),
        ([[0, 0, 0]] * 3, "no claims"),
    ],
)
def test_what_is_no_confusion_matrix_is_refused(matrix, message):
    with pytest.raises(ScoringError, match=message):
        scores_from_matrix(matrix)


def test_scores_become_json_and_keep_their_figures():
    scores = score([answer(1, S, ("A", 0)), answer(9, S)], [gold(1, S, [("A", 0)]), NEI_GOLD])
    read = json.loads(json.dumps(scores.to_dict()))
    assert read["label_accuracy"] == read["fever_score"] == 0.5
    assert read["confusion"] == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert read["labels"] == [S, R, N]
    assert read["per_class"][S] == {"precision": 0.5, "recall": 1, "f1": pytest.approx(2 / 3), "support": 1}
    assert set(read) == set(scores.__dataclass_fields__)


def test_scoring_needs_neither_torch_nor_scipy_to_start():
    rooms = ("calibration", "records", "scoring", "statistics", "submission")
    imports = "; ".join(f"import adjudge.evaluation.{room}" for room in rooms)
    code = f"import sys; {imports}; print({{'torch', 'scipy', 'transformers'}} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_every_refusal_is_one_the_command_line_can_print():
    with pytest.raises(AdjudgeError):
        score("no-such-file.jsonl", [])


def test_a_claim_without_any_answer_is_wrong_and_in_no_column():
    labels = LabelSet(("yes", "no"))
    gold = [{"id": 1, "label": "yes"}, {"id": 2, "label": "no"}, {"id": 3, "label": "yes"}]
    answers = [Prediction(1, "yes"), Prediction(2, None), Prediction(3, None)]
    scores = score(answers, gold, labels)
    assert (scores.n, scores.label_accuracy) == (3, pytest.approx(1 / 3))
    assert (scores.confusion, scores.unanswered) == (((1, 0), (0, 0)), (1, 1))
    assert scores.per_class["yes"][1:] == (0.5, pytest.approx(2 / 3), 2)  # recall 1 of 2, F1 2·1·½ / 1½
