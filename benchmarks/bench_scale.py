"""Memory against the number of training claims, and the time to a first verdict.

    python benchmarks/bench_scale.py --claims 1000000

Each size is read, written as token rows and trained on for a few steps in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from adjudge.types import FEVER_LABELS, Evidence, Example
from harness import peak_memory, resident_mb

STEPS = 5


def examples(count: int) -> Iterator[Example]:
    """Five sentences of some twenty words a claim, made as they are asked for."""
    labels = tuple(FEVER_LABELS)
    for i in range(count):
        sentences = (
            f"Sentence {n} of {i} says that " + "one thing and another, " * (3 + (i + n) % 3)
            for n in range(5)
        )
        yield Example(i, f"Claim {i} says something.", tuple(map(Evidence, sentences)), labels[i % 3])


def train_on(count: int) -> None:
    """Store and train; print the peak."""
    from adjudge.config import ModelSettings, TrainingSettings
    from adjudge.encoders.tokens import store_tokens
    from adjudge.judges.row_model import build
    from adjudge.objectives.loss import Objective
    from adjudge.training.judge import train_judge
    from adjudge.training.loop import Metric

    class Enough(Exception):
        pass

    def stop(metric: Metric, steps: int) -> None:
        if metric.step == STEPS:
            raise Enough

    model = build(ModelSettings(backbone="tiny"), FEVER_LABELS)
    with tempfile.TemporaryDirectory() as folder:
        data = store_tokens(examples(count), model.writer, FEVER_LABELS, Path(folder) / "tokens", "made up")
        try:
            train_judge(model, data, None, Objective("ce"), TrainingSettings(), Path(folder), report=stop)
        except Enough:
            print(resident_mb())


def first_verdict(model: str | None) -> tuple[float, float]:
    """(wall, CPU) seconds of ``adjudge verify`` on four sentences."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rivers.txt").write_text(
            "The Rhine flows through Cologne. The Elbe flows through Dresden.\n"
        )
        command = [sys.executable, "-m", "adjudge", "verify", "Cologne lies on the Elbe.", "--corpus", folder]
        command += ["--model", model] if model else []
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--claims", type=int, default=20_000)
    parser.add_argument("--model", help="the model of the first verdict; by default the one of the package")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--train-on", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train_on:
        train_on(arguments.train_on)
        return
    report: dict[str, dict[str, float]] = {"peak_mb": {}}
    print("| training claims | peak memory, MB |\n|---:|---:|")
    for count in (arguments.claims // 10, arguments.claims):
        report["peak_mb"][str(count)] = peak_memory(__file__, "--train-on", str(count))
        print(f"| {count:,} | {report['peak_mb'][str(count)]:.0f} |", flush=True)
    try:
        first_verdict(arguments.model)  # builds what is built on first use
        turns = [first_verdict(arguments.model) for _ in range(3)]
    except subprocess.CalledProcessError as error:
        print(f"\nNo first verdict: {error.stderr.decode().strip()}")
    else:
        wall, cpu = (sorted(values)[1] for values in zip(*turns, strict=True))
        report["first_verdict"] = {"wall_s": wall, "cpu_s": cpu}
        print(f"\nadjudge verify, to the first verdict: {cpu:.1f} s of CPU time, {wall:.1f} s in all.")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
