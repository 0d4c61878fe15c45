"""Tensors by name: hashed, packed as differences, and written to disk whole or not at all.

What differs from public weights W₀ travels light: tensors equal to them are left out, large matrices are kept as
the difference in 8 bits with one scale a row,

    W = W₀ + scale · delta,   delta ∈ {−127, …, 127},   scale = max |W − W₀| / 127 over the row,

large matrices without a public one (adapters) in half precision, and everything else in full.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from adjudge.encoders.mapped import DELTA, SCALE
from adjudge.io.temporary import temporary_file

LARGE = 4096
"""Matrices of more numbers than this are rounded."""
Tensors = Mapping[str, Tensor]


def weights_hash(module: nn.Module) -> str:
    """A hash of a model's weights by name."""
    digest = hashlib.sha256()
    for name, weight in module.state_dict().items():
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().view(-1).numpy().tobytes())
    return digest.hexdigest()


def device_of(module: nn.Module) -> torch.device:
    """Where a module computes."""
    return next(module.parameters()).device


def checksum(tensors: Tensors) -> int:
    """A checksum of tensors by name, quick enough for every state of a training."""
    total = 0
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        total = zlib.crc32(value.reshape(-1).view(torch.uint8).numpy().data, total)
        total = zlib.crc32(f"{name} {value.dtype} {tuple(value.shape)}".encode(), total)
    return total


def save_tensors(path: Path, tensors: Tensors, metadata: dict[str, str] | None = None) -> None:
    """A safetensors file that appears whole or not at all."""
    on_host = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    with temporary_file(path) as temporary:
        save_file(on_host, temporary, metadata)


def pack_differences(tensors: Tensors, public: Tensors) -> dict[str, Tensor]:
    """What :func:`unpack_differences` needs beside the public weights."""
    packed: dict[str, Tensor] = {}
    for name, value in tensors.items():
        value = value.detach().cpu().float()
        if name not in public:
            packed[name] = value.half() if _is_large(value) else value
        elif not torch.equal(value, public[name]):
            packed |= _pack(name, value, value - public[name])
    return packed


def _pack(name: str, value: Tensor, difference: Tensor) -> dict[str, Tensor]:
    if not _is_large(value):
        return {name: value}
    scale = difference.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
    return {f"{name}{DELTA}": (difference / scale).round().to(torch.int8), f"{name}{SCALE}": scale}


def _is_large(value: Tensor) -> bool:
    return value.ndim == 2 and value.numel() > LARGE


def unpack_differences(packed: Tensors, public: Tensors) -> dict[str, Tensor]:
    """The tensors that :func:`pack_differences` was given, large matrices rounded."""
    tensors = dict(public)
    for name, value in packed.items():
        if name.endswith(DELTA):
            plain = name.removesuffix(DELTA)
            tensors[plain] = public[plain] + packed[f"{plain}{SCALE}"] * value.float()
        elif not name.endswith(SCALE):
            tensors[name] = value.float()
    return tensors
