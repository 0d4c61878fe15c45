"""The loss of all claims and its gradient in one pass over their log-probabilities.

    L_b = −a[y] · log p_y − Σ_i C[y, i] · log(1 − p_i),   y the gold class of claim b

    ∂L_b / ∂ log p_k = −a[y] · [k = y] − Σ_{i ≠ k} C[y, i] · p_k / (1 − p_i)

log(1 − p_i) is logsumexp over the *other* classes, exact and without a clamp. Where every other probability is 0 it is
the lowest number of its type, whose gradient is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adjudge.encoders import native


def other_classes(log_probs: Tensor) -> tuple[Tensor, Tensor]:
    """(B, K) → the log-probabilities of the others, (B, i, k) with the lowest number at k = i, and log(1 − p_i)."""
    classes = log_probs.shape[-1]
    lowest = torch.finfo(log_probs.dtype).min
    own = torch.full((classes,), lowest, dtype=log_probs.dtype, device=log_probs.device).diag_embed()
    others = torch.where(own != 0, own, log_probs[:, None, :])
    return others, others.logsumexp(dim=-1)


def loss_and_slope(
    log_probs: Tensor, gold: Tensor, weights: Tensor, coefficients: Tensor
) -> tuple[Tensor, Tensor]:
    """(B,) values and (B, K) their derivatives, by PyTorch: for any device and type."""
    others, log_others = other_classes(log_probs)
    column = gold[:, None]
    scale, factors = weights[gold], coefficients[gold]  # (B,), (B, K)
    values = log_probs.gather(1, column)[:, 0] * scale + (factors * log_others).sum(dim=1)
    shares = (others - log_others[..., None]).exp_()  # p_k / (1 − p_i)
    shares.diagonal(dim1=1, dim2=2).zero_()
    slope = torch.bmm(factors[:, None], shares)[:, 0].scatter_add_(1, column, scale[:, None])
    return -values, -slope


def native_loss_and_slope(
    log_probs: Tensor, gold: Tensor, weights: Tensor, coefficients: Tensor, slack: float
) -> tuple[Tensor, Tensor] | None:
    """The same by the native library; None where it finds a gold class or a sum of probabilities that cannot be."""
    log_probs, gold = log_probs.contiguous(), gold.contiguous()
    weights, coefficients = weights.contiguous(), coefficients.contiguous()
    values, slope = log_probs.new_empty(len(log_probs)), torch.empty_like(log_probs)
    tensors = (log_probs, gold, weights, coefficients, values, slope)
    problem = native.native().library.adjudge_loss(
        *(tensor.data_ptr() for tensor in tensors), *log_probs.shape, slack
    )
    return None if problem else (values, slope)


class _WithSlope(torch.autograd.Function):
    """Values whose derivatives are known already."""

    @staticmethod
    def forward(ctx: Any, log_probs: Tensor, values: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(slope)
        return values.view_as(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        return slope * gradients[0][:, None], None, None


with_slope: Callable[[Tensor, Tensor, Tensor], Tensor] = _WithSlope.apply
"""Log-probabilities, values of a loss and their derivatives → the values, with their gradient."""


def fused_loss(
    log_probs: Tensor,
    gold: Tensor,
    weights: Tensor,
    coefficients: Tensor,
    slack: float,
    check: Callable[[], None],
) -> Tensor:
    """(B,) values.

    Args:
        log_probs: (B, K).
        gold: (B,) class indices.
        weights: (K,) a.
        coefficients: (K, K) C.
        slack: what the logarithm of a claim's summed probabilities may differ from 0.
        check: refuses log-probabilities and classes that cannot be; the native library calls it only if there are some.
    """
    inputs = (log_probs.detach(), gold, weights, coefficients)
    result = native_loss_and_slope(*inputs, slack) if native.is_usable_on(log_probs) else None
    if result is None:
        check()
        result = loss_and_slope(*inputs)
    return with_slope(log_probs, *result)
