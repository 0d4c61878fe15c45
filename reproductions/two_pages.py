"""Whole gold groups found, on the claims that chose the settings of the selection and on the others.

    python reproductions/two_pages.py INDEX CLAIMS

INDEX is an index with sentence vectors of the pages of CLAIMS (FEVER's format). Claims whose id has an even CRC-32 are
the tuning half: the settings of `SetSettings` were chosen on them. Figures of the other half are the ones to report.
Claims of which no gold group is in the index are left out. `ranked` is the selection sentence by sentence, half by
words and half by meaning, that `fusion` was before it chose sets.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

from adjudge.data.formats import read_claims
from adjudge.encoders.embedder import load_embedder
from adjudge.retrieval import (
    EvidencePipeline,
    Index,
    LexicalSelector,
    ScoredSelector,
    Selector,
    evaluate_retrieval,
    load_selector,
    open_retriever,
)
from adjudge.retrieval.selectors import Similarity
from adjudge.types import Claim

HALVES = {0: "tuning half", 1: "held-out half"}


def half(claim: Claim) -> int:
    return zlib.crc32(str(claim.id).encode()) % 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index", type=Path)
    parser.add_argument("claims", type=Path)
    parser.add_argument(
        "--half", type=int, choices=HALVES, action="append", help="0 tuning, 1 held out; both"
    )
    parser.add_argument("--selector", action="append", help="of lexical, ranked, fusion; all by default")
    options = parser.parse_args()
    index = Index.open(options.index)
    claims = [
        claim
        for claim in read_claims(options.claims, require_gold=True)
        if claim.gold and any(index.holds(group) for group in claim.gold)
    ]
    selectors: dict[str, Selector] = {
        "lexical": LexicalSelector(),
        "ranked": ScoredSelector(Similarity(load_embedder("minilm")), 0.5),
        "fusion": load_selector("fusion"),
    }
    print("| | claims | whole group@1 | @3 | @5 | one page @5 | two pages | @5 |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for number in options.half or HALVES:
        own = [claim for claim in claims if half(claim) == number]
        for name in options.selector or selectors:
            selector = selectors[name]
            scores = evaluate_retrieval(EvidencePipeline(open_retriever(index, selector), selector), own)
            every, two = scores.overall, scores.multi_hop
            single = every.claims - two.claims
            one = (every.group_recall[5] * every.claims - two.group_recall[5] * two.claims) / max(single, 1)
            shares = " | ".join(f"{every.group_recall[k]:.4f}" for k in (1, 3, 5))
            print(
                f"| {HALVES[number]}, {name} | {every.claims} | {shares} | {one:.4f} | {two.claims} "
                f"| {two.group_recall[5]:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
