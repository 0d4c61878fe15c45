"""Gaussian kernel pooling over cosine similarities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

KERNELS = 21
FLOOR = 1e-10


def kernel_grid() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(μ, σ) of the 21 kernels: exact match first, then 0.95, 0.85, …, −0.95."""
    soft = KERNELS - 1
    return (
        (1.0, *(0.95 - 0.1 * k for k in range(soft))),
        (1e-3, *([0.1] * soft)),
    )


class _GaussianPooling(torch.autograd.Function):
    """Σ_j m_j exp(−(M_ij − μ_k)² / 2σ_k²), without ever holding all kernels of all pairs.

    Only the similarities are kept; the backward pass computes each kernel again.
    """

    @staticmethod
    def forward(ctx: Any, similarity: Tensor, mask: Tensor) -> Tensor:
        ctx.save_for_backward(similarity, mask)
        pooled = similarity.new_empty(*similarity.shape[:-1], KERNELS)
        for k, (mu, sigma) in enumerate(zip(*kernel_grid(), strict=True)):
            kernel = _gaussian(similarity, mu, sigma)
            torch.sum(kernel.mul_(mask), dim=-1, out=pooled[..., k])
        return pooled

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        similarity, mask = ctx.saved_tensors
        (gradient,) = gradients
        total = torch.zeros_like(similarity)
        for k, (mu, sigma) in enumerate(zip(*kernel_grid(), strict=True)):
            slope = _gaussian(similarity, mu, sigma).mul_(mu - similarity).mul_(sigma**-2)
            total.addcmul_(slope, gradient[..., k].unsqueeze(-1))
        return total.mul_(mask), None


_pool: Callable[[Tensor, Tensor], Tensor] = _GaussianPooling.apply


def _gaussian(similarity: Tensor, mu: float, sigma: float) -> Tensor:
    return (similarity - mu).square_().mul_(-0.5 / sigma**2).exp_()


def kernel_pooling(similarity: Tensor, mask: Tensor) -> Tensor:
    """φ_k = log max(Σ_j m_j exp(−(M_ij − μ_k)² / 2σ_k²), 1e−10), in float32 even under autocast.

    Args:
        similarity: (…, J) cosine similarities.
        mask: broadcastable to ``similarity``, true where token j takes part.

    Returns:
        (…, 21)
    """
    with torch.autocast(similarity.device.type, enabled=False):
        similarity = similarity.to(torch.promote_types(similarity.dtype, torch.float32))
        pooled = _pool(similarity, mask.to(similarity.dtype))
        return pooled.clamp(min=FLOOR).log()
