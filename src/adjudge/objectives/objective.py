"""The objectives of *Rethinking Loss Functions for Fact Verification*, as one small module."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy.typing as npt
import torch
from torch import Tensor, nn

from adjudge.errors import ConfigError
from adjudge.objectives.complement import (
    CE,
    OBJECTIVES,
    REFUTES,
    SUPPORTS,
    complement,
    complement_mask,
    penalty_of_mask,
)
from adjudge.objectives.released import released_shares
from adjudge.types import FEVER_LABELS, LabelSet

Variant = Literal["paper", "released"]
Weighting = Literal["gold", "complement"]
Normaliser = Literal["claims", "weights"]


class Objective(nn.Module):
    """L(y, p) = w_y · [ −log p_y − λ · Σ_{i ∈ C[y]} log(1 − p_i) ].

    Log-probabilities in, one value per claim out (:meth:`per_claim`); calling the objective reduces them.
    It knows neither the model nor the optimizer, so it drops into any loop.

    Args:
        name: ``ce``, ``mll``, ``srn`` or ``sr``; or leave it out and give ``complement``.
        lam: λ ≥ 0. Without complements (CE) it has nothing to act on.
        weights: one weight per class, in label order, such as :func:`class_balanced_weights` gives.
        variant: ``paper``, or ``released`` for what the published code computes.
        complement: any table ``{gold: {labels it rules out}}``.
        labels: the label set, in class order.
        weighting: ``gold`` weighs the whole claim by its gold class (the paper's appendix);
            ``complement`` weighs each complement term by its own class (the paper's Eq. 10).
        normalise: ``claims`` divides by the number of claims, ``weights`` by their total weight.
    """

    weights: Tensor
    _mask: Tensor

    def __init__(
        self,
        name: str | None = None,
        *,
        lam: float = 1.0,
        weights: Sequence[float] | npt.NDArray[Any] | Tensor | None = None,
        variant: Variant = "paper",
        complement: Mapping[str, Iterable[str]] | None = None,
        labels: LabelSet | Sequence[str] = FEVER_LABELS,
        weighting: Weighting = "gold",
        normalise: Normaliser = "claims",
    ) -> None:
        super().__init__()
        self.labels = labels if isinstance(labels, LabelSet) else LabelSet(tuple(labels))
        self.name = name.lower() if name is not None else "custom"
        self.table = _table(name, complement, self.labels)
        if not (math.isfinite(lam) and lam >= 0):
            raise ConfigError(f"lam is {lam}, expected a finite number >= 0.")
        _check_choice("variant", variant, get_args(Variant))
        _check_choice("weighting", weighting, get_args(Weighting))
        _check_choice("normalise", normalise, get_args(Normaliser))
        if variant == "released" and (name is None or weighting != "gold" or normalise != "claims"):
            raise ConfigError(
                "variant 'released' is defined for ce, mll, srn and sr with weighting='gold' "
                "and normalise='claims' only."
            )
        self.lam = float(lam)
        self.variant = variant
        self.weighting = weighting
        self.normalise = normalise
        self.weighted = weights is not None
        self.register_buffer("weights", _weights(weights, len(self.labels)), persistent=False)
        self.register_buffer("_mask", complement_mask(self.table, self.labels), persistent=False)

    def forward(self, log_probs: Tensor, gold: Tensor, total: Tensor | float | None = None) -> Tensor:
        """The reduced loss.

        Args:
            log_probs: (B, K), normalised; any floating type, computed in float32 or wider.
            gold: (B,) class indices.
            total: what to divide by; by default :meth:`total` of these claims. With gradient
                accumulation or several workers pass the total of the whole optimizer step, and the sum
                over micro-batches equals the loss of one big batch.
        """
        values = self.per_claim(log_probs, gold)
        return values.sum() / (self.total(gold) if total is None else total)

    def per_claim(self, log_probs: Tensor, gold: Tensor) -> Tensor:
        """One weighted value per claim, (B,).

        Under ``released`` the terms depend on the other claims of the micro-batch; the values are
        then each claim's share, scaled so that their mean is the published loss.
        """
        if log_probs.ndim != 2 or log_probs.shape[1] != len(self.labels) or gold.shape != log_probs.shape[:1]:
            raise ConfigError(
                f"log_probs is {tuple(log_probs.shape)} and gold {tuple(gold.shape)}, "
                f"expected (B, {len(self.labels)}) and (B,)."
            )
        if gold.is_floating_point() or gold.dtype == torch.bool:
            raise ConfigError(f"gold is {gold.dtype}, expected class indices, such as torch.long.")
        gold = gold.long()
        log_probs = log_probs.to(torch.promote_types(log_probs.dtype, torch.float32))
        weights = self.weights.to(log_probs)
        if self.variant == "released":
            return released_shares(
                log_probs, gold, self._mask.to(gold.device), self.lam, weights, self._overwritten
            )
        nll = -log_probs.gather(1, gold[:, None]).squeeze(1)
        if self.weighting == "complement":  # Eq. 10
            return weights[gold] * nll + self.lam * self._penalty(log_probs, gold, weights)
        return weights[gold] * (nll + self.lam * self._penalty(log_probs, gold))

    def total(self, gold: Tensor) -> Tensor:
        """What these claims add to the divisor of the optimizer step."""
        if self.normalise == "weights":
            return self.weights.to(gold.device)[gold.long()].sum()
        return torch.tensor(float(len(gold)), device=gold.device)

    def extra_repr(self) -> str:
        """The settings, for ``print(objective)``."""
        return (
            f"{self.name}, lam={self.lam:g}, variant={self.variant}, weighting={self.weighting}, "
            f"weights={[round(w, 4) for w in self.weights.tolist()] if self.weighted else None}"
        )

    def _penalty(self, log_probs: Tensor, gold: Tensor, weights: Tensor | None = None) -> Tensor:
        if self.lam == 0 or not self._mask.any():
            return torch.zeros_like(log_probs[:, 0])
        return penalty_of_mask(self._mask, log_probs, gold, weights)

    @property
    def _overwritten(self) -> tuple[int, int] | None:
        if self.name not in ("sr", "srn"):
            return None
        return self.labels.index(SUPPORTS), self.labels.index(REFUTES)


def _table(
    name: str | None, table: Mapping[str, Iterable[str]] | None, labels: LabelSet
) -> Mapping[str, frozenset[str]]:
    if (name is None) == (table is None):
        raise ConfigError(
            f"Give an objective's name ({', '.join(OBJECTIVES)}) or its complement table, one of the two."
        )
    if table is not None:
        return complement(table, labels)
    key = str(name).lower()
    _check_choice("objective", key, tuple(OBJECTIVES))
    if OBJECTIVES[key] is CE:
        return complement({}, labels)
    if key == "mll":
        return complement({gold: set(labels) - {gold} for gold in labels}, labels)
    if set(labels) != set(FEVER_LABELS):
        raise ConfigError(
            f"Objective {key!r} is defined for {', '.join(FEVER_LABELS)}; "
            f"for {', '.join(labels)} give complement=…"
        )
    return complement(OBJECTIVES[key], labels)


def _weights(weights: Sequence[float] | npt.NDArray[Any] | Tensor | None, classes: int) -> Tensor:
    if weights is None:
        return torch.ones(classes)
    values = torch.as_tensor(weights, dtype=torch.float64)
    if values.shape != (classes,) or not bool((torch.isfinite(values) & (values >= 0)).all()):
        raise ConfigError(f"weights are {weights}, expected {classes} finite numbers >= 0, one per label.")
    return values.float()


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{what} {value!r} is not one of {', '.join(choices)}.")
