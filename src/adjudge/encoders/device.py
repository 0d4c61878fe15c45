"""Where models compute."""

from __future__ import annotations

import os

import torch

from adjudge.errors import ConfigError


def pick_device(name: str) -> torch.device:
    """The device for ``auto``, ``cpu`` or ``cuda``; under torchrun, this worker's own GPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError("--device cuda: torch finds no GPU here; use --device cpu.")
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    try:
        return torch.device(name)
    except RuntimeError:
        raise ConfigError(f"device {name!r} is not one of auto, cpu, cuda.") from None
