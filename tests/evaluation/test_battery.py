from __future__ import annotations

import pytest

from adjudge.errors import ScoringError
from adjudge.evaluation.battery import Answer, means, measure
from adjudge.types import FEVER_LABELS, LabelSet, Verdict

S, R, N = FEVER_LABELS.names


def answer(gold: str, supports: float, refutes: float, neither: float) -> Answer:
    probabilities = {S: supports, R: refutes, N: neither}
    label = max(probabilities, key=lambda name: probabilities[name])
    return Answer(gold, Verdict("x", "claim", label, probabilities))


JUDGED = [
    answer(S, 0.8, 0.1, 0.1),  # right
    answer(S, 0.2, 0.1, 0.7),  # silent, but leans the right way
    answer(R, 0.6, 0.3, 0.1),  # the wrong way round
    answer(N, 0.1, 0.1, 0.8),  # right
]


def test_balanced_accuracy_is_the_mean_recall_of_the_labels_that_occur():
    figures = measure("toy", "dev", JUDGED, FEVER_LABELS)
    assert figures.recall == {S: 0.5, R: 0.0, N: 1.0}
    assert figures.balanced_accuracy == pytest.approx(0.5)  # (1/2 + 0 + 1) / 3


def test_a_set_without_refuted_claims_is_balanced_over_its_two_labels():
    figures = measure("toy", "dev", [JUDGED[0], JUDGED[1], JUDGED[3]], FEVER_LABELS)
    assert figures.balanced_accuracy == pytest.approx(0.75)  # (1/2 + 1) / 2


def test_opposites_are_told_apart_by_the_likelier_of_the_two():
    figures = measure("toy", "dev", JUDGED, FEVER_LABELS)
    assert figures.opposites_accuracy == pytest.approx(2 / 3)  # both S claims lean to S, the R claim too
    assert figures.contradiction_rate == pytest.approx(1 / 3)  # of three S and R claims one is turned round


def test_calibration_error_is_the_gap_between_confidence_and_accuracy():
    # Bins of 1/15: 0.8 and 0.8 share one (accuracy 1), 0.7 and 0.6 stand alone (accuracy 0).
    expected = (2 * (1 - 0.8) + 0.7 + 0.6) / 4
    assert measure("toy", "dev", JUDGED, FEVER_LABELS).ece == pytest.approx(expected)


def test_a_judge_of_two_labels_is_asked_whether_a_claim_is_supported():
    labels = LabelSet(("SUPPORTS", "NOT SUPPORTED"))
    verdict = Verdict("x", "claim", "SUPPORTS", {"SUPPORTS": 0.9, "NOT SUPPORTED": 0.1})
    figures = measure("toy", "dev", [Answer(S, verdict), Answer(R, verdict), Answer(N, verdict)], labels)
    assert figures.recall == {S: 1.0, "NOT SUPPORTED": 0.0}
    assert figures.opposites_accuracy is None


def test_the_rate_is_claims_over_seconds():
    assert measure("toy", "dev", JUDGED, FEVER_LABELS, seconds=2.0).claims_per_second == 2.0


def test_means_count_every_set_the_same_per_group_and_over_all():
    one = measure("a", "fever", JUDGED, FEVER_LABELS)
    two = measure("b", "pairs", [JUDGED[0]], FEVER_LABELS)
    three = measure("c", "pairs", [JUDGED[2]], FEVER_LABELS)
    averages = means([one, two, three])
    assert averages["fever"]["balanced_accuracy"] == pytest.approx(0.5)
    assert averages["pairs"]["balanced_accuracy"] == pytest.approx(0.5)  # (1 + 0) / 2
    assert averages["all"]["balanced_accuracy"] == pytest.approx(0.5)  # (.5 + 1 + 0) / 3
    assert list(means([one])) == ["all"]


def test_a_set_without_labelled_claims_is_an_error_that_names_it():
    with pytest.raises(ScoringError, match="toy"):
        measure("toy", "dev", [], FEVER_LABELS)
