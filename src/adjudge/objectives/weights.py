"""Class-balanced weights (Eq. 11; Cui et al., 2019)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from adjudge.errors import ConfigError


def class_balanced_weights(
    counts: Sequence[float], beta: float, normalise: bool = True
) -> npt.NDArray[np.float64]:
    """w_i = (1 − β) / (1 − β^{n_i}), one weight per class.

    Args:
        counts: n_i, the examples of each class in the training data actually used.
        beta: 0 ≤ β < 1. β = 0 gives all ones; as β → 1 the weights approach 1 / n_i.
        normalise: scale the weights to mean 1 over the classes, as Cui et al. do. The raw weights at
            FEVER's counts are about 1e−5, which shrinks the gradient against weight decay and clipping.

    Returns:
        float64 array in the order of ``counts``.
    """
    if not 0 <= beta < 1:
        raise ConfigError(f"beta is {beta}, expected 0 <= beta < 1.")
    if len(counts) == 0 or not all(math.isfinite(n) and n > 0 for n in counts):
        raise ConfigError(
            f"Class counts are {list(counts)}, expected a positive number for every class. "
            "A class without training examples has no weight: leave beta out, or give claims of every label."
        )
    n = np.asarray(counts, dtype=np.float64)
    # 1 − β is exact for β ≥ ½; expm1 and log1p keep its digits where 1 − β^n would lose them.
    log_beta = np.log1p(-(1.0 - beta)) if beta >= 0.5 else np.log(beta) if beta > 0 else -np.inf
    weights = (1.0 - beta) / -np.expm1(n * log_beta)
    return weights / weights.mean() if normalise else weights
