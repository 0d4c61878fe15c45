"""Fitting a judge to somebody's own claims."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.errors import ScoringError
from adjudge.evaluation.calibration import temper
from adjudge.evaluation.own_calibration import OwnCalibration, calibrate, check_examples, fit_own

LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")


def sharpened(n: int, seed: int, bias: float = 0.0) -> tuple[np.ndarray, list[int]]:
    """Log-probabilities of a judge that is too sure by a factor of 3, and leans to the third label by ``bias``."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, 3)) * 1.5
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    gold = [int(rng.choice(3, p=row)) for row in true]
    spoken = 3 * logits + np.array([0.0, 0.0, bias])
    return spoken - np.log(np.exp(spoken).sum(axis=1, keepdims=True)), gold


def test_a_temperature_without_biases_is_the_temperature_of_the_other_module():
    log_probs = np.log([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    ours = calibrate(log_probs, OwnCalibration(2.0, (0.0, 0.0, 0.0)))
    np.testing.assert_allclose(ours, temper(log_probs, 2.0))


def test_a_bias_multiplies_the_odds():
    # odds of the first label 0.5 / 0.5; e^b = 3 makes them 3 to 1
    ours = np.exp(calibrate(np.log([[0.5, 0.5]]), OwnCalibration(1.0, (np.log(3.0), 0.0))))
    np.testing.assert_allclose(ours, [[0.75, 0.25]])


def test_a_judge_that_is_too_sure_is_softened_and_one_that_leans_is_set_upright():
    log_probs, gold = sharpened(300, seed=1, bias=3.0)
    report = fit_own(log_probs, gold, LABELS)
    assert report.calibration.temperature > 1.5
    assert report.calibration.biases[2] < min(report.calibration.biases[:2])
    assert report.after.log_loss < report.before.log_loss
    assert report.after.accuracy >= report.before.accuracy


def test_what_is_measured_was_not_fitted_on():
    """Labels drawn at random: fitting cannot help, and cross-validation says so."""
    rng = np.random.default_rng(2)
    log_probs = np.log(rng.dirichlet([1, 1, 1], size=60))
    report = fit_own(log_probs, [int(label) for label in rng.integers(3, size=60)], LABELS)
    assert report.after.accuracy < 0.55


def test_a_judge_that_is_right_already_is_left_as_it_is():
    gold = [0, 1, 2] * 15
    log_probs = np.log(np.eye(3)[gold] * 0.9997 + 0.0001)
    report = fit_own(log_probs, gold, LABELS)
    assert report.calibration.temperature == pytest.approx(1.0, abs=0.05)
    assert report.calibration.biases == pytest.approx((0.0, 0.0, 0.0), abs=1e-3)
    assert report.calibration.min_confidence == 0.0 and report.risk == 0.0


def test_abstaining_keeps_errors_below_what_was_asked():
    log_probs, gold = sharpened(300, seed=3)
    report = fit_own(log_probs, gold, LABELS, max_risk=0.25)
    assert 0 < report.calibration.min_confidence < 1
    assert report.risk <= 0.25 and 0 < report.answered < 1


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (
            [0, 1, 2] * 9,
            r"27 labelled claims \(9 SUPPORTS, 9 REFUTES, 9 NOT ENOUGH INFO\), expected at least 30",
        ),
        ([0] * 30 + [1] * 3, "at least 5 claims of each"),
        ([0] * 40, "expected two labels or more"),
    ],
)
def test_too_few_claims_are_refused(gold, message):
    with pytest.raises(ScoringError, match=message):
        check_examples(gold, LABELS)


def test_a_label_that_does_not_occur_keeps_its_bias():
    log_probs, _ = sharpened(60, seed=4)
    report = fit_own(log_probs, [0, 1] * 30, LABELS)
    assert report.calibration.biases[2] == 0.0
