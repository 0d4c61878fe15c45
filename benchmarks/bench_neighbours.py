"""One claim at a time on shared cores: alone, beside two busy processes, and held to one core.

    python benchmarks/bench_neighbours.py --claims 20

Wall and processor time of a claim in the middle, of each runtime in a process of its own. Threads that spin while they
wait show as processor time that grows beside neighbours.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RUNTIMES = ("light", "torch")
PLACES = ("alone", "beside two busy neighbours", "on one core")
CLAIM = "The Ellery Bridge was opened in 1932."
EVIDENCE = [
    f"The bridge across the river number {n} was designed by Ingrid Solberg and opened to traffic in 193{n}."
    for n in range(5)
]


def measure(runtime: str, claims: int) -> None:
    """Print the milliseconds of a claim in the middle."""
    from adjudge import Verifier

    verifier = Verifier.load(runtime=runtime)
    wall, processor = [], []
    for number in range(claims + 3):
        start = time.perf_counter(), time.process_time()
        verifier.classify(CLAIM, EVIDENCE)
        if number >= 3:
            wall.append(time.perf_counter() - start[0])
            processor.append(time.process_time() - start[1])
    print(
        json.dumps({"wall_ms": 1e3 * statistics.median(wall), "cpu_ms": 1e3 * statistics.median(processor)})
    )


def run(runtime: str, place: str, claims: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", runtime, "--claims", str(claims)]
    busy = [sys.executable, "-c", "while True: pass"]
    neighbours = [subprocess.Popen(busy) for _ in range(2)] if place == PLACES[1] else []
    limit: Any = (
        (lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})) if place == PLACES[2] else None
    )
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=limit)
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--claims", type=int, default=20)
    parser.add_argument("--measure", choices=RUNTIMES, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.claims)
        return
    print("| one claim of five sentences | runtime | wall ms | processor ms |\n|---|---|---:|---:|")
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for place in PLACES:
        if place == PLACES[2] and not hasattr(os, "sched_setaffinity"):
            continue
        for runtime in RUNTIMES:
            one = figures.setdefault(place, {})[runtime] = run(runtime, place, arguments.claims)
            print(f"| {place} | {runtime} | {one['wall_ms']:.1f} | {one['cpu_ms']:.1f} |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
