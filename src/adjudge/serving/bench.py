"""How fast verifying is on this machine, with the installed package alone: claims and pages are made up."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.wiki import write_pages
from adjudge.errors import ConfigError
from adjudge.io.cores import available_threads
from adjudge.serving.settings import VerifierSettings
from adjudge.serving.verifier import Verifier
from adjudge.types import Evidence, Example

CLAIM = "The bridge was opened in 1932."
PAGES = 200
"""Claims that the made-up pages are about; they decide how many pages there are."""
Report = Callable[[str], None]


class Timing(msgspec.Struct, frozen=True):
    """The middle of several rounds: wall and processor seconds, and what was done a second of either."""

    wall_s: float
    cpu_s: float
    work: int = 1

    @property
    def rate(self) -> float:
        """Work a second of wall time."""
        return self.work / self.wall_s


class BenchReport(msgspec.Struct, frozen=True):
    """What was measured, and on what.

    Attributes:
        machine: processor, threads, versions.
        settings: of the verifier, those that are not the defaults.
        first_verdict: a process of its own, from start to end: ``adjudge verify`` on a small folder, index at hand.
        memory_mb: the most memory of that process.
        one_claim: evidence given, five sentences.
        bulk: many claims, evidence given.
        end_to_end: many claims, evidence searched for in an index with vectors.
        embedding: sentences embedded for an index.
    """

    machine: dict[str, Any]
    settings: dict[str, Any]
    first_verdict: Timing
    memory_mb: float
    one_claim: Timing
    bulk: Timing
    end_to_end: Timing
    embedding: Timing


@dataclass(frozen=True)
class BenchSettings:
    """How much is measured: claims of a bulk round, rounds."""

    claims: int = 64
    rounds: int = 3

    def __post_init__(self) -> None:
        if self.claims < 1 or self.rounds < 1:
            raise ConfigError(f"{self.claims} claims in {self.rounds} rounds: expected at least one of each.")


def run_bench(
    settings: VerifierSettings, bench: BenchSettings | None = None, report: Report = lambda step: None
) -> BenchReport:
    """Measure; ``report`` is called with what comes next."""
    from adjudge.data.world import generate
    from adjudge.encoders.embedder import load_embedder

    bench = bench or BenchSettings()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report("the first verdict, in processes of their own")
        first, memory = _first_verdict(settings, folder, bench.rounds)
        verifier = Verifier(settings)
        world = generate(PAGES, seed=0)
        examples = list(islice(_examples(world), bench.claims))
        report("one claim")
        one = _time(lambda: list(verifier.classify_many(examples[:1])), 1, 5 * bench.rounds)
        report(f"{bench.claims} claims with their evidence")
        bulk = _time(lambda: list(verifier.classify_many(examples)), len(examples), bench.rounds)
        report("an index")
        write_pages(folder / "wiki-001.jsonl", world.pages)
        retriever = verifier.retriever(folder / "wiki-001.jsonl")
        texts = [example.claim for example in examples]

        def search() -> None:
            verifier.clear_cache()
            list(verifier.verify_many(texts, retriever))

        report(f"{bench.claims} claims against the index")
        end_to_end = _time(search, len(texts), bench.rounds)
        report("sentences embedded")
        embedder = load_embedder(precision=settings.precision, runtime=settings.runtime)
        sentences = [evidence.text for example in examples for evidence in example.evidence]
        embedding = _time(lambda: embedder.embed(sentences), len(sentences), bench.rounds)
    identity = verifier.judge.identity
    changed = settings.model_dump(mode="json", exclude_defaults=True)
    changed |= {key: identity[key] for key in ("precision", "runtime") if key in identity}
    return BenchReport(_machine(), changed, first, memory, one, bulk, end_to_end, embedding)


def _examples(world: Any) -> Iterator[Example]:
    """Claims of the made-up world, each with five sentences of its pages."""
    sentences = [Evidence(line.text, page.id) for page in world.pages for line in page.sentences if line.text]
    for number, claim in enumerate(cycle(world.claims)):
        start = 5 * number % max(1, len(sentences) - 5)
        yield Example(number, claim.text, tuple(sentences[start : start + 5]))


def _time(run: Callable[[], Any], work: int, rounds: int) -> Timing:
    """One round to warm up, then the middle of the others."""
    run()
    wall, processor = [], []
    for _ in range(rounds):
        start = time.perf_counter(), time.process_time()
        run()
        wall.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return Timing(statistics.median(wall), statistics.median(processor), work)


_CHILD = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run([sys.executable, "-m", "adjudge", *sys.argv[1:]], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def _first_verdict(settings: VerifierSettings, folder: Path, rounds: int) -> tuple[Timing, float]:
    """From the start of a process to its end; the first one makes the index and is not counted."""
    notes = folder / "notes"
    notes.mkdir()
    (notes / "bridge.txt").write_text(f"{CLAIM} It has three arches.\n", encoding="utf-8")
    options = [
        f"--{field}={value}"
        for field in ("model", "selector", "device", "precision", "runtime")
        if (value := getattr(settings, field))
    ]
    command = [sys.executable, "-c", _CHILD, "verify", CLAIM, "--corpus", str(notes), *options]
    wall, processor, memory = [], [], 0.0
    for number in range(rounds + 1):
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ})
        code, seconds, used, resident = done.stdout.split() or ["1", "0", "0", "0"]
        if code != "0":
            raise ConfigError(f"adjudge verify failed: {done.stderr.strip()}")
        if number:
            wall.append(float(seconds))
            processor.append(float(used))
            memory = max(memory, float(resident) / (1 << (20 if sys.platform == "darwin" else 10)))
    return Timing(statistics.median(wall), statistics.median(processor)), memory


def _machine() -> dict[str, Any]:
    from adjudge import __version__
    from adjudge.encoders.native import native

    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": next(iter(names), platform.processor()),
        "cores": os.cpu_count(),
        "threads": available_threads(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "adjudge": __version__,
        "native": native().status.partition(":")[0],
    }
