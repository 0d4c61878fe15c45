"""How many threads may compute here: what the user asks for, what the scheduler allows, what a container is given."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
THREADS = "OMP_NUM_THREADS"


def available_threads() -> int:
    """Threads for work that is worth sharing; at least one.

    PyTorch's own figure where it is loaded, since a program may have set it. Else ``OMP_NUM_THREADS``, or the cores
    that this process may run on, no more than its container's share of processor time is worth.
    """
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_num_threads"):
        return int(torch.get_num_threads())
    return requested_threads() or allowed_threads()


def requested_threads() -> int | None:
    """What ``OMP_NUM_THREADS`` asks for, None where it says nothing that can be read."""
    text = os.environ.get(THREADS, "").partition(",")[0].strip()
    return int(text) if text.isdecimal() and int(text) > 0 else None


def allowed_threads() -> int:
    """The cores that this process may run on, or what its container's quota is worth if that is less."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = container_quota()
    return max(1, cores if quota is None else min(cores, math.ceil(quota)))


def container_quota(root: Path = CGROUPS, group: str | None = None) -> float | None:
    """Processors' worth of time that this process's control group allows, None without a limit.

    A group's limit binds those below it, so that the least on the way up counts. Version 2 says "quota period" in
    ``cpu.max``, version 1 has a file for each.
    """
    quotas = []
    path = Path(_own_group() if group is None else group)
    for part in (path, *path.parents):
        relative = str(part).lstrip("/")
        quotas.append(_version_2(root / relative / "cpu.max"))
        for controller in ("cpu", "cpu,cpuacct"):
            quotas.append(_version_1(root / controller / relative))
    return min((quota for quota in quotas if quota is not None), default=None)


def _own_group() -> str:
    """The path of this process's group; in a container its files lie at the root."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "/"
    paths = [line.split(":", 2)[2] for line in lines if line.count(":") >= 2 and _rules_cpu(line)]
    return next(iter(paths), "/")


def _rules_cpu(line: str) -> bool:
    controllers = line.split(":", 2)[1]
    return not controllers or "cpu" in controllers.split(",")


def _version_2(path: Path) -> float | None:
    try:
        quota, period = path.read_text(encoding="utf-8").split()[:2]
        return None if quota == "max" else float(quota) / float(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _version_1(folder: Path) -> float | None:
    try:
        quota = float((folder / "cpu.cfs_quota_us").read_text(encoding="utf-8"))
        period = float((folder / "cpu.cfs_period_us").read_text(encoding="utf-8"))
        return quota / period if quota > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
