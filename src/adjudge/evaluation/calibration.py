"""Do the probabilities mean what they say? Reliability, temperature scaling, risk against coverage."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adjudge.errors import ScoringError

Floats = NDArray[np.float64]

TEMPERATURE_BOUNDS = (0.01, 100.0)
"""A fit on separable data would run to 0 or infinity; it stops here."""


class Bin(NamedTuple):
    """The claims whose confidence lies in (low, high]; both averages are None when there are none."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


class RiskCoverage(NamedTuple):
    """What is lost by answering more.

    Answering only the claims with confidence ≥ ``thresholds[i]`` answers the share ``coverage[i]``
    of them and errs on the share ``risk[i]`` of those. ``area`` is the mean risk over all claims'
    thresholds (AURC, lower is better).
    """

    thresholds: tuple[float, ...]
    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float


def reliability(probabilities: ArrayLike, gold: ArrayLike, bins: int = 15) -> tuple[Bin, ...]:
    """Confidence against accuracy in equally wide bins of the highest probability.

    Args:
        probabilities: (N, classes), rows summing to one.
        gold: (N,) class indices.
        bins: number of bins over (0, 1].
    """
    if bins < 1:
        raise ScoringError(f"{bins} bins asked for, expected at least 1.")
    p = _distributions(probabilities)
    y = _classes(gold, p)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    edges = np.linspace(0.0, 1.0, bins + 1)
    bin_of = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, bins - 1)
    table = []
    for index in range(bins):
        inside = bin_of == index
        n = int(inside.sum())
        table.append(
            Bin(
                float(edges[index]),
                float(edges[index + 1]),
                n,
                float(confidence[inside].mean()) if n else None,
                float(right[inside].mean()) if n else None,
            )
        )
    return tuple(table)


def expected_calibration_error(probabilities: ArrayLike, gold: ArrayLike, bins: int = 15) -> float:
    """ECE = Σ over bins of (n_bin / N) · |accuracy − confidence| (Guo et al. 2017)."""
    table = reliability(probabilities, gold, bins)
    total = sum(row.n for row in table)
    return sum(
        row.n / total * abs(row.accuracy - row.confidence)
        for row in table
        if row.accuracy is not None and row.confidence is not None
    )


def temper(log_probs: ArrayLike, temperature: float) -> Floats:
    """Give log softmax(log p / T), (N, classes): T > 1 softens, T < 1 sharpens, the best label stays."""
    if not temperature > 0:
        raise ScoringError(f"temperature {temperature} is not above 0.")
    return _renormalise(_log_distributions(log_probs) / temperature)


def fit_temperature(log_probs: ArrayLike, gold: ArrayLike) -> float:
    """The temperature that minimises the mean −log p of the gold label on these claims.

    The loss is convex in 1/T, hence has one minimum in log T too, where the search is even-handed
    between softening and sharpening. Fit on a split that is not reported on.
    """
    from scipy.optimize import minimize_scalar

    z = _renormalise(_log_distributions(log_probs))
    y = _classes(gold, z)
    rows = np.arange(len(y))
    if not np.isfinite(z[rows, y]).all():
        raise ScoringError(
            "A gold label has probability 0, so no temperature gives a finite loss. "
            "Pass log-probabilities computed in log-space (log_softmax), not the log of rounded ones."
        )

    def loss(log_temperature: float) -> float:
        return float(-_renormalise(z / np.exp(log_temperature))[rows, y].mean())

    low, high = np.log(TEMPERATURE_BOUNDS)
    minimum = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-8})
    return float(np.exp(minimum.x))


def risk_coverage(confidence: ArrayLike, correct: ArrayLike) -> RiskCoverage:
    """Error rate among the claims answered, from the surest claim alone to all of them.

    Claims of equal confidence are answered together, so the order of the input does not matter.

    Args:
        confidence: (N,) any score that is higher for surer answers.
        correct: (N,) whether each answer was right.
    """
    score = np.asarray(confidence, dtype=np.float64)
    right = np.asarray(correct)
    if score.ndim != 1 or not score.size or not np.isfinite(score).all():
        raise ScoringError(f"confidence: expected one finite number per claim, found shape {score.shape}.")
    if right.shape != score.shape or right.dtype.kind not in "biu" or not np.isin(right, (0, 1)).all():
        raise ScoringError(
            f"correct: expected {len(score)} values, true or false, found {right.dtype} {right.shape}."
        )
    negated, counts = np.unique(-score, return_counts=True)  # ascending in −score: surest first
    rank = np.searchsorted(negated, -score)
    wrong = np.bincount(rank, weights=1.0 - right.astype(np.float64), minlength=len(negated))
    answered = np.cumsum(counts)
    risk = np.cumsum(wrong) / answered
    return RiskCoverage(
        tuple((-negated).tolist()),
        tuple((answered / len(score)).tolist()),
        tuple(risk.tolist()),
        float(np.sum(risk * counts) / len(score)),
    )


def _renormalise(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _distributions(probabilities: ArrayLike) -> Floats:
    p = _table(probabilities, "probabilities")
    if not ((p >= 0) & (p <= 1 + 1e-6)).all() or not np.allclose(p.sum(axis=1), 1, atol=1e-3):
        raise ScoringError("probabilities: every row must lie in [0, 1] and sum to 1. Pass exp(log_probs).")
    return p


def _log_distributions(log_probs: ArrayLike) -> Floats:
    z = _table(log_probs, "log_probs")
    if np.isnan(z).any() or (z == np.inf).any() or not np.isfinite(z.max(axis=1)).all():
        raise ScoringError("log_probs: every row needs numbers, at least one of them above −∞.")
    return z


def _table(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not array.size:
        raise ScoringError(f"{name}: expected shape (claims, classes), found {array.shape}.")
    return array


def _classes(gold: ArrayLike, table: NDArray[Any]) -> NDArray[np.int64]:
    y = np.asarray(gold)
    n, classes = table.shape
    if y.shape != (n,) or y.dtype.kind not in "iu" or not ((y >= 0) & (y < classes)).all():
        raise ScoringError(
            f"gold: expected {n} class indices from 0 to {classes - 1}, "
            f"found shape {y.shape} of {y.dtype}, such as {y.ravel()[:3].tolist()}."
        )
    return y.astype(np.int64)
