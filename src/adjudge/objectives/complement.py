"""Complement tables: which labels a gold label rules out. Variants of the loss are data, not branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from adjudge.errors import ConfigError
from adjudge.types import FEVER_LABELS, Label, LabelSet

ComplementTable = Mapping[str, frozenset[str]]


def complement(table: Mapping[str, Iterable[str]], labels: LabelSet = FEVER_LABELS) -> ComplementTable:
    """Check a complement table against its labels; a label left out rules out nothing."""
    checked = {}
    for gold, others in table.items():
        ruled_out = frozenset(others)
        if unknown := sorted(({gold} | ruled_out) - set(labels.names)):
            raise ConfigError(f"Complement table names {unknown}, expected labels of {list(labels.names)}.")
        if gold in ruled_out:
            raise ConfigError(f"Complement table lets {gold!r} rule itself out.")
        checked[gold] = ruled_out
    return {name: checked.get(name, frozenset()) for name in labels}


SUPPORTS, REFUTES, NEI = (label.value for label in Label)

CE = complement({})
MLL = complement({SUPPORTS: {REFUTES, NEI}, REFUTES: {SUPPORTS, NEI}, NEI: {SUPPORTS, REFUTES}})
SRN = complement({SUPPORTS: {REFUTES}, REFUTES: {SUPPORTS}, NEI: {SUPPORTS, REFUTES}})
SR = complement({SUPPORTS: {REFUTES}, REFUTES: {SUPPORTS}})

OBJECTIVES: dict[str, ComplementTable] = {"ce": CE, "mll": MLL, "srn": SRN, "sr": SR}


def complement_mask(table: ComplementTable, labels: LabelSet = FEVER_LABELS) -> Tensor:
    """(K, K) boolean: entry (y, i) says that gold y rules out class i."""
    return torch.tensor([[name in table[gold] for name in labels] for gold in labels])


def log_one_minus(log_probs: Tensor) -> Tensor:
    """log(1 − p_i) for every class: logsumexp over the *other* classes, exact, no clamp. (…, K) → (…, K)."""
    classes = log_probs.shape[-1]
    own = torch.eye(classes, dtype=torch.bool, device=log_probs.device)
    others = log_probs.unsqueeze(-2).expand(*log_probs.shape, classes)  # (…, i, k) holds log p_k
    # The lowest number adds nothing to the sum, yet keeps the gradient finite where every other p_k is 0.
    return others.masked_fill(own, torch.finfo(log_probs.dtype).min).logsumexp(dim=-1)


def penalty(
    table: ComplementTable, log_probs: Tensor, gold: Tensor, labels: LabelSet = FEVER_LABELS
) -> Tensor:
    """−Σ_{i ∈ C[y]} log(1 − p_i), one value per claim. (B, K), (B,) → (B,)."""
    return penalty_of_mask(complement_mask(table, labels), log_probs, gold)


def penalty_of_mask(mask: Tensor, log_probs: Tensor, gold: Tensor, weights: Tensor | None = None) -> Tensor:
    """−Σ_{i ∈ C[y]} w_i log(1 − p_i) with C as :func:`complement_mask` gives it; w is 1 where not given."""
    terms = -log_one_minus(log_probs)
    if weights is not None:
        terms = terms * weights
    # where, not a product: a class that is not ruled out may have a boundless log(1 − p).
    return torch.where(mask.to(gold.device)[gold], terms, torch.zeros_like(terms)).sum(dim=-1)
