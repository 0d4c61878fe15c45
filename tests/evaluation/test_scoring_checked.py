"""Scores against what others compute: a plain loop, scikit-learn, the paper, FEVER's own files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.evaluation.scoring import (
    outcomes,
    score,
    scores_from_matrix,
    scores_from_outcomes,
)
from adjudge.io.jsonl import read_json_lines

S, R, N = "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"


def gold(id: int, label: str, *groups: list[tuple[str, int]]) -> dict[str, Any]:
    return {"id": id, "label": label, "evidence": [[[1, 2, p, n] for p, n in group] for group in groups]}


def answer(id: int, label: str, *refs: tuple[str, int]) -> dict[str, Any]:
    return {"id": id, "predicted_label": label, "predicted_evidence": [list(ref) for ref in refs]}


# --- A second scorer, written as plainly as the definitions read.

LABELS = st.sampled_from([S, R, N])
REFS = st.tuples(st.sampled_from(["A", "B"]), st.integers(0, 2))
CLAIMS = st.tuples(
    LABELS,
    LABELS,
    st.lists(st.lists(REFS, min_size=1, max_size=3), min_size=1, max_size=3),
    st.lists(REFS, max_size=8),
)


def plainly(claims: list[tuple[Any, ...]], k: int) -> tuple[float, ...]:
    right = strict = recalled = 0
    precisions = []
    for label, predicted, groups, found in claims:
        found = found[:k]
        whole = False
        for group in groups:
            missing = [ref for ref in group if ref not in found]
            if not missing:
                whole = True
        if label == predicted:
            right += 1
            if label == N or whole:
                strict += 1
        if label != N:
            hits = 0
            for ref in found:
                if any(ref in group for group in groups):
                    hits += 1
            precisions.append(1 if not found else hits / len(found))
            recalled += whole
    p = sum(precisions) / len(precisions) if precisions else 1
    r = recalled / len(precisions) if precisions else 0
    return right / len(claims), strict / len(claims), p, r, 0 if p + r == 0 else 2 * p * r / (p + r)


@settings(max_examples=200, deadline=None)
@given(st.lists(CLAIMS, min_size=1, max_size=12), st.integers(1, 6), st.randoms(use_true_random=False))
def test_random_claims_score_as_a_plain_loop_says(claims, k, random):
    truth = [gold(i, label, *groups) for i, (label, _, groups, _) in enumerate(claims)]
    predictions = [answer(i, predicted, *found) for i, (_, predicted, _, found) in enumerate(claims)]
    random.shuffle(predictions)
    scores = score(predictions, truth, k=k)
    figures = (
        scores.label_accuracy,
        scores.fever_score,
        scores.evidence_precision,
        scores.evidence_recall,
        scores.evidence_f1,
    )
    assert figures == pytest.approx(plainly(claims, k))
    assert scores_from_outcomes(outcomes(predictions, truth, k=k)) == scores


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_matrix_and_per_class_figures_agree_with_scikit_learn(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    y, predicted = zip(*pairs, strict=True)
    names = (S, R, N)
    scores = score(
        [{"id": i, "predicted_label": names[p]} for i, p in enumerate(predicted)],
        [{"id": i, "label": names[g]} for i, g in enumerate(y)],
    )
    np.testing.assert_array_equal(scores.confusion, metrics.confusion_matrix(y, predicted, labels=[0, 1, 2]))
    expected = metrics.precision_recall_fscore_support(y, predicted, labels=[0, 1, 2], zero_division=0)
    np.testing.assert_allclose(np.array([scores.per_class[name] for name in names]).T, expected)


# --- Real figures and real files.


def test_the_paper_matrices_give_the_printed_label_accuracies(paper_results):
    assert len(paper_results) == 24
    for row in paper_results:
        found = round(100 * scores_from_matrix(row["matrix"]).label_accuracy, 2)
        assert found == row["LA"], (row["backbone"], row["objective"], row["weighting"])


def test_real_gold_as_prediction_scores_one(shared_data):
    path = shared_data / "fever" / "dev_claims.jsonl.gz"
    scores = score(path, path, k=None)
    assert scores.n == 10_075
    assert (scores.label_accuracy, scores.fever_score) == (1, 1)
    assert (scores.evidence_precision, scores.evidence_recall, scores.evidence_f1) == (1, 1, 1)
    assert scores.contradiction_rate == 0


def test_five_sentences_hold_all_real_gold_but_the_groups_that_need_more(shared_data):
    path = shared_data / "fever" / "dev_claims.jsonl.gz"
    claims = [record for _, record in read_json_lines(path)]
    too_long = [
        claim["id"]
        for claim in claims
        if claim["label"] != N
        and all(len({(page, line) for _, _, page, line in group}) > 5 for group in claim["evidence"])
    ]
    assert 0 < len(too_long) < 10
    judged = outcomes(path, claims)
    assert [outcome.id for outcome in judged if not outcome.strict] == too_long
    scores = scores_from_outcomes(judged)
    assert scores.evidence_precision == 1
    assert scores.fever_score == pytest.approx(1 - len(too_long) / len(claims))


def test_real_retrieved_examples_carry_labels_but_no_gold_groups(shared_data):
    folder = shared_data / "fever"
    scores = score(folder / "dev_gold.jsonl.gz", folder / "dev_retrieved.jsonl.gz")
    assert (scores.n, scores.label_accuracy, scores.fever_score) == (2_521, 1, None)
