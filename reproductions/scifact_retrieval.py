"""Abstracts and sentences found for SciFact's training claims, cross-validated, beside plain BM25.

    python reproductions/scifact_retrieval.py corpus.jsonl.gz claims_train.jsonl.gz [--index INDEX]

With `--index`, an index of the same corpus with sentence vectors, `vectors` is what `fusion` finds in it, and `sums`
its sentences with the abstracts in the order of the sum of their three best sentences (words and cosine in halves).
Claims whose abstracts are not in the corpus are left out, so that a part of the corpus can be tried.

Claims that have evidence are dealt into five folds. What is chosen (the weight of the similarity, how many
sentences are kept) is chosen on the other four folds; each claim is scored once, in the fold it is in. Plain
BM25 is sqlite's over title and abstract; its evidence are the best sentences of its three best abstracts.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from adjudge.data import scifact
from adjudge.data.formats import read_claims
from adjudge.encoders.embedder import Embedder
from adjudge.evaluation.statistics import paired_bootstrap
from adjudge.retrieval import (
    EvidencePipeline,
    Index,
    IndexRetriever,
    build_index,
    load_selector,
    open_retriever,
)
from adjudge.retrieval.pipeline import CANDIDATES
from adjudge.retrieval.selectors import SPREAD, Similarity, choose_weight, fuse, select_best
from adjudge.types import Claim, Evidence, SentenceRef
from scifact_folds import sentence_f1

FOLDS = 5
ABSTRACTS = 3
DEPTH = 200
"""Sentences ranked, so that ten different abstracts are among them."""


HEAD = (
    "| | abstract R@1 | R@3 | R@10 | sentence F1 | F1@3 | F1@5 | sentences kept, by fold |\n"
    "|---|---|---|---|---|---|---|---|"
)


class Judged(NamedTuple):
    claim: Claim
    found: list[Evidence]
    similarity: list[float]


class Ranked(NamedTuple):
    """What a system answers for a claim, best first."""

    abstracts: list[str]
    sentences: list[SentenceRef]


class PlainBM25:
    """Abstracts by BM25 over title and text, then their sentences by BM25."""

    def __init__(self, corpus: Path) -> None:
        self.base = sqlite3.connect(":memory:")
        self.rows: dict[str, tuple[int, int]] = {}
        for name in ("abstracts", "sentences"):
            self.base.execute(
                f"CREATE VIRTUAL TABLE {name} USING fts5"
                "(text, page UNINDEXED, line UNINDEXED, tokenize='porter unicode61')"
            )
        end = 0
        for page in scifact.read_pages(corpus):
            whole = " ".join([page.title, *(s.text for s in page.sentences)])
            self.base.execute("INSERT INTO abstracts VALUES (?, ?, 0)", (whole, page.id))
            lines = [(s.text, page.id, s.line) for s in page.sentences]
            self.base.executemany("INSERT INTO sentences VALUES (?, ?, ?)", lines)
            self.rows[page.id], end = (end + 1, end + len(lines)), end + len(lines)

    def __call__(self, claim: str) -> Ranked:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", claim.lower())))
        query = "SELECT page FROM abstracts WHERE abstracts MATCH ? ORDER BY rank LIMIT 10"
        pages = [page for (page,) in self.base.execute(query, (words,))]
        query = "SELECT rank, page, line FROM sentences WHERE sentences MATCH ? AND rowid BETWEEN ? AND ?"
        found = [row for p in pages[:ABSTRACTS] for row in self.base.execute(query, (words, *self.rows[p]))]
        return Ranked(pages, [SentenceRef(page, line) for _, page, line in sorted(found)])


def ranked(ordered: Sequence[Evidence]) -> Ranked:
    return Ranked(list(dict.fromkeys(s.page for s in ordered)), [s.ref for s in ordered])


def fused(judged: Judged, weight: float) -> Ranked:
    """As the selector orders the candidates, with the rest behind them."""
    first, rest = judged.found[:CANDIDATES], judged.found[CANDIDATES:]
    return ranked([*select_best(first, fuse(first, judged.similarity, weight), len(first), SPREAD), *rest])


def abstract_recall(claim: Claim, answer: Ranked, k: int) -> float:
    gold = {ref.page for group in claim.gold for ref in group}
    return len(gold & set(answer.abstracts[:k])) / len(gold)


def kept_f1(claims: Sequence[Claim], answers: Sequence[Ranked], counts: Sequence[int]) -> float:
    """Sentence F1 where so many sentences of each answer are kept."""
    gold = [{ref for group in claim.gold for ref in group} for claim in claims]
    kept = [set(answer.sentences[:count]) for answer, count in zip(answers, counts, strict=True)]
    return sentence_f1(gold, kept)


def choose_count(claims: Sequence[Claim], answers: Sequence[Ranked]) -> int:
    return max(range(1, 6), key=lambda n: kept_f1(claims, answers, [n] * len(claims)))


def folds(count: int) -> Iterator[tuple[list[int], list[int]]]:
    """(places to choose on, places to score) of each fold."""
    order = list(range(count))
    random.Random(0).shuffle(order)
    for fold in range(FOLDS):
        yield [p for n, p in enumerate(order) if n % FOLDS != fold], order[fold::FOLDS]


def report(name: str, judged: Sequence[Judged], answer: Callable[[list[int], int], Ranked]) -> list[float]:
    """Print a system's row; ``answer(places to choose on, place)`` gives its answer. Returns abstract R@3."""
    claims = [item.claim for item in judged]
    answers, counts, chosen = [Ranked([], [])] * len(claims), [0] * len(claims), []
    for others, scored in folds(len(claims)):
        seen = [answer(others, place) for place in others]
        chosen.append(choose_count([claims[place] for place in others], seen))
        for place in scored:
            answers[place], counts[place] = answer(others, place), chosen[-1]
    recalls = {
        k: [abstract_recall(*pair, k) for pair in zip(claims, answers, strict=True)] for k in (1, 3, 10)
    }
    shares = [sum(recalls[k]) / len(claims) for k in recalls]
    fixed = [kept_f1(claims, answers, [n] * len(claims)) for n in (3, 5)]
    cells = [*shares, kept_f1(claims, answers, counts), *fixed]
    print(f"| {name} | {' | '.join(f'{cell:.3f}'.lstrip('0') for cell in cells)} | {chosen} |", flush=True)
    return recalls[3]


def report_index(path: Path, claims: Sequence[Claim]) -> None:
    """Print the rows of an index with vectors, beside plain BM25's and those by words alone."""
    index = Index.open(path)
    texts = [claim.text for claim in claims]
    by_words = IndexRetriever(index).retrieve_many(texts, DEPTH)
    retriever = open_retriever(index)
    nearest = retriever.retrieve_many(texts, DEPTH)
    selected = EvidencePipeline(retriever, load_selector("fusion")).retrieve_many(texts, DEPTH)
    answers = {
        "lexical": [ranked(sentences) for sentences in by_words],
        "vectors": [ranked(sentences) for sentences in selected],
        "sums": [
            ranked(sentences)._replace(abstracts=abstracts_by_sum(candidates))
            for sentences, candidates in zip(selected, nearest, strict=True)
        ],
    }
    judged = [Judged(claim, [], []) for claim in claims]
    for name, own in answers.items():
        report(name, judged, lambda others, place, own=own: own[place])


def abstracts_by_sum(sentences: Sequence[Evidence]) -> list[str]:
    """Abstracts by the sum of their three best sentences."""
    best: dict[str, list[float]] = {}
    for sentence, score in zip(
        sentences, fuse(sentences, [s.similarity or 0.0 for s in sentences], 0.5), strict=True
    ):
        best.setdefault(sentence.page, []).append(score)
    return sorted(best, key=lambda page: -sum(sorted(best[page], reverse=True)[:3]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Retrieval on SciFact, cross-validated.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("claims", type=Path)
    parser.add_argument("--index", type=Path, help="an index of the corpus with sentence vectors")
    options = parser.parse_args()
    abstracts = {page.id for page in scifact.read_pages(options.corpus)}
    claims = [
        claim
        for claim in read_claims(options.claims)
        if claim.gold and all(ref.page in abstracts for group in claim.gold for ref in group)
    ]
    if options.index:
        plain = PlainBM25(options.corpus)
        print(f"{len(claims)} claims with evidence; {len(abstracts)} abstracts\n{HEAD}")
        answers = [plain(claim.text) for claim in claims]
        report(
            "plain BM25", [Judged(claim, [], []) for claim in claims], lambda others, place: answers[place]
        )
        report_index(options.index, claims)
        return
    plain, similar = PlainBM25(options.corpus), Similarity(Embedder.load("minilm"))
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        build_index([options.corpus], Path(folder) / "index", strict=True)
        retriever = IndexRetriever(Index.open(Path(folder) / "index"))
        texts = [claim.text for claim in claims]
        sentences = retriever.retrieve_many(texts, DEPTH)
        scores = similar.score_many(texts, [ranked[:CANDIDATES] for ranked in sentences])
        judged = [Judged(*row) for row in zip(claims, sentences, scores, strict=True)]
    weights = {}
    for others, _ in folds(len(claims)):
        seen = [
            (item.claim, item.found[:CANDIDATES], item.similarity) for item in map(judged.__getitem__, others)
        ]
        weights[tuple(others)] = choose_weight(seen)[0]
    print(f"{len(claims)} claims with evidence; fusion's weight by fold: {list(weights.values())}")
    print(HEAD)
    answers = [plain(claim.text) for claim in claims]
    base = report("plain BM25", judged, lambda others, place: answers[place])
    report("lexical", judged, lambda others, place: ranked(judged[place].found))
    ours = report("fusion", judged, lambda others, place: fused(judged[place], weights[tuple(others)]))
    gain = paired_bootstrap(ours, base)
    print(f"abstract R@3, fusion − plain BM25: {gain.estimate:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
