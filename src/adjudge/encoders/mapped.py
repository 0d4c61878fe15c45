"""Tensors of a safetensors file as arrays on its memory map: nothing is read before it is used, nothing is copied."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.encoders.known import ADAPTER_SCALE

Array = npt.NDArray[Any]
DTYPES: Mapping[str, Any] = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
DELTA, SCALE = "@delta", "@scale"


def map_tensors(path: Path) -> dict[str, Array]:
    """The tensors of a file by name.

    Raises:
        ValueError: the file is damaged, or has numbers that NumPy has no type for (bfloat16).
    """
    raw = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)
    if len(raw) < 8:
        raise ValueError(f"{path}: too short")
    start = 8 + int(raw[:8].view(np.uint64)[0])
    if start > len(raw):
        raise ValueError(f"{path}: its header is longer than the file")
    try:
        header = json.loads(raw[8:start].tobytes())
        return dict(_arrays(path, header, raw, start))
    except (RecursionError, TypeError, AttributeError, LookupError) as error:
        raise ValueError(f"{path}: its header is damaged ({error})") from None


def _arrays(path: Path, header: Any, raw: Array, start: int) -> Iterator[tuple[str, Array]]:
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in DTYPES:
            raise ValueError(f"{path}: {name} is of type {entry['dtype']}")
        first, end = (start + offset for offset in entry["data_offsets"])
        if not start <= first <= end <= len(raw):
            raise ValueError(f"{path}: {name} lies outside the file")
        yield name, raw[first:end].view(DTYPES[entry["dtype"]]).reshape(entry["shape"])


class Weights(Mapping[str, Array]):
    """Weights by name in single precision, from what a folder holds and the public weights it differs from.

    Each is put together when it is asked for: difference added (see ``encoders.tensors``), adapters merged.
    """

    def __init__(self, stored: Mapping[str, Array], public: Mapping[str, Array] | None = None) -> None:
        self._stored, self._public = stored, public or {}
        parts = {name.removesuffix(DELTA) for name in stored if not name.endswith(SCALE)}
        self._names = sorted(parts | set(self._public))

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if name.rpartition(".")[2] not in ("up", "down"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Array:
        if f"{name}{DELTA}" in self._stored:
            delta = self._stored[f"{name}{DELTA}"].astype(np.float32)
            return self._public[name] + self._stored[f"{name}{SCALE}"] * delta
        weight = self._stored[name] if name in self._stored else self._public[name]
        weight = weight if weight.dtype == np.float32 else weight.astype(np.float32)
        owner = name.removesuffix("weight")
        if name != owner and f"{owner}up" in self._stored:
            up, down = (self._stored[f"{owner}{part}"].astype(np.float32) for part in ("up", "down"))
            weight = weight + np.float32(ADAPTER_SCALE) * (up @ down)
        return weight

    def below(self, prefix: str) -> Weights:
        """The weights whose names begin with a prefix, by the rest of their names."""
        size = len(prefix)
        cut = [
            {name[size:]: value for name, value in part.items() if name.startswith(prefix)}
            for part in (self._stored, self._public)
        ]
        return Weights(*cut)
