"""Is the difference real? McNemar's test, Holm's correction and bootstrap intervals on paired results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adjudge.errors import ScoringError

Values = NDArray[np.float64]
Counts = NDArray[np.int64]

Metric = Callable[[Values, Counts], Values]
"""A figure of many resamples at once: ``values`` (U, …) are the distinct observations, ``counts``
(resamples, U) how often each was drawn; one number per resample comes back."""

EXACT_BELOW = 25
"""Discordant pairs from which χ² replaces the exact test."""

_CHUNK_CELLS = 4_000_000  # 32 MB of counts held at a time


class McNemar(NamedTuple):
    """``n10``: claims only a got right; ``n01``: claims only b got right."""

    statistic: float
    p_value: float
    n01: int
    n10: int
    exact: bool


class Interval(NamedTuple):
    """A percentile confidence interval around the figure of the whole sample."""

    low: float
    high: float
    estimate: float


def mcnemar(a_correct: ArrayLike, b_correct: ArrayLike, *, exact: bool | None = None) -> McNemar:
    """Test whether two systems judged on the same claims are right equally often.

    Only discordant claims speak: n10 (a right, b wrong) and n01 (a wrong, b right). The exact test is
    the two-sided binomial with p = 1/2, its statistic min(n01, n10); otherwise
    χ² = max(|n01 − n10| − 1, 0)² / (n01 + n10) with one degree of freedom.

    Args:
        a_correct: truth values, one per claim.
        b_correct: the same for the other system, in the same order.
        exact: which test; by default the exact one below 25 discordant claims.
    """
    a, b = _as_booleans(a_correct, "a_correct"), _as_booleans(b_correct, "b_correct")
    _check_same_length(a, b)
    n10, n01 = int(np.sum(a & ~b)), int(np.sum(~a & b))
    discordant = n01 + n10
    if exact is None:
        exact = discordant < EXACT_BELOW
    if discordant == 0:
        return McNemar(0.0, 1.0, n01, n10, exact)

    from scipy import stats

    if exact:
        fewer = min(n01, n10)
        return McNemar(float(fewer), float(stats.binomtest(fewer, discordant, 0.5).pvalue), n01, n10, True)
    statistic = max(abs(n01 - n10) - 1, 0) ** 2 / discordant
    return McNemar(statistic, float(stats.chi2.sf(statistic, df=1)), n01, n10, False)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given.

    With p sorted ascending, adjusted p₍ᵢ₎ = max over j ≤ i of min(1, (m − j + 1) · p₍ⱼ₎).
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ScoringError(f"p-value {p} is not between 0 and 1.")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * float(p_values[index])))
        adjusted[index] = highest
    return adjusted


def mean(values: Values, counts: Counts) -> Values:
    """The average observation: values (U,), counts (resamples, U) → (resamples,)."""
    return np.asarray(counts @ values / counts.sum(axis=1))


def ratio(values: Values, counts: Counts) -> Values:
    """Sum of the first column over sum of the second, for rates whose denominator is resampled too.

    values (U, 2), counts (resamples, U) → (resamples,); NaN where the denominator is 0.
    """
    sums = counts @ values  # (resamples, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sums[:, 1] == 0, np.nan, sums[:, 0] / sums[:, 1]))


def bootstrap(
    a: ArrayLike, metric: Metric = mean, *, n: int = 10_000, seed: int = 0, level: float = 0.95
) -> Interval:
    """Percentile interval for a figure of one system; ``a`` holds one value (or row) per claim."""
    values = _observations(a, "a")
    distinct, multiplicity = _count_distinct(values.reshape(len(values), -1))
    distinct = distinct.reshape(-1, *values.shape[1:])
    return _interval(lambda counts: metric(distinct, counts), multiplicity, n, seed, level)


def paired_bootstrap(
    a: ArrayLike, b: ArrayLike, metric: Metric = mean, *, n: int = 10_000, seed: int = 0, level: float = 0.95
) -> Interval:
    """Percentile interval for metric(a) − metric(b), resampling claims, so that each pair stays together.

    Args:
        a: one value (or row) per claim, such as whether the label was right.
        b: the same for the other system, in the same order.
        metric: ``mean``, ``ratio`` or any other ``Metric``.
        n: number of resamples.
        seed: of the random generator; the same seed gives the same interval.
        level: coverage of the interval.
    """
    left, right = _observations(a, "a"), _observations(b, "b")
    _check_same_length(left, right)
    flat_left, flat_right = left.reshape(len(left), -1), right.reshape(len(right), -1)
    distinct, multiplicity = _count_distinct(np.hstack([flat_left, flat_right]))
    width = flat_left.shape[1]
    of_a = distinct[:, :width].reshape(-1, *left.shape[1:])
    of_b = distinct[:, width:].reshape(-1, *right.shape[1:])
    return _interval(lambda counts: metric(of_a, counts) - metric(of_b, counts), multiplicity, n, seed, level)


def _interval(
    figure: Callable[[Counts], Values], multiplicity: Counts, n: int, seed: int, level: float
) -> Interval:
    """Quantiles of ``figure`` over ``n`` resamples; those where it is undefined (NaN) are left out."""
    if not 0 < level < 1:
        raise ScoringError(f"level {level} is not between 0 and 1.")
    if n < 1:
        raise ScoringError(f"{n} resamples asked for, expected at least 1.")
    estimate = float(figure(multiplicity[None, :])[0])
    if math.isnan(estimate):
        raise ScoringError("The figure is not defined on this sample, so it has no confidence interval.")
    draws = np.concatenate([figure(counts) for counts in _resamples(multiplicity, n, seed)])
    low, high = np.nanquantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), estimate)


def _resamples(multiplicity: Counts, n: int, seed: int) -> Iterator[Counts]:
    """Yield ``n`` resamples as counts (chunk, U), in chunks that bound the memory.

    Drawing N claims with replacement and counting equal ones is one multinomial draw. Right-or-wrong
    pairs have only four distinct values, so the cost does not grow with the number of claims.
    """
    rng = np.random.default_rng(seed)
    total = int(multiplicity.sum())
    chunk = max(1, _CHUNK_CELLS // len(multiplicity))
    for start in range(0, n, chunk):
        yield rng.multinomial(total, multiplicity / total, size=min(chunk, n - start))


def _count_distinct(rows: Values) -> tuple[Values, Counts]:
    """The different rows of (N, columns), and how many claims have each."""
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    return distinct, counts.astype(np.int64)


def _as_booleans(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    array = np.asarray(values)
    # 0 and 1 are let through; floats are more likely probabilities passed by mistake.
    if array.ndim != 1 or array.dtype.kind not in "biu" or not np.isin(array, (0, 1)).all():
        raise ScoringError(f"{name}: expected one true or false per claim, found {_describe(array)}.")
    if not array.size:
        raise ScoringError(f"{name} is empty: there is nothing to compare.")
    return array.astype(np.bool_)


def _observations(values: ArrayLike, name: str) -> Values:
    array = np.asarray(values)
    if array.ndim == 0 or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise ScoringError(
            f"{name}: expected one finite number (or row) per claim, found {_describe(array)}."
        )
    if not array.size:
        raise ScoringError(f"{name} is empty: there is nothing to resample.")
    return array.astype(np.float64)


def _describe(array: NDArray[Any]) -> str:
    return f"shape {array.shape} of {array.dtype}, such as {array.ravel()[:3].tolist()}"


def _check_same_length(a: NDArray[Any], b: NDArray[Any]) -> None:
    if len(a) != len(b):
        raise ScoringError(
            f"a has {len(a)} claims and b has {len(b)}: the test needs both systems' results "
            "on the same claims, in the same order."
        )
