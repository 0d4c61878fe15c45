"""Stored vectors in 8 bits beside half precision: python benchmarks/bench_eight_bits.py [INDEX CLAIMS].

INDEX is an index with sentence vectors, CLAIMS a file of claims; without them both are made up. The vectors are rounded
to whole numbers from −127 to 127, each row with a scale of its own, and to the same with one scale for all. Printed
for each: bytes a sentence, the largest change of a cosine, the share of the fifty nearest sentences that stay, and for
how many claims the evidence that `fusion` selects is another (other sentences, or another order). Then the processor
time of one query against many rows: half precision as an index does it, and 8 bits made single precision a block at a
time, which is what numpy and torch offer for them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from adjudge.data.formats import read_claims
from adjudge.retrieval import EvidencePipeline, Index, IndexRetriever, load_selector, open_retriever
from adjudge.retrieval.vectors import SEARCH_ROWS, Floats, SentenceVectors, similarities
from harness import machine
from samples import add_index_and_claims, index_and_claims

NEAREST = 50
ROWS = 100_000


def round_rows(vectors: Floats, by_row: bool) -> tuple[npt.NDArray[np.int8], Floats]:
    """(n, d) whole numbers and (n, 1) scales; rows are numbers times scales."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scales = (largest if by_row else np.full_like(largest, largest.max())) / 127
    return np.rint(vectors / scales).astype(np.int8), scales


def rounded(vectors: SentenceVectors, by_row: bool) -> SentenceVectors:
    """The same vectors as 8 bits would give them."""
    segments = []
    for segment in vectors.segments:
        numbers, scales = round_rows(segment.vectors.astype(np.float32), by_row)
        segments.append(replace(segment, vectors=(numbers * scales).astype(np.float16)))
    return replace(vectors, segments=tuple(segments))


def evidence(retriever: IndexRetriever, claims: list[str]) -> list[list[tuple[str, int]]]:
    pipeline = EvidencePipeline(retriever, load_selector("fusion"))
    return [[(s.page, s.line) for s in five] for five in pipeline.retrieve_many(claims, pipeline.k)]


def processor_ms(run: Callable[[], Any], rounds: int = 7) -> float:
    run()
    times = []
    for _ in range(rounds):
        began = time.process_time()
        run()
        times.append(1e3 * (time.process_time() - began))
    return float(np.median(times))


def compare_speed(vectors: Floats, query: Floats) -> None:
    rows = np.resize(vectors, (ROWS, vectors.shape[1]))
    half, (numbers, scales) = rows.astype(np.float16), round_rows(rows, True)
    whole, wanted = torch.from_numpy(numbers), torch.from_numpy(query)

    def by_half() -> None:
        for start in range(0, ROWS, SEARCH_ROWS):
            similarities(half[start : start + SEARCH_ROWS], query[None])

    def by_eight_bits() -> None:
        for start in range(0, ROWS, SEARCH_ROWS):
            product = whole[start : start + SEARCH_ROWS].float() @ wanted
            product.numpy()[:] *= scales[start : start + SEARCH_ROWS, 0]

    print(
        f"one query, {ROWS:,} rows: half {processor_ms(by_half):.1f} ms, 8 bits {processor_ms(by_eight_bits):.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_index_and_claims(parser)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with index_and_claims(options.index, options.claims) as (index, claims):
        compare(Index.open(index), claims, options)


def compare(index: Index, file: Path, options: argparse.Namespace) -> None:
    retriever = open_retriever(index)
    assert index.vectors is not None and retriever.embedder is not None
    claims = [claim.text for claim in itertools.islice(read_claims(file), options.count)]
    queries = retriever.embedder(claims)
    vectors = np.concatenate([segment.vectors for segment in index.vectors.segments]).astype(np.float32)
    nearest, five = index.vectors.search_exactly(queries, NEAREST), evidence(retriever, claims)
    print(json.dumps(machine() | {"sentences": len(index.vectors), "claims": len(claims)}))
    print("| | bytes | cosine changes by at most | of the nearest 50 | other sentences | other order |")
    print("|---|--:|--:|--:|--:|--:|")
    print(f"| half precision | {2 * vectors.shape[1]} | | | | |")
    for name, by_row in (("8 bits, a scale for each row", True), ("8 bits, one scale", False)):
        eight = rounded(index.vectors, by_row)
        numbers, scales = round_rows(vectors, by_row)
        change = float(np.abs((numbers * scales - vectors) @ queries.T).max())
        kept = [
            len(set(a.numbers.tolist()) & set(b.numbers.tolist())) / NEAREST
            for a, b in zip(nearest, eight.search_exactly(queries, NEAREST), strict=True)
        ]
        other = evidence(replace(retriever, index=replace(index, vectors=eight)), claims)
        sets = sum(set(a) != set(b) for a, b in zip(five, other, strict=True))
        orders = sum(a != b for a, b in zip(five, other, strict=True)) - sets
        size = vectors.shape[1] + (4 if by_row else 0)
        print(f"| {name} | {size} | {change:.4f} | {np.mean(kept):.4f} | {sets} | {orders} |", flush=True)
    compare_speed(vectors, queries[0])


if __name__ == "__main__":
    main()
