from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import ScoringError
from adjudge.evaluation.calibration import (
    expected_calibration_error,
    fit_temperature,
    reliability,
    risk_coverage,
    temper,
)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def test_reliability_on_a_hand_example():
    # Confidences .6 (right), .7 (wrong), .9 (right); two bins of (0, .5] and (.5, 1].
    p = [[0.6, 0.4], [0.3, 0.7], [0.9, 0.1]]
    low, high = reliability(p, [0, 0, 0], bins=2)
    assert low == (0, 0.5, 0, None, None)
    assert high == (0.5, 1, 3, pytest.approx(2.2 / 3), pytest.approx(2 / 3))
    assert expected_calibration_error(p, [0, 0, 0], bins=2) == pytest.approx(0.2 / 3)


def test_the_error_weighs_each_bin_by_its_claims():
    # Bin (.5, .75]: .6 and .6, one right: |.5 - .6| = .1. Bin (.75, 1]: .8, wrong: .8.
    p = [[0.6, 0.4], [0.6, 0.4], [0.8, 0.2]]
    assert expected_calibration_error(p, [0, 1, 1], bins=4) == pytest.approx(2 / 3 * 0.1 + 1 / 3 * 0.8)


def test_a_confidence_on_an_edge_belongs_to_the_lower_bin():
    assert [row.n for row in reliability([[0.5, 0.5], [1.0, 0.0]], [0, 0], bins=2)] == [1, 1]


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 20))
def test_the_error_equals_a_plain_loop(seed, bins):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.5, 0.5, 0.5], size=30)
    gold = rng.integers(0, 3, size=30)
    expected = 0.0
    for i in range(bins):
        members = [(max(row), row.argmax() == y) for row, y in zip(p, gold, strict=True)]
        members = [(c, right) for c, right in members if i / bins < c <= (i + 1) / bins]
        if members:
            gap = sum(right for _, right in members) / len(members) - sum(c for c, _ in members) / len(
                members
            )
            expected += len(members) / 30 * abs(gap)
    assert expected_calibration_error(p, gold, bins) == pytest.approx(expected)


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_a_known_temperature_is_recovered(temperature):
    rng = np.random.default_rng(0)
    true = log_softmax(rng.normal(size=(20_000, 3)) * 2)
    # Gumbel noise on log-probabilities samples from them.
    gold = (true + rng.gumbel(size=true.shape)).argmax(axis=1)
    overstated = log_softmax(true * temperature)
    assert fit_temperature(overstated, gold) == pytest.approx(temperature, rel=0.03)
    assert expected_calibration_error(np.exp(temper(overstated, temperature)), gold) < 0.02


def test_the_fitted_temperature_cannot_be_improved():
    rng = np.random.default_rng(3)
    z, gold = log_softmax(rng.normal(size=(200, 3)) * 3), rng.integers(0, 3, size=200)

    def loss(t: float) -> float:
        return -log_softmax(z / t)[np.arange(200), gold].mean()

    best = fit_temperature(z, gold)
    assert loss(best) <= min(loss(t) for t in np.geomspace(0.02, 90, 500))


def test_two_classes_have_a_closed_form():
    # Every claim says 0.9; three of four are right. The calibrated probability is 3/4, so
    # log(9) / T = log(3), T = 2.
    z = np.log([[0.9, 0.1]] * 4)
    assert fit_temperature(z, [0, 0, 0, 1]) == pytest.approx(2, rel=1e-5)


def test_unnormalised_logits_give_the_same_temperature():
    z = np.log([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    assert fit_temperature(z + [[5.0], [-3.0], [1.0]], [0, 0, 0]) == pytest.approx(
        fit_temperature(z, [0, 0, 0]), rel=1e-5
    )


def test_temper_keeps_distributions_and_their_order():
    hot = np.exp(temper(np.log([[0.7, 0.2, 0.1]]), 2))
    roots = np.sqrt([0.7, 0.2, 0.1])
    np.testing.assert_allclose(hot, [roots / roots.sum()])


def test_a_class_ruled_out_stays_ruled_out():
    with np.errstate(divide="ignore"):
        z = np.log([[0.9, 0.1, 0.0]] * 4)
    assert fit_temperature(z, [0, 0, 0, 1]) == pytest.approx(2, rel=1e-5)
    with pytest.raises(ScoringError, match="probability 0"):
        fit_temperature(z, [0, 0, 0, 2])


def test_always_right_or_always_wrong_stops_inside_the_bounds():
    # The best temperatures are 0 and infinity; the loss is flat to rounding well before the first.
    z = np.log([[0.9, 0.1], [0.2, 0.8]])
    assert 0.01 <= fit_temperature(z, [0, 1]) < 0.1
    assert fit_temperature(z, [1, 0]) == pytest.approx(100, rel=1e-3)


def test_risk_grows_with_coverage_on_a_hand_example():
    curve = risk_coverage([0.9, 0.6, 0.8, 0.7], [True, False, True, False])
    assert curve.thresholds == (0.9, 0.8, 0.7, 0.6)
    assert curve.coverage == (0.25, 0.5, 0.75, 1)
    assert curve.risk == pytest.approx((0, 0, 1 / 3, 1 / 2))
    assert curve.area == pytest.approx((1 / 3 + 1 / 2) / 4)


def test_equally_sure_claims_are_answered_together():
    curve = risk_coverage([0.9, 0.9, 0.5], [True, False, True])
    assert curve == risk_coverage([0.9, 0.5, 0.9], [False, True, True])
    assert curve.coverage == pytest.approx((2 / 3, 1))
    assert curve.risk == pytest.approx((1 / 2, 1 / 3))
    assert curve.area == pytest.approx((2 * 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reliability([[0.5, 0.6]], [0]), "sum to 1"),
        (lambda: reliability([0.5, 0.5], [0]), r"expected shape \(claims, classes\), found \(2,\)"),
        (lambda: reliability([[0.5, 0.5]], [2]), "class indices from 0 to 1"),
        (lambda: reliability([[0.5, 0.5]], [0, 1]), "expected 1 class indices"),
        (lambda: reliability([[0.5, 0.5]], [0], bins=0), "0 bins"),
        (lambda: fit_temperature([[np.nan, 0.0]], [0]), "above −∞"),
        (lambda: temper([[0.0, 0.0]], 0), "not above 0"),
        (lambda: risk_coverage([], []), "one finite number per claim"),
        (lambda: risk_coverage([0.5], [True, False]), "expected 1 values"),
    ],
)
def test_senseless_input_is_refused(call, message):
    with pytest.raises(ScoringError, match=message):
        call()
