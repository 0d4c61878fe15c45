"""How precisely a trained model computes, chosen for the device it computes on."""

from __future__ import annotations

from typing import Literal, get_args

import torch

from adjudge.errors import ConfigError
from adjudge.models.int8 import is_faster, quantize
from adjudge.training.checkpoint import VerdictModel

Precision = Literal["auto", "fp32", "int8"]


def set_precision(model: VerdictModel, precision: str) -> str:
    """Make a model ready to predict, in place and for good; returns what was chosen.

    Args:
        model: on its device; not to be trained or saved afterwards.
        precision: ``fp32`` as trained; ``int8`` whole numbers in the encoder, on a CPU; ``auto`` int8 where that is
            faster, bfloat16 on a GPU, else fp32.
    """
    if precision not in get_args(Precision):
        raise ConfigError(f"precision {precision!r} is not one of {', '.join(get_args(Precision))}.")
    device = next(model.module.parameters()).device.type
    if precision == "int8" and device != "cpu":
        raise ConfigError(f"precision int8 is for the CPU, the model is on {device}; use auto or fp32.")
    if precision == "auto" and device == "cuda":
        model.module.forward = torch.autocast("cuda", torch.bfloat16)(model.module.forward)
        return "bf16"
    if precision == "int8" or (precision == "auto" and device == "cpu" and is_faster()):
        quantize(model.module.backbone.encoder)
        return "int8"
    return "fp32"
