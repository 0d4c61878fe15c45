"""What a second worker brings: python benchmarks/bench_workers.py [--sentences N] [--claims N] [--rounds N].

Two works, each with one worker of one thread and with two, in turns, by the clock:

- `verify`: a file of claims against one index that all workers read (a made-up encyclopedia by words, or with
  vectors: --vectors), on a Ray cluster of this machine with so many processors. The rate is that between the first
  and the last window; starting Ray and loading the verifier come before the first.
- `train`: a comparison of four short runs (`adjudge compare --jobs`), whole commands.

What two workers bring over one is the last column; 2 is what two free cores could bring.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from adjudge.data.world import iter_pages
from adjudge.io.jsonl import write_json_lines
from adjudge.retrieval.build import index_pages
from adjudge.retrieval.embedding import VectorSettings
from harness import machine

WORKERS = (1, 2)
RUNS = 4
TRAINED = 256
PLAN = f"""
[world]
claims = 1200
seed = 7
sentences = 2
[run.data]
limit = {TRAINED}
dev_limit = 32
[run.model]
pooling = "mean"
init = "fever"
[run.training]
batch_size = 16
accumulation = 1
epochs = 1
eval_every = 100
[grid]
objectives = ["ce", "sr"]
weighting = [false]
seeds = [0, 1]
"""


def make_files(folder: Path, sentences: int, claims: int, vectors: bool) -> None:
    index_pages(iter_pages(7, sentences), folder / "index", vectors=VectorSettings() if vectors else None)
    texts = (sentence.text for page in iter_pages(7, sentences) for sentence in page.sentences)
    records = ({"id": number, "claim": text} for number, text in enumerate(islice(texts, claims)))
    write_json_lines(folder / "claims.jsonl", records)
    (folder / "plan.toml").write_text(PLAN)


def verify_here(folder: Path, workers: int, selector: str) -> None:
    """Judge the file on a cluster of so many processors, and print claims a second."""
    import ray

    from adjudge.cluster.bulk import verify_file_on
    from adjudge.serving.bulk import BulkJob
    from adjudge.serving.settings import VerifierSettings

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    written: list[tuple[float, int]] = []
    verify_file_on(
        "local",
        VerifierSettings(corpus=folder / "index", selector=selector),
        BulkJob(folder / "claims.jsonl", folder / "verdicts.jsonl", restart=True),
        windows=1,
        progress=lambda done: written.append((time.perf_counter(), done)),
    )
    seen = [(at, done) for at, done in written if done]
    (began, first), (ended, last) = seen[0], seen[-1]
    print(json.dumps((last - first) / (ended - began)))


def verify(folder: Path, workers: int, selector: str) -> float:
    command = [sys.executable, __file__, "--verify", str(folder), str(workers), selector]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def train(folder: Path, workers: int, turn: int) -> float:
    command = [sys.executable, "-m", "adjudge", "compare", folder / "plan.toml"]
    options = ["--jobs", workers, "--out", folder / f"compared-{workers}-{turn}", "--cache", folder / "cache"]
    began = time.perf_counter()
    subprocess.run([*map(str, command + options)], check=True, capture_output=True, env=single_threaded())
    return RUNS * TRAINED / (time.perf_counter() - began)


def single_threaded() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--claims", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--vectors", action="store_true", help="embed the sentences first (--selector fusion)"
    )
    parser.add_argument("--only", choices=("verify", "train"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--verify", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.verify:
        folder, workers, selector = options.verify
        verify_here(Path(folder), int(workers), selector)
        return
    selector = "fusion" if options.vectors else "lexical"
    rates: dict[str, dict[int, list[float]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_files(folder, options.sentences, options.claims, options.vectors)
        for turn in range(options.rounds):
            for workers in WORKERS:
                if options.only != "train":
                    rate = verify(folder, workers, selector)
                    rates.setdefault(f"verify, {selector}", {}).setdefault(workers, []).append(rate)
                if options.only != "verify":
                    rate = train(folder, workers, turn)
                    rates.setdefault("train", {}).setdefault(workers, []).append(rate)
    print("| claims/s, medians | 1 worker | 2 workers | ratio |\n|---|--:|--:|--:|")
    for name, found in rates.items():
        one, two = (statistics.median(found[workers]) for workers in WORKERS)
        print(f"| {name} | {one:.1f} | {two:.1f} | {two / one:.2f} |")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rates": rates}, indent=2) + "\n")


if __name__ == "__main__":
    main()
