"""How precisely a trained model computes, chosen for the device it computes on."""

from __future__ import annotations

from typing import Any, get_args

import torch

from adjudge.config import Precision
from adjudge.encoders.quantised import is_faster, quantize
from adjudge.encoders.tensors import device_of
from adjudge.errors import ConfigError


def set_precision(module: Any, precision: str) -> str:
    """Make a model ready to predict, in place and for good; returns what it computes in.

    Args:
        module: a backbone or a model that has one, on its device; not to be trained or saved afterwards.
        precision: ``fp32`` as trained; ``int16`` whole numbers in the encoder, on a CPU; ``auto`` int16 where that is
            faster, bfloat16 on a GPU, else fp32.
    """
    if precision not in get_args(Precision):
        raise ConfigError(f"precision {precision!r} is not one of {', '.join(get_args(Precision))}.")
    backbone = getattr(module, "backbone", module)
    backbone.merge_adapters()
    device = device_of(module).type
    if precision == "int16" and device != "cpu":
        raise ConfigError(f"precision int16 is for the CPU, the model is on {device}; use auto or fp32.")
    if precision == "auto" and device == "cuda":
        module.forward = torch.autocast("cuda", torch.bfloat16)(module.forward)
        return "bf16"
    if precision == "int16" or (precision == "auto" and device == "cpu" and is_faster()):
        quantize(backbone.encoder)
        return "int16"
    return "fp32"
