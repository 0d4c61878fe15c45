"""Gaussian kernel pooling over cosine similarities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adjudge.encoders import native

KERNELS = 21
FLOOR = 1e-10
SPACING = 0.1
"""Both the distance between the means of neighbouring soft kernels and their σ."""
EXACT_SIGMA = 1e-3
FAR = 1e3
"""A similarity at which every kernel is exactly zero: what a masked token gets."""


def kernel_grid() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(μ, σ) of the 21 kernels: exact match first, then 0.95, 0.85, …, −0.95."""
    soft = KERNELS - 1
    return (
        (1.0, *(0.95 - SPACING * k for k in range(soft))),
        (EXACT_SIGMA, *([SPACING] * soft)),
    )


class _NativePooling(torch.autograd.Function):
    """The same as ``_GaussianPooling``, by the native library."""

    @staticmethod
    def forward(ctx: Any, similarity: Tensor, mask: Tensor) -> Tensor:
        similarity, mask = similarity.contiguous(), mask.expand_as(similarity).contiguous()
        ctx.save_for_backward(similarity, mask)
        return native.pool(similarity, mask)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        similarity, mask = ctx.saved_tensors
        return native.pool_backward(similarity, mask, gradients[0]), None


class _GaussianPooling(torch.autograd.Function):
    """Σ_j m_j exp(−(M_ij − μ_k)² / 2σ_k²), without ever holding all kernels of all pairs.

    Works through blocks that fit a core's cache. Only the masked similarities are kept; the backward
    pass computes each kernel again.
    """

    @staticmethod
    def forward(ctx: Any, similarity: Tensor, mask: Tensor) -> Tensor:
        masked = torch.where(mask, similarity, FAR)
        ctx.save_for_backward(masked)
        pooled = similarity.new_empty(*similarity.shape[:-1], KERNELS)
        for block, out in zip(_blocks(masked), _blocks(pooled), strict=True):
            for k, kernel, scale in _kernels(block):
                torch.mul(kernel.sum(dim=-1), scale, out=out[..., k])
        return pooled

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (masked,) = ctx.saved_tensors
        (gradient,) = gradients
        total = torch.empty_like(masked)
        means, sigmas = kernel_grid()
        for block, out, g in zip(_blocks(masked), _blocks(total), _blocks(gradient), strict=True):
            out.zero_()
            slope = torch.zeros_like(block)
            for k, kernel, scale in _kernels(block):
                # d/dM exp(−(M − μ)² / 2σ²) = (μ − M) / σ² · exp(…)
                weight = g[..., k, None] * (scale / sigmas[k] ** 2)
                if k == 0:  # in one piece: 1/σ² = 10⁶ would drown the other kernels' digits
                    out.addcmul_(kernel.mul_(means[0] - block), weight)
                else:
                    out.addcmul_(kernel, weight * means[k])
                    slope.addcmul_(kernel, weight)
            out.addcmul_(slope, block, value=-1)
        return total, None


_pool_native: Callable[[Tensor, Tensor], Tensor] = _NativePooling.apply
_pool_plain: Callable[[Tensor, Tensor], Tensor] = _GaussianPooling.apply


def _blocks(tensor: Tensor) -> Iterator[Tensor]:
    """Views over the two leading dimensions."""
    return iter(tensor.flatten(0, 1)) if tensor.ndim > 2 else iter([tensor])


def _kernels(similarity: Tensor) -> Iterator[tuple[int, Tensor, float]]:
    """(k, values, factor) of every kernel; ``values`` is overwritten by the next one.

    The soft kernels lie on a regular grid with σ equal to its spacing δ, so that neighbours differ by
    exp(±M/δ) and a constant: one exponential starts them from the middle of the grid, where nothing
    underflows that matters, and a product gives each next one. The constant stays out, as the factor.
    """
    means, _ = kernel_grid()
    yield 0, (similarity - means[0]).square_().mul_(-0.5 / EXACT_SIGMA**2).exp_(), 1.0
    middle = KERNELS // 2
    start = (similarity - means[middle]).square_().mul_(-0.5 / SPACING**2).exp_()
    yield middle, start, 1.0
    for direction, last in ((1, KERNELS), (-1, 0)):
        ratio = (similarity.clamp(max=2.0) * (-direction / SPACING)).exp_()
        values = start.clone()
        for k in range(middle + direction, last, direction):
            values.mul_(ratio)
            # (μ₀² − μ_k²) / 2δ², what the products leave out of the exponent.
            exponent = (means[middle] ** 2 - means[k] ** 2) / (2 * SPACING**2)
            yield k, values, math.exp(exponent)


def kernel_pooling(similarity: Tensor, mask: Tensor) -> Tensor:
    """φ_k = log max(Σ_j m_j exp(−(M_ij − μ_k)² / 2σ_k²), 1e−10), in float32 even under autocast.

    Args:
        similarity: (…, J) cosine similarities.
        mask: boolean, broadcastable to ``similarity``, true where token j takes part.

    Returns:
        (…, 21)
    """
    with torch.autocast(similarity.device.type, enabled=False):
        similarity = similarity.to(torch.promote_types(similarity.dtype, torch.float32))
        pool = _pool_native if native.is_usable_on(similarity) else _pool_plain
        return pool(similarity, mask).clamp(min=FLOOR).log()
