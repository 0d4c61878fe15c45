"""Measuring side by side: contestants take turns in one process; memory is measured in processes of their own."""

from __future__ import annotations

import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.encoders.native import native


@dataclass(frozen=True)
class Measured:
    """Seconds of each round of one contestant, and how much work a round is."""

    seconds: tuple[float, ...]
    work: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def rate(self) -> float:
        """Work a second, of the median round."""
        return self.work / self.median

    def record(self) -> dict[str, float]:
        return {
            "median_s": self.median,
            "fastest_s": min(self.seconds),
            "slowest_s": max(self.seconds),
            "per_s": self.rate,
        }


def side_by_side(
    contestants: dict[str, Callable[[], Any]],
    work: float,
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Measured]:
    """Every contestant once to warm up, then in turn, ``rounds`` times.

    With one thread ``time.process_time`` leaves out what other programs of the machine take.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, run in contestants.items():
            start = clock()
            run()
            if number:
                seconds[name].append(clock() - start)
    return {name: Measured(tuple(found), work) for name, found in seconds.items()}


def ratio(measured: dict[str, Measured], name: str, baseline: str) -> float:
    """How many times faster: the median over the rounds, each held against the baseline's turn beside it."""
    pairs = zip(measured[baseline].seconds, measured[name].seconds, strict=True)
    return statistics.median(slow / fast for slow, fast in pairs)


def table(title: str, measured: dict[str, Measured], unit: str, baseline: str | None = None) -> str:
    """Markdown: the rate, how far the rounds lie apart, the ratio to the baseline."""
    ratios = f" × {baseline} |" if baseline else ""
    lines = [
        f"| {title} | {unit}/s | ms, fastest–slowest |{ratios}",
        "|---|---:|---:|" + ("---:|" if baseline else ""),
    ]
    for name, one in measured.items():
        spread = f"{1e3 * min(one.seconds):.4g}–{1e3 * max(one.seconds):.4g}"
        times = f" {ratio(measured, name, baseline):.2f} |" if baseline else ""
        lines.append(f"| {name} | {one.rate:.4g} | {spread} |{times}")
    return "\n".join(lines)


def gemm_peak(
    rows: int, depth: int, outputs: int, seconds: float = 1.0, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The best floating-point rate of a matrix product of these sizes, in operations a second."""
    import torch

    a, b = torch.randn(rows, depth), torch.randn(depth, outputs)
    fastest, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = clock()
        torch.mm(a, b)
        fastest = min(fastest, clock() - start)
    return 2 * rows * depth * outputs / fastest


def peak_memory(script: str, *arguments: str) -> float:
    """The most memory, in MB, that a process of this script held; it prints the figure last."""
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def resident_mb() -> float:
    """The most memory this process has held so far, in MB."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)  # macOS counts bytes
    # On Linux ru_maxrss would count what the parent held when it started this process.
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def available_mb() -> float:
    """Memory free for use, in MB; infinite where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("MemAvailable"))


def multiplies_bf16() -> bool:
    """Whether this processor has instructions for products of bfloat16."""
    try:
        return any(name in Path("/proc/cpuinfo").read_text() for name in ("avx512_bf16", "amx_bf16"))
    except OSError:
        return False


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import torch

    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        cpu = platform.processor()
    return {
        "cpu": cpu,
        "threads": torch.get_num_threads(),
        "simd": torch.backends.cpu.get_cpu_capability(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "kernels": native().status.partition(":")[0],
    }
