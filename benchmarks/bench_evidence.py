"""Claims a second whose evidence is found, `fusion` beside `lexical`: bench_evidence.py [INDEX CLAIMS].

INDEX is an index with sentence vectors, CLAIMS a file of claims; without them both are made up. The selectors take
turns in one process on one thread; times are of the processor. What is embedded of a claim is forgotten before each
turn. `embedding` is what `fusion` spends on the claims' vectors alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path

import torch

from adjudge.data.formats import read_claims
from adjudge.encoders.embedder import load_embedder
from adjudge.retrieval import EvidencePipeline, Index, load_selector, open_retriever
from adjudge.retrieval.pipeline import WINDOW
from harness import machine, side_by_side, table
from samples import add_index_and_claims, index_and_claims


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_index_and_claims(parser)
    parser.add_argument("--count", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with index_and_claims(options.index, options.claims) as (index, claims):
        compare(Index.open(index), claims, options)


def compare(index: Index, claims: Path, options: argparse.Namespace) -> None:
    texts = [claim.text for claim in itertools.islice(read_claims(claims), options.count)]
    contestants = {}
    for name in ("lexical", "fusion"):
        pipeline = EvidencePipeline(open_retriever(index, name), load_selector(name))

        def run(pipeline: EvidencePipeline = pipeline) -> None:
            embedder = getattr(pipeline.retriever, "embedder", None)
            if embedder is not None:
                embedder.clear_cache()
            for start in range(0, len(texts), WINDOW):
                pipeline.retrieve_many(texts[start : start + WINDOW], pipeline.k)

        contestants[name] = run
    embedder = load_embedder("minilm")
    contestants["embedding"] = lambda: [
        embedder.embed(texts[start : start + WINDOW]) for start in range(0, len(texts), WINDOW)
    ]
    measured = side_by_side(contestants, len(texts), options.rounds, time.process_time)
    print(json.dumps(machine()))
    print(table(f"evidence of {len(texts)} claims", measured, "claims", "lexical"))


if __name__ == "__main__":
    main()
