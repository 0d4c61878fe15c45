"""Where models compute."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.errors import ConfigError
from adjudge.io.cores import allowed_threads, requested_threads

if TYPE_CHECKING:
    import torch


def device_name(name: str) -> str:
    """The device for ``auto``, ``cpu`` or ``cuda`` by name; without loading torch where it can only be the CPU."""
    only_cpu = not has_torch() or not (_is_loaded() or _may_have_gpu())
    if name == "cpu" or (name == "auto" and only_cpu):
        return "cpu"
    return str(pick_device(name))


def has_torch() -> bool:
    """Whether torch is installed; verifying with encoders that we know does without it."""
    return _is_loaded() or ("torch" not in sys.modules and find_spec("torch") is not None)


def _is_loaded() -> bool:
    return sys.modules.get("torch") is not None


def _may_have_gpu() -> bool:
    """Whether a driver of NVIDIA or AMD is there; other systems than Linux are asked through torch."""
    return sys.platform not in ("linux", "darwin") or any(
        Path(path).exists() for path in ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
    )


def pick_device(name: str) -> torch.device:
    """The device for ``auto``, ``cpu`` or ``cuda``; under torchrun, this worker's own GPU."""
    import torch

    if requested_threads() is None and allowed_threads() < torch.get_num_threads():
        torch.set_num_threads(allowed_threads())  # a container's quota, which torch does not look at
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
