"""Nearest sentence vectors among very many: python benchmarks/bench_vectors.py [--rows N] [--only NAME …].

exact    every row compared, half precision from the memory map
signs    the rows whose signs are nearest first, those compared: what an index of many sentences does
int8     every row compared, whole numbers of 8 bits from memory, in blocks
usearch, faiss, hnswlib   graphs (HNSW, 16 links) of the library of that name, which must be installed

Rows are unit vectors of 384 numbers around cluster centres; with --like INDEX centres and spread are those of the
vectors of an index, so that neighbours lie as they do among sentences. Queries are rows with noise. Printed for each:
recall@50 against `exact`, milliseconds a query, seconds to build, seconds to add a hundredth more, and megabytes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from adjudge.retrieval.index import Index
from adjudge.retrieval.storage import VectorRecord
from adjudge.retrieval.vectors import PARTS, Floats, Segment, SentenceVectors, segment_files, sign_codes
from harness import machine
from stand_in import unit

DIMENSION, K, LINKS = 384, 50, 16
BLOCK = 50_000

Search = Callable[[Floats], npt.NDArray[np.int64]]


def sentence_like(rows: int, like: Path | None, random: np.random.Generator) -> npt.NDArray[np.float16]:
    """(rows, 384) unit vectors: a centre each, moved as far as a sentence lies from its nearest neighbours."""
    if like is None:
        centres, noise = unit(random.standard_normal((4096, DIMENSION), np.float32)), 0.9
    else:
        vectors = Index.open(like).vectors
        assert vectors is not None
        centres, noise = np.concatenate([s.vectors for s in vectors.segments]).astype(np.float32), 0.8
    made = np.empty((rows, DIMENSION), np.float16)
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        moved = centres[random.integers(len(centres), size=count)]
        step = unit(random.standard_normal((count, DIMENSION), np.float32))
        made[start : start + count] = unit(moved + noise * step)
    return made


def mapped(vectors: npt.NDArray[np.float16], folder: Path) -> SentenceVectors:
    """The rows as an index holds them."""
    arrays = (np.arange(len(vectors)), vectors, np.zeros(len(vectors), np.uint64), sign_codes(vectors))
    for path, array in zip(segment_files(folder, "rows"), arrays, strict=True):
        array.tofile(path)
    assert len(PARTS) == len(arrays)
    record = VectorRecord({}, DIMENSION, ["rows"])
    return SentenceVectors(record, (Segment.open(folder, "rows", DIMENSION),))


def int8_search(vectors: npt.NDArray[np.float16]) -> Search:
    rows = torch.from_numpy(np.clip(np.rint(vectors.astype(np.float32) * 508), -127, 127).astype(np.int8))

    def search(query: Floats) -> npt.NDArray[np.int64]:
        product = torch.cat([part.float() @ torch.from_numpy(query) for part in rows.split(16_384)])
        return product.topk(K).indices.numpy()

    return search


def usearch_graph(vectors: npt.NDArray[np.float16]) -> tuple[Any, Search]:
    from usearch.index import Index as Graph

    graph = Graph(ndim=DIMENSION, metric="ip", dtype="f16", connectivity=LINKS)
    graph.add(np.arange(len(vectors)), vectors, threads=1)
    return lambda more, first: graph.add(
        np.arange(first, first + len(more)), more, threads=1
    ), lambda query: graph.search(query, K, threads=1).keys.astype(np.int64)


def faiss_graph(vectors: npt.NDArray[np.float16]) -> tuple[Any, Search]:
    import faiss

    faiss.omp_set_num_threads(1)
    graph = faiss.IndexHNSWSQ(DIMENSION, faiss.ScalarQuantizer.QT_fp16, LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efSearch = 128
    graph.train(vectors[:1].astype(np.float32))
    graph.add(vectors.astype(np.float32))
    return lambda more, first: graph.add(more.astype(np.float32)), lambda query: graph.search(query[None], K)[
        1
    ][0]


def hnswlib_graph(vectors: npt.NDArray[np.float16]) -> tuple[Any, Search]:
    import hnswlib

    graph = hnswlib.Index("ip", DIMENSION)
    graph.init_index(max_elements=len(vectors) * 2, ef_construction=128, M=LINKS)
    graph.set_num_threads(1)
    graph.add_items(vectors.astype(np.float32), np.arange(len(vectors)))
    graph.set_ef(128)
    return lambda more, first: graph.add_items(more.astype(np.float32)), lambda query: graph.knn_query(
        query, K
    )[0][0].astype(np.int64)


GRAPHS = {"usearch": usearch_graph, "faiss": faiss_graph, "hnswlib": hnswlib_graph}
NAMES = ("exact", "signs", "int8", *GRAPHS)


def measure(search: Search, queries: Floats, expected: npt.NDArray[np.int64]) -> str:
    wall, processor, common = [], [], 0
    search(queries[0])
    for query, best in zip(queries, expected, strict=True):
        began, used = time.perf_counter(), time.process_time()
        hits = search(query)
        wall.append(1e3 * (time.perf_counter() - began))
        processor.append(1e3 * (time.process_time() - used))
        common += len(set(hits.tolist()) & set(best.tolist()))
    low, high = np.percentile(wall, [50, 95])
    used_low, used_high = np.percentile(processor, [50, 95])
    return f"{common / expected.size:.4f} | {low:.1f} | {high:.1f} | {used_low:.1f} | {used_high:.1f}"


def resident_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--like", type=Path, help="an index with vectors")
    parser.add_argument("--only", nargs="*", choices=NAMES, default=NAMES)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    vectors = sentence_like(options.rows, options.like, random)
    picked = vectors[random.integers(options.rows, size=options.queries)].astype(np.float32)
    queries = unit(picked + 0.8 * unit(random.standard_normal(picked.shape, np.float32)))
    print(json.dumps(machine() | {"rows": options.rows}))
    print("| | recall@50 | p50 ms | p95 ms | processor p50 | p95 | built in s | +1% in s | MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        index = mapped(vectors, Path(folder))
        expected = np.stack([hits.numbers for hits in index.search_exactly(queries, K)])
        disk = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        searches: dict[str, Search] = {
            "exact": lambda query: index.search_exactly(query[None], K)[0].numbers,
            "signs": lambda query: index.search_signs(query, K).numbers,
        }
        for name in options.only:
            before, began = resident_mb(), time.process_time()
            if name in searches:
                print(
                    f"| {name} | {measure(searches[name], queries, expected)} | – | – | {disk:.0f} on disk |"
                )
                continue
            if name == "int8":
                search = int8_search(vectors)
                seconds = time.process_time() - began
                print(
                    f"| int8 | {measure(search, queries, expected)} | {seconds:.0f} | – | {vectors.size / 1e6:.0f} |"
                )
                continue
            try:
                add, search = GRAPHS[name](vectors)
            except ImportError:
                print(f"| {name} | is not installed |")
                continue
            seconds, memory = time.process_time() - began, resident_mb() - before
            row = measure(search, queries, expected)
            more = sentence_like(max(options.rows // 100, 1), options.like, random)
            began = time.process_time()
            add(more, options.rows)
            print(
                f"| {name} | {row} | {seconds:.0f} | {time.process_time() - began:.1f} | {memory:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
