from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.errors import ScoringError
from adjudge.evaluation import statistics
from adjudge.evaluation.statistics import bootstrap, holm, mcnemar, mean, paired_bootstrap, ratio

TRUTH_PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)
P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def outcomes(both: int, only_a: int, only_b: int, neither: int = 0) -> tuple[list[bool], list[bool]]:
    a = [True] * both + [True] * only_a + [False] * only_b + [False] * neither
    b = [True] * both + [False] * only_a + [True] * only_b + [False] * neither
    return a, b


def test_few_discordant_claims_are_tested_exactly():
    # P(X <= 1) for Binomial(6, 1/2) is (1 + 6) / 64; two-sided 14 / 64.
    result = mcnemar(*outcomes(both=10, only_a=5, only_b=1))
    assert result == (1, pytest.approx(14 / 64), 1, 5, True)


def test_many_discordant_claims_use_chi_squared_with_continuity_correction():
    # Agresti's approval ratings: 150 and 86 changed. (|150 - 86| - 1)^2 / 236 = 3969 / 236.
    result = mcnemar(*outcomes(both=794, only_a=150, only_b=86, neither=570))
    assert (result.n10, result.n01, result.exact) == (150, 86, False)
    assert result.statistic == pytest.approx(3969 / 236)
    # One degree of freedom: the upper tail of chi-squared is erfc(sqrt(x / 2)).
    assert result.p_value == pytest.approx(math.erfc(math.sqrt(3969 / 236 / 2)), rel=1e-9)


@pytest.mark.parametrize(("only_b", "exact"), [(14, True), (15, False)])
def test_the_exact_test_ends_at_25_discordant_claims(only_b, exact):
    assert mcnemar(*outcomes(both=0, only_a=10, only_b=only_b)).exact is exact


def test_the_kind_of_test_can_be_chosen():
    a, b = outcomes(both=0, only_a=30, only_b=10)
    chosen = mcnemar(a, b, exact=True)
    # Twice the binomial tail, summed term by term.
    assert chosen.p_value == pytest.approx(2 * sum(math.comb(40, k) for k in range(11)) / 2**40)
    assert mcnemar(a, b, exact=False).statistic == pytest.approx(19**2 / 40)


@pytest.mark.parametrize("exact", [None, True, False])
def test_no_discordant_claim_means_no_difference(exact):
    result = mcnemar([True, False], [True, False], exact=exact)
    assert (result.statistic, result.p_value, result.n01, result.n10) == (0, 1, 0, 0)


def test_equal_discordant_counts_never_look_different():
    # Without the floor at 0 the correction would give chi-squared 1/60 and p below 1.
    assert mcnemar(*outcomes(both=0, only_a=30, only_b=30)).p_value == 1


@settings(deadline=None)
@given(TRUTH_PAIRS, st.sampled_from([None, True, False]))
def test_mcnemar_is_symmetric_and_gives_a_probability(pairs, exact):
    a, b = zip(*pairs, strict=True)
    forward, backward = mcnemar(a, b, exact=exact), mcnemar(b, a, exact=exact)
    assert 0 <= forward.p_value <= 1
    assert forward.p_value == backward.p_value
    assert (forward.n01, forward.n10) == (backward.n10, backward.n01)
    assert forward.n10 == sum(x and not y for x, y in pairs)


def test_mcnemar_takes_numpy_and_zero_one():
    assert mcnemar(np.array([True, False]), [1, 1]).n01 == 1


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([True], [True, False], "a has 1 claims and b has 2"),
        ([0.3, 0.9], [True, True], "a_correct: expected one true or false per claim, found .*0.3"),
        ([0, 2], [0, 1], "a_correct: expected one true or false"),
        ([True], ["yes"], "b_correct: expected one true or false"),
        ([[True]], [[True]], r"shape \(1, 1\)"),
        ([], [], "expected one true or false|empty"),
        (np.array([], bool), np.array([], bool), "a_correct is empty"),
    ],
)
def test_mcnemar_refuses_what_is_not_paired_truth_values(a, b, message):
    with pytest.raises(ScoringError, match=message):
        mcnemar(a, b)


def test_holm_on_a_hand_example():
    # Sorted .01 .02 .03 .04 times 4 3 2 1 = .04 .06 .06 .04, then never falling.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


@settings(deadline=None)
@given(P_VALUES)
def test_holm_rejects_exactly_what_the_step_down_procedure_rejects(p):
    adjusted = holm(p)
    assert all(raw <= new <= 1 for raw, new in zip(p, adjusted, strict=True))
    order = sorted(range(len(p)), key=lambda i: p[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)
    # The procedure itself: go up from the smallest p while p <= alpha / (tests left), then stop.
    for alpha in (0.01, 0.05, 0.2):
        rejected = set()
        for rank, i in enumerate(order):
            if p[i] * (len(p) - rank) > alpha:
                break
            rejected.add(i)
        assert {i for i, value in enumerate(adjusted) if value <= alpha} == rejected


@settings(deadline=None)
@given(P_VALUES)
def test_holm_equals_its_definition(p):
    ranked = sorted(p)
    by_definition = [max(min(1, (len(p) - j) * ranked[j]) for j in range(i + 1)) for i in range(len(p))]
    assert sorted(holm(p)) == by_definition


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_holm_refuses_what_is_not_a_probability(p):
    with pytest.raises(ScoringError, match="not between 0 and 1"):
        holm([0.5, p])


def test_the_paired_interval_agrees_with_scipy():
    rng = np.random.default_rng(5)
    a, b = rng.random(400) < 0.8, rng.random(400) < 0.7
    reference = stats.bootstrap(
        (a.astype(float), b.astype(float)),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    ours = paired_bootstrap(a, b)
    assert ours.estimate == pytest.approx(a.mean() - b.mean())
    # Bounds move in steps of 1/400 with both generators.
    assert ours.low == pytest.approx(reference.low, abs=0.004)
    assert ours.high == pytest.approx(reference.high, abs=0.004)


def test_the_interval_of_a_continuous_figure_agrees_with_scipy():
    values = np.random.default_rng(2).gamma(2, size=300)
    reference = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=0.9,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    ours = bootstrap(values, level=0.9)
    assert ours.low == pytest.approx(reference.low, abs=0.01)
    assert ours.high == pytest.approx(reference.high, abs=0.01)


def test_pairing_matters_when_two_systems_err_on_the_same_claims():
    a = np.arange(100) < 80
    # The same answers: the difference is 0 in every resample, while each figure alone varies.
    assert paired_bootstrap(a, a) == (0, 0, 0)
    assert bootstrap(a).low < 0.8 < bootstrap(a).high


def test_a_rate_resamples_its_denominator():
    # Two of four eligible claims; the other six claims are not eligible.
    rows = [(1, 1)] * 2 + [(0, 1)] * 2 + [(0, 0)] * 6
    interval = bootstrap(rows, ratio)
    assert interval.estimate == 0.5
    assert interval.low == 0
    assert interval.high == 1


def test_a_rate_without_a_denominator_is_refused():
    with pytest.raises(ScoringError, match="not defined on this sample"):
        bootstrap([(0, 0), (0, 0)], ratio)


@settings(deadline=None)
@given(TRUTH_PAIRS)
def test_swapping_the_systems_flips_the_estimate(pairs):
    a, b = zip(*pairs, strict=True)
    forward, backward = paired_bootstrap(a, b, n=50), paired_bootstrap(b, a, n=50)
    assert forward.estimate == pytest.approx(-backward.estimate)
    assert forward.estimate == pytest.approx(sum(a) / len(a) - sum(b) / len(b))
    assert -1 <= forward.low <= forward.high <= 1


def test_the_seed_decides_the_interval_and_the_level_widens_it():
    values = np.random.default_rng(0).normal(size=50)
    assert bootstrap(values, seed=3) == bootstrap(values, seed=3)
    assert bootstrap(values, seed=3) != bootstrap(values, seed=4)
    narrow, wide = bootstrap(values, level=0.5), bootstrap(values, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_resamples_are_drawn_in_bounded_chunks(monkeypatch):
    monkeypatch.setattr(statistics, "_CHUNK_CELLS", 100)
    shapes = []

    def watched(values, counts):
        shapes.append(counts.shape)
        assert (counts.sum(axis=1) == 30).all()
        return mean(values, counts)

    bootstrap(np.arange(30.0), watched, n=10)
    assert shapes == [(1, 30), (3, 30), (3, 30), (3, 30), (1, 30)]  # the sample itself, then ten resamples


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_bootstrap([1, 2], [1]), "a has 2 claims and b has 1"),
        (lambda: bootstrap([]), "a is empty"),
        (lambda: bootstrap([1.0, math.nan]), "finite number"),
        (lambda: bootstrap([1, 2], level=1), "level 1"),
        (lambda: bootstrap([1, 2], n=0), "at least 1"),
    ],
)
def test_the_bootstrap_refuses_senseless_input(call, message):
    with pytest.raises(ScoringError, match=message):
        call()
