"""Very many sentences with vectors: python benchmarks/bench_large_index.py [--sentences N] [--embed].

The text is a made-up encyclopedia, written and indexed as files of the wiki dump. Its vectors are made up too, unless
--embed is given: embedding millions of sentences takes an hour or more. The stand-in (stand_in.py) takes the
embedder's place, and everything after it, the journal, the files, the search, is as always. So times, memory and sizes
are those of so many rows, without the embedding; what is found says nothing. Claims are sentences of the encyclopedia
with every fourth word left out, each asked for by itself: embedded, searched for, and five selected.

Printed for `lexical` and `fusion`, which take turns: milliseconds a claim by the clock and of the processor; the same
for the search by vectors alone, every row compared (`exact`) and by signs first (`signs`), with the recall@50 of the
latter; then the memory held after the last claim, of which what is mapped from files can be given back. Then for
indexing, and for bringing the index up to date after a file was added and after one has changed, each in a process of
its own: seconds by the clock and of the processor, megabytes on disk, peak resident memory.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.encoders.embedder import load_embedder
from adjudge.retrieval import EvidencePipeline, Index, load_selector, open_retriever
from bench_index_search import add_a_file, change_a_file, measure_build, queries_from, table, write_corpus
from harness import machine

SEED = 7
NEAREST = 50
EXACT = 20
"""Claims for which every row is compared."""
WARM_UP = 5
"""Calls that are not counted: they read pages of files for the first time."""


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

    def figures(self) -> list[float]:
        """p50 and p95 by the clock, then of the processor."""
        columns = zip(*self._rows[WARM_UP:], strict=True)
        return [float(np.percentile(column, share)) for column in columns for share in (50, 95)]

    def row(self, name: str) -> str:
        cells = " | ".join(f"{figure:.1f}" for figure in self.figures())
        return f"| {name} | {len(self._rows) - WARM_UP} | {cells} |"


def measure(index: Index, claims: list[str]) -> dict[str, Any]:
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
    found = {"recall of signs": round(float(np.mean(common)), 4)} | held
    print(json.dumps(found))
    return found | {name: own.figures() for name, own in times.items()}


def run(sentences: int, claims: int, side: str, folder: Path) -> dict[str, Any]:
    corpus, path = folder / "corpus", folder / "index"
    write_corpus(corpus, sentences, SEED)
    texts = queries_from(corpus, claims + WARM_UP, SEED)
    sides = {side: measure_build(side, corpus, path, sentences)}
    searched = measure(Index.open(path), texts)
    added = add_a_file(corpus, SEED)
    sides[f"{side}, addition"] = measure_build(side, corpus, path, added)
    changed = change_a_file(corpus, SEED)
    sides[f"{side}, update"] = measure_build(side, corpus, path, changed)
    counts = {"sentences": sentences, "added_sentences": added, "changed_sentences": changed}
    print(f"{json.dumps(counts)}\n{table({'sides': sides})}")
    return counts | {"sides": sides, "search": searched}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--claims", type=int, default=100)
    parser.add_argument(
        "--embed", action="store_true", help="embed the sentences, rather than make vectors up"
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    side = "embedded" if options.embed else "made-up"
    with tempfile.TemporaryDirectory() as folder:
        report = run(options.sentences, options.claims, side, Path(folder))
    print(json.dumps(machine()))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine()} | report, indent=2) + "\n")


if __name__ == "__main__":
    main()
