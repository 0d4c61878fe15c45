"""The native library: native.cpp, built for this machine when first needed, kept in the user's cache.

Nothing depends on it. Without a compiler, with a cache that cannot be written, or with ``ADJUDGE_NATIVE=0``
in the environment, the same is computed in plain PyTorch. ``native().status`` says which it is.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

SWITCH = "ADJUDGE_NATIVE"
FLAGS = ("-O3", "-march=native", "-std=c++17", "-fPIC", "-pthread")
THREADS = (("-fopenmp",), ())
"""With OpenMP on PyTorch's own threads, which on Linux are found when the library is loaded; else on new ones."""
LINK = ("-shared", "-pthread", *(("-Wl,-z,now",) if sys.platform == "linux" else ()))
BUILD_SECONDS = 120.0


class Native(NamedTuple):
    """The library, or None, and what became of it."""

    library: Any
    status: str


@lru_cache(maxsize=1)
def native() -> Native:
    """The library of this process, built if need be."""
    if os.environ.get(SWITCH, "1") == "0":
        return Native(None, f"plain PyTorch: {SWITCH}=0")
    return load(_default_folder())


def load(folder: Path) -> Native:
    """The library from a folder of built ones, after building it where it is missing.

    Several processes may build at the same time: each writes a file of its own and moves it into place.
    """
    source = Path(__file__).with_name("native.cpp")
    compiler = os.environ.get("CXX") or next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    status = "plain PyTorch: no C++ compiler"
    for threads in THREADS:
        try:
            path = folder / f"{_key(source, threads)}.so"
            if not path.is_file():
                if compiler is None:
                    continue
                _build(compiler, threads, source, path)
            return Native(_declare_functions(ctypes.CDLL(str(path))), f"native: {path}")
        except subprocess.CalledProcessError as error:
            first = next(iter(error.stderr.strip().splitlines()), str(error))
            status = f"plain PyTorch: {compiler} failed: {first}"
        except (OSError, AttributeError, subprocess.TimeoutExpired) as error:
            status = f"plain PyTorch: {error}"
    return Native(None, status)


def _default_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("adjudge") / "native"


def _key(source: Path, threads: tuple[str, ...]) -> str:
    """What a built file holds for: the source, and the processor that it is built on."""
    digest = hashlib.sha256(source.read_bytes())
    digest.update(repr((FLAGS, threads, LINK, sys.platform, platform.machine(), _processor())).encode())
    return digest.hexdigest()[:32]


def _processor() -> str:
    """What tells processors with different instructions apart: a home folder may serve several machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())


def _build(compiler: str, threads: tuple[str, ...], source: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".build.") as folder:
        compiled, built = Path(folder) / "native.o", Path(folder) / path.name
        # Linked without OpenMP, so that no second one is loaded beside PyTorch's.
        for arguments in (
            (*FLAGS, *threads, "-c", str(source), "-o", str(compiled)),
            (*LINK, str(compiled), "-o", str(built)),
        ):
            subprocess.run(
                [compiler, *arguments], check=True, capture_output=True, text=True, timeout=BUILD_SECONDS
            )
        os.replace(built, path)


def _declare_functions(library: Any) -> Any:
    pointer, size, threads = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    library.adjudge_pool.argtypes = [pointer] * 3 + [size] * 2 + [threads]
    library.adjudge_pool_backward.argtypes = [pointer] * 4 + [size] * 2 + [threads]
    library.adjudge_linear.argtypes = [pointer] * 5 + [size] * 3 + [threads]
    library.adjudge_dropout.argtypes = [pointer] * 2 + [size, ctypes.c_uint64, ctypes.c_double, threads]
    library.adjudge_half_products.argtypes = [pointer] * 3 + [size] * 2 + [threads]
    library.adjudge_nearest_codes.argtypes = [pointer] * 3 + [size] * 4 + [threads]
    library.adjudge_nearest_codes.restype = size
    for function in (
        library.adjudge_half_products,
        library.adjudge_pool,
        library.adjudge_pool_backward,
        library.adjudge_linear,
        library.adjudge_dropout,
    ):
        function.restype = None
    for function in (library.adjudge_has_half, library.adjudge_has_int16, library.adjudge_prefers_int16):
        function.restype = ctypes.c_int
    return library


def is_usable_on(tensor: Tensor) -> bool:
    """Whether the library computes on this tensor: single precision, on the CPU, and it is there."""
    return tensor.dtype == torch.float32 and tensor.device.type == "cpu" and native().library is not None


def pool(similarity: Tensor, mask: Tensor) -> Tensor:
    """Σ_j m_j exp(−(M_ij − μ_k)² / 2σ_k²) for the grid of ``kernels``: contiguous (…, J) → (…, 21)."""
    pooled = similarity.new_empty(*similarity.shape[:-1], 21)
    rows, columns = pooled.numel() // 21, similarity.shape[-1]
    native().library.adjudge_pool(
        similarity.data_ptr(), mask.data_ptr(), pooled.data_ptr(), rows, columns, torch.get_num_threads()
    )
    return pooled


def pool_backward(similarity: Tensor, mask: Tensor, gradient: Tensor) -> Tensor:
    """The gradient of :func:`pool` in ``similarity``."""
    result = torch.empty_like(similarity)
    gradient = gradient.contiguous()
    rows, columns = gradient.numel() // 21, similarity.shape[-1]
    native().library.adjudge_pool_backward(
        similarity.data_ptr(),
        mask.data_ptr(),
        gradient.data_ptr(),
        result.data_ptr(),
        rows,
        columns,
        torch.get_num_threads(),
    )
    return result


def dropout(x: Tensor, share: float, seed: int) -> Tensor:
    """Zero for a share of the numbers of a contiguous tensor, the others divided by 1 − share."""
    dropped = torch.empty_like(x)
    native().library.adjudge_dropout(
        x.data_ptr(), dropped.data_ptr(), x.numel(), seed, share, torch.get_num_threads()
    )
    return dropped
