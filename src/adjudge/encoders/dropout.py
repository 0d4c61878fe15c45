"""Dropout by the native library, which draws random numbers many times faster than PyTorch does on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from adjudge.encoders import native


class Dropout(nn.Dropout):
    """Each number is zero with probability p, else it is divided by 1 − p."""

    def forward(self, x: Tensor) -> Tensor:
        """A tensor of any shape → one of the same."""
        return dropout(x, self.p) if self.training else x


def dropout(x: Tensor, share: float) -> Tensor:
    """Drop a share of the numbers. Which ones depends on PyTorch's default generator."""
    if share == 0 or not native.is_usable_on(x):
        return functional.dropout(x, share)
    return _drop_native(x, share)


def use_fast_dropout(module: nn.Module) -> None:
    """Replace PyTorch's dropout everywhere inside a module."""
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Dropout:
                setattr(parent, name, Dropout(child.p).train(child.training))


class _NativeDropout(torch.autograd.Function):
    """Holds no mask: the seed gives the same one again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float) -> Tensor:
        ctx.share, ctx.seed = share, int(torch.randint(1 << 62, ()))
        return native.dropout(x.contiguous(), ctx.share, ctx.seed)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return native.dropout(gradients[0].contiguous(), ctx.share, ctx.seed), None


_drop_native: Callable[[Tensor, float], Tensor] = _NativeDropout.apply
