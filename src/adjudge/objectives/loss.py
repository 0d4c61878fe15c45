"""The objectives of *Rethinking Loss Functions for Fact Verification*, as one small module."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy.typing as npt
import torch
from torch import Tensor, nn

from adjudge.errors import ConfigError
from adjudge.objectives.fused import fused_loss
from adjudge.objectives.released import released_shares
from adjudge.objectives.tables import (
    CUSTOM,
    OBJECTIVES,
    ComplementTable,
    complement,
    complement_of,
)
from adjudge.types import FEVER_LABELS, LabelSet

Variant = Literal["paper", "released"]
Weighting = Literal["gold", "complement"]
Normaliser = Literal["claims", "weights"]

SLACK = 0.1
"""What the logarithm of a claim's summed probabilities may differ from 0; half precision needs some."""


class Objective(nn.Module):
    """L(y, p) = w_y · [ −log p_y − λ · Σ_{i ∈ C[y]} log(1 − p_i) ].

    Log-probabilities in, one value per claim out (:meth:`per_claim`); calling the objective reduces them.
    It knows neither the model nor the optimizer, so it drops into any loop.

    Args:
        name: ``ce``, ``mll``, ``srn`` or ``sr``; or any other name for a ``complement`` of your own.
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
        self.name = CUSTOM if name is None else name.lower()
        self.table = _table(name, complement, self.labels)
        definition = OBJECTIVES.get(self.name)
        if not (math.isfinite(lam) and lam >= 0):
            raise ConfigError(f"lam is {lam}, expected a finite number >= 0.")
        _check_choice("variant", variant, get_args(Variant))
        _check_choice("weighting", weighting, get_args(Weighting))
        _check_choice("normalise", normalise, get_args(Normaliser))
        if variant == "released" and (definition is None or (weighting, normalise) != ("gold", "claims")):
            raise ConfigError(
                f"variant 'released' is defined for {', '.join(OBJECTIVES)} with weighting='gold' "
                "and normalise='claims' only."
            )
        self.lam = float(lam)
        self.variant = variant
        self.weighting = weighting
        self.normalise = normalise
        self.weighted = weights is not None
        self._overwritten: tuple[int, int] | None = None
        if definition is not None and definition.overwritten is not None:
            overwritten, overwriting = definition.overwritten
            self._overwritten = self.labels.index(overwritten), self.labels.index(overwriting)
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
        if not (isinstance(log_probs, Tensor) and isinstance(gold, Tensor)):
            raise ConfigError(
                f"log_probs is a {type(log_probs).__name__} and gold a {type(gold).__name__}, expected tensors."
            )
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
        check = partial(_check_values, log_probs.detach(), gold, self.labels)
        if self.variant == "paper":
            by = weights if self.weighting == "complement" else weights[:, None]  # Eq. 10, or the appendix
            factors = self.lam * self._mask.to(log_probs) * by
            return fused_loss(log_probs, gold, weights, factors, SLACK, check)
        check()
        return released_shares(
            log_probs, gold, self._mask.to(gold.device), self.lam, weights, self._overwritten
        )

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


def _check_values(log_probs: Tensor, gold: Tensor, labels: LabelSet) -> None:
    """Refuse class indices that name no label, and scores that are not log-probabilities; NaN is left to the caller."""
    outside = (gold < 0) | (gold >= len(labels))
    unnormalised = log_probs.logsumexp(dim=1).abs() > SLACK
    if not bool((outside.any() | unnormalised.any()).item()):  # one look at the device
        return
    if bool(outside.any()):
        raise ConfigError(
            f"gold holds {int(gold[outside][0])}, expected class indices from 0 to {len(labels) - 1} "
            f"({', '.join(labels)})."
        )
    total = float(log_probs[unnormalised][0].exp().sum())
    raise ConfigError(
        f"log_probs: the probabilities of a claim add up to {total:.4g}, expected 1. Raw logits go through "
        "torch.log_softmax(logits, dim=-1) first."
    )


def _table(name: str | None, table: Mapping[str, Iterable[str]] | None, labels: LabelSet) -> ComplementTable:
    known = name is not None and name.lower() in OBJECTIVES
    if table is None and name is not None:
        return complement_of(name.lower(), labels)
    if table is None or known:
        raise ConfigError(
            f"Give an objective's name ({', '.join(OBJECTIVES)}) or its complement table, one of the two."
        )
    return complement(table, labels)


def complement_mask(table: ComplementTable, labels: LabelSet = FEVER_LABELS) -> Tensor:
    """(K, K) boolean: entry (y, i) says that gold y rules out class i."""
    return torch.tensor([[name in table[gold] for name in labels] for gold in labels])


def log_one_minus(log_probs: Tensor) -> Tensor:
    """log(1 − p_i) for every class: logsumexp over the *other* classes, exact, no clamp. (…, K) → (…, K)."""
    classes = log_probs.shape[-1]
    diagonal = torch.eye(classes, dtype=torch.bool, device=log_probs.device)
    others = log_probs.unsqueeze(-2).expand(*log_probs.shape, classes)  # (…, i, k) holds log p_k
    # The lowest number adds nothing to the sum, yet keeps the gradient finite where every other p_k is 0.
    return others.masked_fill(diagonal, torch.finfo(log_probs.dtype).min).logsumexp(dim=-1)


def penalty(mask: Tensor, log_probs: Tensor, gold: Tensor, weights: Tensor | None = None) -> Tensor:
    """−Σ_{i ∈ C[y]} w_i log(1 − p_i) with C as :func:`complement_mask` gives it; w is 1 where not given."""
    terms = -log_one_minus(log_probs)
    if weights is not None:
        terms = terms * weights
    # where, not a product: a class that is not ruled out may have a boundless log(1 − p).
    return torch.where(mask.to(gold.device)[gold], terms, torch.zeros_like(terms)).sum(dim=-1)


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
