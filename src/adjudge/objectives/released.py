"""The loss that the published code computes, for exact comparison with published numbers.

It differs from the paper in four ways:

1. in SR and SRN the REFUTES term overwrites the SUPPORTS term whenever the micro-batch holds a REFUTES claim;
2. auxiliary terms are means over each gold class's claims of the micro-batch, summed over classes;
3. class weights act in the cross-entropy term only, which is divided by the micro-batch's weight sum;
4. 1 − p is clamped to [1e−7, 1].
"""

from __future__ import annotations

import torch
from torch import Tensor

FLOOR = 1e-7


def released_shares(
    log_probs: Tensor,
    gold: Tensor,
    ruled_out: Tensor,
    lam: float,
    weights: Tensor,
    overwritten: tuple[int, int] | None,
) -> Tensor:
    """Each claim's share of the micro-batch loss, scaled so that the *mean* of the shares is that loss.

    Args:
        log_probs: (B, K).
        gold: (B,) class indices.
        ruled_out: (K, K) boolean, entry (y, i) says that gold y rules out class i.
        lam: λ.
        weights: (K,) class weights.
        overwritten: (lost, kept): claims of class ``lost`` have no auxiliary term when ``kept`` is present.

    Returns:
        (B,)
    """
    claim_weights = weights[gold]
    cross_entropy = -log_probs.gather(1, gold[:, None]).squeeze(1) * claim_weights / claim_weights.sum()
    log_complement = -(1 - log_probs.exp()).clamp(FLOOR, 1).log()
    terms = torch.where(ruled_out[gold], log_complement, torch.zeros_like(log_complement)).sum(dim=1)
    of_class = torch.bincount(gold, minlength=len(weights))
    auxiliary = terms / of_class[gold]
    if overwritten is not None and of_class[overwritten[1]] > 0:
        auxiliary = auxiliary.masked_fill(gold == overwritten[0], 0.0)
    return (cross_entropy + lam * auxiliary) * len(gold)
