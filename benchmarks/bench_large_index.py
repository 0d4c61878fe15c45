"""One claim against very many sentences with vectors: python benchmarks/bench_large_index.py [--sentences N].

The text is a made-up encyclopedia, indexed as any other. Its vectors are not embedded, which would take hours: 512
sentences of it are, and every sentence gets the vector of one of them, moved by noise. So the search by words and the
search by vectors both do what they would do, over as many rows; what is found says nothing. Claims are sentences of the
encyclopedia with every fourth word left out, each asked for by itself: embedded, searched for, and five selected.

Printed for `lexical` and `fusion`, which take turns: milliseconds a claim by the clock and of the processor; the same
for the search by vectors alone, every row compared (`exact`) and by signs first (`signs`), with the recall@50 of the
latter; then the memory held after the last claim, of which what is mapped from files can be given back.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adjudge.data.world import iter_pages
from adjudge.encoders.embedder import Embedder, load_embedder
from adjudge.retrieval import EvidencePipeline, Index, load_selector, open_retriever
from adjudge.retrieval.build import index_pages
from adjudge.retrieval.embedding import VectorSettings, write_segment
from adjudge.retrieval.storage import VectorRecord, read_manifest, write_manifest
from adjudge.retrieval.vectors import FOLDER, Floats, sign_codes
from adjudge.types import Page
from bench_vectors import BLOCK, unit
from harness import machine

CENTRES = 512
NOISE = 0.8
NEAREST = 50
EXACT = 20
"""Claims for which every row is compared."""
WARM_UP = 5
"""Calls that are not counted: they read pages of files for the first time."""


class Sample:
    """Sentences of the pages that pass by, each as likely as any other."""

    def __init__(self, size: int) -> None:
        self.texts: list[str] = []
        self._size, self._random, self._seen = size, random.Random(0), 0

    def watch(self, pages: Iterator[Page]) -> Iterator[Page]:
        for page in pages:
            for sentence in page.sentences:
                self._seen += 1
                slot = self._seen - 1 if self._seen <= self._size else self._random.randrange(self._seen)
                if slot < self._size:
                    self.texts[slot : slot + 1] = [f"{page.title}. {sentence.text}"]
            yield page

    def claims(self, count: int) -> list[str]:
        return [
            " ".join(word for word in text.split() if self._random.random() > 0.25)
            for text in self.texts[:count]
        ]


def make_vectors(path: Path, centres: Floats, embedder: Embedder) -> None:
    """Give an index made-up vectors around these centres."""
    manifest = read_manifest(path)
    folder = path / manifest.generation / FOLDER
    folder.mkdir()
    noise = np.random.default_rng(0)
    steps = unit(noise.standard_normal((BLOCK, centres.shape[1]), np.float32))
    with write_segment(folder, "made-up") as writer:
        for first in range(0, manifest.numbers, BLOCK):
            count = min(BLOCK, manifest.numbers - first)
            own = centres[noise.integers(len(centres), size=count)]
            rows = unit(own + NOISE * steps[:count]).astype(np.float16)
            numbers = np.arange(first, first + count, dtype=np.int64)
            writer.append(numbers, rows, numbers.astype(np.uint64), sign_codes(rows))
    identity = VectorSettings().identity(embedder)
    record = VectorRecord(identity, centres.shape[1], ["made-up"])
    write_manifest(path, replace(manifest, vectors=record))


def memory() -> dict[str, int]:
    """Megabytes that this process holds: all, and what is mapped from files."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(fields[name].split()[0]) >> 10 for name in ("VmRSS", "RssFile", "RssAnon")}


class Times:
    """Milliseconds of calls, by the clock and of the processor."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, float]] = []

    def call(self, function: Callable[[], Any]) -> Any:
        began, used = time.perf_counter(), time.process_time()
        result = function()
        self._rows.append((1e3 * (time.perf_counter() - began), 1e3 * (time.process_time() - used)))
        return result

    def row(self, name: str) -> str:
        rows = self._rows[WARM_UP:]
        cells = [np.percentile(column, share) for column in zip(*rows, strict=True) for share in (50, 95)]
        return f"| {name} | {len(rows)} | {' | '.join(f'{cell:.1f}' for cell in cells)} |"


def measure(index: Index, claims: list[str]) -> None:
    pipelines = {
        name: EvidencePipeline(open_retriever(index, name), load_selector(name))
        for name in ("lexical", "fusion")
    }
    times = {name: Times() for name in (*pipelines, "exact", "signs")}
    for claim in claims:
        for name, pipeline in pipelines.items():
            times[name].call(partial(pipeline.find, claim))
    held = memory()
    vectors, common = index.vectors, []
    assert vectors is not None
    for query in load_embedder("minilm").embed(claims[: WARM_UP + EXACT]):
        exact = times["exact"].call(partial(vectors.search_exactly, query[None], NEAREST))[0]
        signs = times["signs"].call(partial(vectors.search_signs, query, NEAREST))
        common.append(len(set(exact.numbers.tolist()) & set(signs.numbers.tolist())) / NEAREST)
    print("| | claims | p50 ms | p95 ms | processor p50 | p95 |\n|---|--:|--:|--:|--:|--:|")
    for name, own in times.items():
        print(own.row(name))
    print(json.dumps({"recall of signs": round(float(np.mean(common)), 4)} | held))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--claims", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="keep the index and its vectors here, and use them again")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        texts, path = folder / "sample.json", folder / "index"
        sample = Sample(max(CENTRES, options.claims + WARM_UP))
        if texts.exists():
            sample.texts = json.loads(texts.read_text())
        else:
            index_pages(sample.watch(iter_pages(7, options.sentences)), path)
            embedder = load_embedder("minilm")
            make_vectors(path, embedder.embed(sample.texts[:CENTRES]), embedder)
            texts.write_text(json.dumps(sample.texts))
        index = Index.open(path)
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6
        print(json.dumps(machine() | {"sentences": index.manifest.sentences, "index_mb": round(size)}))
        measure(index, sample.claims(options.claims + WARM_UP))


if __name__ == "__main__":
    main()
