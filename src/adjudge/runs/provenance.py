"""When, where and with what something was computed."""

from __future__ import annotations

import platform
import subprocess
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Start:
    """When something was begun, made at that moment; its duration does not change with the clock's setting."""

    clock: float = field(default_factory=time.time)
    steady: float = field(default_factory=time.monotonic)


def provenance(start: Start) -> dict[str, Any]:
    """Of something that was begun at ``start`` and is now done."""
    return {
        "started": datetime.fromtimestamp(start.clock, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - start.steady, 1),
        "versions": versions(),
        "machine": machine(),
        "git_commit": _git_commit(),
    }


def versions() -> dict[str, str]:
    """Versions of what decides a result."""
    installed = {"python": platform.python_version()}
    for package in ("adjudge", "torch", "transformers", "numpy", "scipy"):
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def machine() -> dict[str, Any]:
    """What a result was computed on."""
    import torch

    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {"system": platform.platform(), "cpu": _cpu(), "threads": torch.get_num_threads(), "gpus": gpus}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _git_commit() -> str | None:
    """The commit of the source tree adjudge runs from, when it runs from one."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
