"""Fitting a judge to somebody's own claims: temperature, a bias for each label, and when to abstain.

p'(label) ∝ exp(log p(label) / T + b(label)). A few dozen claims carry little, so log T and the biases are drawn to 0,
and every figure is cross-validated: claims are measured by what was fitted without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adjudge.errors import ScoringError
from adjudge.evaluation.calibration import expected_calibration_error, risk_coverage

Floats = NDArray[np.float64]

MIN_EXAMPLES = 30
MIN_PER_LABEL = 5
FOLDS = 5
PRIOR = 0.05
"""What log T² and each bias² cost, beside the mean −log p: as much as one claim in twenty."""
MIN_ANSWERED = 10
"""A confidence is not trusted to abstain by if fewer claims than this are above it."""


@dataclass(frozen=True)
class OwnCalibration:
    """What was fitted; with nothing to change T is 1, the biases are 0 and nothing is abstained from."""

    temperature: float = 1.0
    biases: tuple[float, ...] = ()
    min_confidence: float = 0.0


@dataclass(frozen=True)
class Figures:
    """How good probabilities are on claims that they were not fitted on."""

    accuracy: float
    balanced_accuracy: float
    log_loss: float
    ece: float


@dataclass(frozen=True)
class CalibrationReport:
    """The calibration fitted on all claims, and what it gives on claims it was not fitted on.

    ``answered`` and ``risk`` are the share of claims that are not abstained from, and the share of errors among them.
    """

    calibration: OwnCalibration
    claims: int
    before: Figures
    after: Figures
    answered: float
    risk: float


def calibrate(log_probs: ArrayLike, calibration: OwnCalibration) -> Floats:
    """Log-probabilities (N, classes) after a calibration."""
    z = np.asarray(log_probs, dtype=np.float64) / calibration.temperature
    z = z + np.asarray(calibration.biases or np.zeros(z.shape[1]))
    z = z - z.max(axis=1, keepdims=True)
    return np.asarray(z - np.log(np.exp(z).sum(axis=1, keepdims=True)))


def check_examples(gold: Sequence[int], labels: Sequence[str]) -> None:
    """Refuse what is too little to fit anything on."""
    counts = {label: list(gold).count(number) for number, label in enumerate(labels)}
    present = {label: count for label, count in counts.items() if count}
    listed = ", ".join(f"{count} {label}" for label, count in counts.items())
    if len(gold) < MIN_EXAMPLES:
        raise ScoringError(
            f"{len(gold)} labelled claims ({listed}), expected at least {MIN_EXAMPLES}. Label more."
        )
    few = [label for label, count in present.items() if count < MIN_PER_LABEL]
    if few or len(present) < 2:
        raise ScoringError(
            f"{len(gold)} labelled claims ({listed}): expected two labels or more, at least {MIN_PER_LABEL} claims of "
            "each. Label more of the rare ones."
        )


def fit_own(
    log_probs: ArrayLike, gold: Sequence[int], labels: Sequence[str], max_risk: float = 0.2
) -> CalibrationReport:
    """Fit on all claims, and measure by cross-validation.

    Args:
        log_probs: (N, classes) of the judge.
        gold: class indices.
        labels: the names of the classes.
        max_risk: abstain so that at most this share of the answers is wrong, where that can be reached.
    """
    check_examples(gold, labels)
    z = np.asarray(log_probs, dtype=np.float64)
    y = np.asarray(gold, dtype=np.int64)
    held = np.empty_like(z)
    fold = _folds(y)
    for number in range(FOLDS):
        held[fold == number] = calibrate(z[fold == number], _fit(z[fold != number], y[fold != number]))
    before, after = _figures(z, y), _figures(held, y)
    fitted = _fit(z, y) if after.log_loss < before.log_loss else OwnCalibration(1.0, (0.0,) * z.shape[1])
    calibrated = held if after.log_loss < before.log_loss else z
    threshold, answered, risk = _abstention(calibrated, y, max_risk)
    after = _figures(calibrated, y)
    calibration = OwnCalibration(fitted.temperature, fitted.biases, threshold)
    return CalibrationReport(calibration, len(y), before, after, answered, risk)


def _fit(z: Floats, y: NDArray[np.int64]) -> OwnCalibration:
    """T and biases that minimise the mean −log p plus the prior; labels that do not occur keep a bias of 0."""
    from scipy.optimize import minimize

    rows, present = np.arange(len(y)), np.bincount(y, minlength=z.shape[1]) > 0

    def calibration(values: Floats) -> OwnCalibration:
        biases = np.where(present, values[1:], 0.0)
        return OwnCalibration(float(np.exp(values[0])), tuple(biases.tolist()))

    def loss(values: Floats) -> float:
        nll = -calibrate(z, calibration(values))[rows, y].mean()
        return float(nll + PRIOR * (values**2).sum())

    start = np.zeros(z.shape[1] + 1)
    result = minimize(loss, start, method="L-BFGS-B", bounds=[(-3.0, 3.0)] * len(start))
    return calibration(result.x)


def _folds(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """A fold for each claim, every label spread evenly; the same for the same claims."""
    fold = np.empty(len(y), dtype=np.int64)
    rng = np.random.default_rng(0)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        fold[members] = np.arange(len(members)) % FOLDS
    return fold


def _figures(log_probs: Floats, y: NDArray[np.int64]) -> Figures:
    right = log_probs.argmax(axis=1) == y
    recalls = [float(right[y == label].mean()) for label in np.unique(y)]
    normalised = log_probs - np.log(np.exp(log_probs).sum(axis=1, keepdims=True))
    nll = float(-normalised[np.arange(len(y)), y].mean())
    ece = expected_calibration_error(np.exp(normalised), y, bins=10)
    return Figures(float(right.mean()), float(np.mean(recalls)), nll, ece)


def _abstention(log_probs: Floats, y: NDArray[np.int64], max_risk: float) -> tuple[float, float, float]:
    """(confidence, share answered, share wrong): the lowest confidence that keeps errors below ``max_risk``."""
    confidence = np.exp(log_probs).max(axis=1)
    right = log_probs.argmax(axis=1) == y
    curve = risk_coverage(confidence, right)
    reached = [
        (threshold, coverage, risk)
        for threshold, coverage, risk in zip(curve.thresholds, curve.coverage, curve.risk, strict=True)
        if risk <= max_risk and coverage * len(y) >= MIN_ANSWERED
    ]
    if not reached or reached[-1][1] == 1.0:
        return 0.0, 1.0, float(1 - right.mean())
    return reached[-1]
