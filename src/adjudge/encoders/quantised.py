"""Linear layers in whole numbers, for inference on a CPU whose vectors multiply them faster than floats."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from adjudge.encoders.native import native
from adjudge.errors import ConfigError

PANEL = 16
"""Outputs that native.cpp computes together."""
INPUT_MAX = 2047
"""What native.cpp rounds the largest input of a row to."""
WORTH = 1 << 16
"""Weights from which on a layer is worth it; what is smaller takes no time."""


class Int16Linear(nn.Module):
    """y = x Wᵀ + b in whole numbers, with one scale for each output. Has no gradient.

    AVX2 multiplies 16-bit numbers as fast as it could 8-bit ones, so that all bits are used which the exact 32-bit
    sums leave room for: 12 for inputs, one scale for each row, so that a row's result does not depend on the rows
    beside it; for weights 12 with 384 inputs, 10 with 1,536, 8 with 4,096.
    """

    panels: Tensor
    scale: Tensor
    bias: Tensor

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach().float()  # (outputs, depth)
        self.outputs, self.depth = weight.shape
        largest = (2**31 - 1) // (self.depth * INPUT_MAX)
        scale = weight.abs().amax(dim=1).clamp(min=1e-30) / min(largest, 2**15 - 1)
        whole = (weight / scale[:, None]).round().to(torch.int16)
        whole = pad(whole, (0, -self.depth % 2, 0, -self.outputs % PANEL))
        # Panels of 16 outputs, in each the inputs two by two: (panels, depth / 2, 16, 2).
        panels = whole.view(-1, PANEL, whole.shape[1] // 2, 2).transpose(1, 2).contiguous()
        bias = torch.zeros(self.outputs) if linear.bias is None else linear.bias.detach().float().clone()
        self.register_buffer("panels", panels)
        self.register_buffer("scale", scale)
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        """(…, depth) → (…, outputs), single precision."""
        x = x.contiguous()
        y = x.new_empty(*x.shape[:-1], self.outputs)
        native().library.adjudge_linear(
            x.data_ptr(),
            self.panels.data_ptr(),
            self.scale.data_ptr(),
            self.bias.data_ptr(),
            y.data_ptr(),
            x.numel() // self.depth,
            self.depth,
            self.outputs,
            torch.get_num_threads(),
        )
        return y


def is_faster() -> bool:
    """Whether this machine gains by it: an x86 processor with AVX2 and no wider vectors, or with AVX-512 and VNNI."""
    library = native().library
    return library is not None and bool(library.adjudge_prefers_int16())


def quantize(encoder: nn.Module) -> None:
    """Replace the large linear layers of an encoder, in place and for good."""
    kernels = native()
    if kernels.library is None or not kernels.library.adjudge_has_int16():
        why = kernels.status if kernels.library is None else "the processor has no AVX2"
        raise ConfigError(f"precision int16 is not possible here ({why}); use auto or fp32.")
    for module in list(encoder.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear) and child.weight.numel() >= WORTH:
                setattr(module, name, Int16Linear(child))
