"""Low-rank adapters: a frozen linear layer learns a difference of small rank (Hu et al., LoRA).

    W = W₀ + SCALE · up · down,   down (rank, inputs), up (outputs, rank), up = 0 at the beginning

Only ``up``, ``down`` and the bias are trained and stored. The layer multiplies by the whole W once, in both directions,
so that a step costs two thirds of one that trains W itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from adjudge.encoders.known import ADAPTER_SCALE

SCALE = ADAPTER_SCALE


class AdaptedLinear(nn.Module):
    """y = x (W₀ + SCALE · up · down)ᵀ + b, with W₀ fixed."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(base.weight.detach(), requires_grad=False)
        self.bias = base.bias
        self.down = nn.Parameter(base.weight.new_empty(rank, base.in_features))
        self.up = nn.Parameter(base.weight.new_zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        """(…, inputs) → (…, outputs)."""
        mapped = linear_with_adapter(x, self.weight, self.down, self.up)
        return mapped + self.bias.to(mapped.dtype)

    def merge(self) -> nn.Linear:
        """The same map as a plain layer."""
        outputs, inputs = self.weight.shape
        merged = nn.Linear(inputs, outputs, device="meta")
        merged.weight = nn.Parameter(_merged(self.weight, self.down, self.up).detach())
        merged.bias = nn.Parameter(self.bias.detach())
        return merged.train(self.training)


def add_adapters(layers: Iterable[nn.Module], rank: int) -> None:
    """Give every linear layer inside these layers an adapter; the rest of them, vectors, is trained as it is."""
    for layer in layers:
        for module in list(layer.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(module, name, AdaptedLinear(child, rank))


def merge_adapters(module: nn.Module) -> None:
    """Replace every adapted layer by a plain one, in place and for good."""
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, AdaptedLinear):
                setattr(parent, name, child.merge())


def _merged(weight: Tensor, down: Tensor, up: Tensor) -> Tensor:
    return torch.addmm(weight, up, down, alpha=SCALE)


class _LinearWithAdapter(torch.autograd.Function):
    """Keeps its input alone: the merged weight, cheap beside the product with many tokens, is made again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, down: Tensor, up: Tensor) -> Tensor:
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        ctx.save_for_backward(x, weight, down, up)
        return linear(x, _merged(weight, down, up).to(x.dtype))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, None, Tensor, Tensor]:
        x, weight, down, up = ctx.saved_tensors
        (dy,) = gradients
        dx = dy @ _merged(weight, down, up).to(dy.dtype) if ctx.needs_input_grad[0] else None
        rows, errors = x.flatten(0, -2), dy.flatten(0, -2)  # (T, inputs), (T, outputs)
        d_up = SCALE * errors.T @ (rows @ down.T.to(x.dtype))  # (outputs, rank)
        d_down = SCALE * (errors @ up.to(x.dtype)).T @ rows  # (rank, inputs)
        return dx, None, d_down.to(down.dtype), d_up.to(up.dtype)


linear_with_adapter: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = _LinearWithAdapter.apply
"""(…, inputs), W₀, down, up → (…, outputs)."""
