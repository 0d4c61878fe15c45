from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import ConfigError
from adjudge.objectives.weights import class_balanced_weights

FEVER_COUNTS = [80035, 29775, 35639]


def exact(counts: list[int], beta: float) -> list[float]:
    """Eq. 11 in 80 decimal digits; Decimal(beta) is the very number that the float holds."""
    with localcontext() as context:
        context.prec = 80
        b = Decimal(beta)
        return [float((1 - b) / (1 - b**n)) for n in counts]


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.4999, 0.5, 0.9, 0.999, 0.9999, 0.99999, 0.999999, 1 - 1e-12])
def test_weights_match_eighty_digit_arithmetic(beta):
    weights = class_balanced_weights(FEVER_COUNTS, beta, normalise=False)
    np.testing.assert_allclose(weights, exact(FEVER_COUNTS, beta), rtol=2e-15)


def test_the_naive_formula_would_fail_the_comparison_near_one():
    beta = 1 - 1e-12
    naive = [(1 - beta) / (1 - beta**n) for n in FEVER_COUNTS]
    assert max(abs(a / b - 1) for a, b in zip(naive, exact(FEVER_COUNTS, beta), strict=True)) > 1e-10


def test_weights_by_hand():
    # beta = 1/2, n = 1, 2, 3: (1/2) / (1/2, 3/4, 7/8) = 1, 2/3, 4/7
    weights = class_balanced_weights([1, 2, 3], 0.5, normalise=False)
    np.testing.assert_allclose(weights, [1, 2 / 3, 4 / 7], rtol=1e-15)


def test_beta_zero_gives_ones():
    assert class_balanced_weights(FEVER_COUNTS, 0.0).tolist() == [1.0, 1.0, 1.0]
    assert class_balanced_weights(FEVER_COUNTS, 0.0, normalise=False).tolist() == [1.0, 1.0, 1.0]


def test_weights_approach_inverse_frequency_as_beta_approaches_one():
    largest_below_one = math.nextafter(1.0, 0.0)
    weights = class_balanced_weights(FEVER_COUNTS, largest_below_one, normalise=False)
    np.testing.assert_allclose(weights, [1 / n for n in FEVER_COUNTS], rtol=1e-10)


def test_the_paper_setting_has_raw_weights_of_about_one_in_a_hundred_thousand():
    # beta = .999999: 1 - beta^n is about n/10^6, less n^2/2 of the square: 1.3e-5, 3.4e-5, 2.9e-5
    weights = class_balanced_weights(FEVER_COUNTS, 0.999999, normalise=False)
    np.testing.assert_allclose(weights, [1.300e-5, 3.409e-5, 2.856e-5], rtol=1e-3)


def test_normalised_weights_have_mean_one_and_keep_their_ratios():
    raw = class_balanced_weights(FEVER_COUNTS, 0.999999, normalise=False)
    weights = class_balanced_weights(FEVER_COUNTS, 0.999999)
    assert weights.mean() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(weights / weights[0], raw / raw[0], rtol=1e-14)


@given(
    st.lists(st.integers(1, 10**7), min_size=2, max_size=6),
    st.floats(0, 1, exclude_max=True, allow_subnormal=False),
)
def test_rarer_classes_never_weigh_less(counts, beta):
    weights = class_balanced_weights(counts, beta)
    assert np.isfinite(weights).all() and (weights > 0).all()
    by_count = weights[np.argsort(counts)]
    assert (np.diff(by_count) <= 1e-12 * by_count[:-1]).all()


@pytest.mark.parametrize("beta", [-0.1, 1.0, 1.5, math.nan])
def test_beta_outside_its_range_is_refused(beta):
    with pytest.raises(ConfigError, match=r"expected 0 <= beta < 1"):
        class_balanced_weights([1, 2], beta)


@pytest.mark.parametrize("counts", [[], [3, 0], [3, -1], [3, math.nan], [3, math.inf]])
def test_a_class_without_examples_is_refused_with_the_counts(counts):
    with pytest.raises(ConfigError, match="expected a positive number for every class"):
        class_balanced_weights(counts, 0.9)
