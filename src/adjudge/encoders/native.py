"""The native library: native.cpp and what it includes, built for this machine when first needed, kept in a cache.

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
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.errors import AdjudgeError
from adjudge.io.cache import foreign, user_cache
from adjudge.io.files import sha256
from adjudge.io.temporary import sweep, temporary_folder

if TYPE_CHECKING:
    from torch import Tensor

SOURCE, INCLUDED = "native.cpp", ("native_encoder.h",)
SWITCH = "ADJUDGE_NATIVE"
FLAGS = ("-O3", "-march=native", "-std=c++17", "-fPIC", "-pthread")
THREADS = (("-fopenmp",), ())
"""With OpenMP on PyTorch's own threads, which on Linux are found when the library is loaded; else, and first where
PyTorch is not loaded, on new ones."""
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
    try:
        return load(user_cache("native"))
    except AdjudgeError as error:
        return Native(None, f"plain PyTorch: {error}")


def load(folder: Path) -> Native:
    """The library from a folder of built ones, after building it where it is missing.

    A file is called by the hash of what it was built from and with, and by the hash of its own content. It is loaded
    only if it is what it was, if it is the user's own, and if nobody else can write it. Several processes may build at
    the same time: each writes a file of its own and moves it into place.
    """
    source = Path(__file__).with_name(SOURCE)
    compiler = os.environ.get("CXX") or next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        return Native(None, "plain PyTorch: no C++ compiler")
    status = ""
    for threads in THREADS if "torch" in sys.modules else THREADS[::-1]:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if problem := foreign(folder.resolve()):
                return Native(None, f"plain PyTorch: {problem}")
            key = _key(source, compiler, threads)
            path = _built(folder, key) or _build(compiler, threads, source, folder, key)
            return Native(_declare_functions(ctypes.CDLL(str(path))), f"native: {path}")
        except subprocess.CalledProcessError as error:
            first = next(iter(error.stderr.strip().splitlines()), str(error))
            status = f"plain PyTorch: {compiler} failed: {first}"
        except (OSError, AttributeError, AdjudgeError, subprocess.TimeoutExpired) as error:
            status = f"plain PyTorch: {error}"
    return Native(None, status)


def _built(folder: Path, key: str) -> Path | None:
    """The file of a key that can be trusted; one whose content has changed is removed."""
    for path in sorted(folder.glob(f"{key}-*.so")):
        if foreign(path):
            continue
        if path.stem == f"{key}-{_digest(path)}":
            return path
        path.unlink(missing_ok=True)
    return None


def _digest(path: Path) -> str:
    return sha256(path)[:32]


def _key(source: Path, compiler: str, threads: tuple[str, ...]) -> str:
    """What a built file holds for: source, compiler, flags, and the processor that it is built on."""
    path = Path(shutil.which(compiler) or compiler).resolve()
    attributes = path.stat()
    parts = (FLAGS, threads, LINK, sys.platform, platform.machine(), _processor())
    digest = hashlib.sha256(source.read_bytes())
    for name in INCLUDED:
        digest.update(source.with_name(name).read_bytes())
    digest.update(repr((*parts, str(path), attributes.st_size, attributes.st_mtime_ns)).encode())
    return digest.hexdigest()[:32]


def _processor() -> str:
    """What tells processors with different instructions apart: a home folder may serve several machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())


def _build(compiler: str, threads: tuple[str, ...], source: Path, folder: Path, key: str) -> Path:
    sweep(folder)
    with temporary_folder(folder / "build") as scratch:
        compiled, built = scratch / "native.o", scratch / "native.so"
        # Linked without OpenMP, so that no second one is loaded beside PyTorch's.
        for arguments in (
            (*FLAGS, *threads, "-c", str(source), "-o", str(compiled)),
            (*LINK, str(compiled), "-o", str(built)),
        ):
            subprocess.run(
                [compiler, *arguments], check=True, capture_output=True, text=True, timeout=BUILD_SECONDS
            )
        built.chmod(0o700)
        path = folder / f"{key}-{_digest(built)}.so"
        os.replace(built, path)
    return path


def _declare_functions(library: Any) -> Any:
    pointer, size, threads = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    library.adjudge_pool.argtypes = [pointer] * 3 + [size] * 2 + [threads]
    library.adjudge_pool_backward.argtypes = [pointer] * 4 + [size] * 2 + [threads]
    library.adjudge_linear.argtypes = [pointer] * 5 + [size] * 3 + [threads]
    library.adjudge_dropout.argtypes = [pointer] * 2 + [size, ctypes.c_uint64, ctypes.c_double, threads]
    library.adjudge_half_products.argtypes = [pointer] * 3 + [size] * 2 + [threads]
    library.adjudge_encode.argtypes = [
        *([pointer] * 2 + [size, pointer] + [size] * 4),
        *(threads, ctypes.c_double, pointer, size, threads),
    ]
    library.adjudge_loss.argtypes = [pointer] * 6 + [size] * 2 + [ctypes.c_float]
    library.adjudge_loss.restype = ctypes.c_int
    library.adjudge_nearest_codes.argtypes = [pointer] * 3 + [size] * 4 + [threads]
    library.adjudge_nearest_codes.restype = size
    for function in (
        library.adjudge_half_products,
        library.adjudge_pool,
        library.adjudge_pool_backward,
        library.adjudge_linear,
        library.adjudge_dropout,
        library.adjudge_encode,
    ):
        function.restype = None
    for function in (library.adjudge_has_half, library.adjudge_has_int16, library.adjudge_prefers_int16):
        function.restype = ctypes.c_int
    return library


def is_usable_on(tensor: Tensor) -> bool:
    """Whether the library computes on this tensor: single precision, on the CPU, and it is there."""
    import torch

    return tensor.dtype == torch.float32 and tensor.device.type == "cpu" and native().library is not None


def pool(similarity: Tensor, mask: Tensor) -> Tensor:
    """Σ_j m_j exp(−(M_ij − μ_k)² / 2σ_k²) for the grid of ``kernels``: contiguous (…, J) → (…, 21)."""
    import torch

    pooled = similarity.new_empty(*similarity.shape[:-1], 21)
    rows, columns = pooled.numel() // 21, similarity.shape[-1]
    native().library.adjudge_pool(
        similarity.data_ptr(), mask.data_ptr(), pooled.data_ptr(), rows, columns, torch.get_num_threads()
    )
    return pooled


def pool_backward(similarity: Tensor, mask: Tensor, gradient: Tensor) -> Tensor:
    """The gradient of :func:`pool` in ``similarity``."""
    import torch

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
    import torch

    dropped = torch.empty_like(x)
    native().library.adjudge_dropout(
        x.data_ptr(), dropped.data_ptr(), x.numel(), seed, share, torch.get_num_threads()
    )
    return dropped
