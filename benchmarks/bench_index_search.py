"""Index and search a made-up encyclopedia: adjudge beside sqlite FTS5, in one run on one machine.

    python benchmarks/bench_index_search.py --sentences 1000000 --json index_search.json
    python benchmarks/bench_index_search.py --sentences 5000000 --only adjudge

The corpus is written as files of the wiki dump, as a user would have it, and both sides read those files.
Queries take turns between the two. Each side indexes in a process of its own, so that its peak memory is
its own; `adjudge_tenth` is the same on a tenth of the corpus, to show what memory does as it grows.
`adjudge_addition` brings the index up to date after a file was added, `adjudge_update` after one of its files has
changed, which writes the text part of the index anew (what is removed must not count in the scores).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path

from adjudge.data.wiki import read_pages, write_pages
from adjudge.data.world import iter_pages
from adjudge.retrieval.build import build_index
from adjudge.retrieval.embedding import VectorSettings
from adjudge.retrieval.index import Index
from adjudge.retrieval.retriever import IndexRetriever
from adjudge.types import Page
from harness import resident_mb
from stand_in import CENTRES, MadeUpVectors

PAGES_PER_FILE = 20_000
ADDED = 50_000
"""Sentences of a file that is added."""
AIM_P95_MS = 25.0


def write_corpus(folder: Path, sentences: int, seed: int) -> None:
    pages = iter_pages(seed, sentences)
    number = 0
    while part := list(islice(pages, PAGES_PER_FILE)):
        number += 1
        write_pages(folder / f"wiki-{number:03d}.jsonl", part)


def queries_from(corpus: Path, count: int, seed: int) -> list[str]:
    """Sentences of the corpus with every fourth word left out: what a claim is to its evidence."""
    rng = random.Random(seed)
    texts = sample_sentences(corpus, count, rng)
    return [" ".join(word for word in text.split() if rng.random() > 0.25) for text in texts]


def sample_sentences(corpus: Path, count: int, rng: random.Random) -> list[str]:
    """Sentences of the corpus after their titles, at most one of a page."""
    pool: list[str] = []
    for seen, page in enumerate(_files(corpus)):
        if not page.sentences:
            continue
        text = f"{page.title}: {rng.choice(page.sentences).text}"
        if len(pool) < count:
            pool.append(text)
        elif (place := rng.randrange(seen + 1)) < count:
            pool[place] = text
    return pool


def build_adjudge(corpus: Path, out: Path) -> None:
    build_index([corpus], out, strict=True)


def build_embedded(corpus: Path, out: Path) -> None:
    build_index([corpus], out, strict=True, vectors=VectorSettings())


def build_made_up(corpus: Path, out: Path) -> None:
    texts = sample_sentences(corpus, CENTRES, random.Random(0))
    build_index([corpus], out, strict=True, vectors=MadeUpVectors(texts=tuple(texts)))


def build_sqlite(corpus: Path, out: Path) -> None:
    with sqlite3.connect(out) as base:
        base.execute(
            "CREATE VIRTUAL TABLE s USING fts5"
            "(title, text, page UNINDEXED, line UNINDEXED, tokenize='porter unicode61')"
        )
        base.executemany(
            "INSERT INTO s VALUES (?, ?, ?, ?)",
            ((page.title, s.text, page.id, s.line) for page in _files(corpus) for s in page.sentences),
        )
    base.close()


BUILDERS = {
    "adjudge": build_adjudge,
    "embedded": build_embedded,
    "made-up": build_made_up,
    "sqlite": build_sqlite,
}


def search_sqlite(base: sqlite3.Connection, claim: str, k: int) -> list[tuple[str, int]]:
    words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", claim.lower())))
    rows = base.execute("SELECT page, line FROM s WHERE s MATCH ? ORDER BY rank LIMIT ?", (words, k))
    return rows.fetchall()


def _files(corpus: Path) -> Iterator[Page]:
    for file in sorted(corpus.glob("wiki-*.jsonl")):
        yield from read_pages(file)


def measure_build(side: str, corpus: Path, out: Path, sentences: int) -> dict[str, float]:
    """Build in a child process: seconds by the clock and of the processor, peak resident memory, size on disk."""
    command = [sys.executable, __file__, "--build", side, str(corpus), str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    report: dict[str, float] = json.loads(done.stdout)
    files = [out] if out.is_file() else [file for file in out.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    return report | {"sentences_per_second": sentences / report["seconds"], "index_mb": size / 1e6}


def build_here(side: str, corpus: Path, out: Path) -> None:
    began, used = time.perf_counter(), time.process_time()
    BUILDERS[side](corpus, out)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - used
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_rss_mb": resident_mb()}))


def add_a_file(corpus: Path, seed: int) -> int:
    """A file more, of pages that the corpus does not have; how many sentences those are."""
    write_pages(corpus / "wiki-added.jsonl", list(iter_pages(seed + 2, ADDED)))
    return ADDED


def change_a_file(corpus: Path, seed: int) -> int:
    """Give the last file pages that the corpus does not have; how many sentences those are."""
    file = max(corpus.glob("wiki-[0-9]*.jsonl"))
    count = sum(len(page.sentences) for page in read_pages(file))
    write_pages(file, list(iter_pages(seed + 1, count)))
    return count


def measure_queries(
    claims: list[str], index: Path, base: Path | None, k: int
) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds of every query by side: by the clock, and of the processor, which a busy machine changes less."""
    retriever = IndexRetriever(Index.open(index))
    sides: dict[str, Callable[[str], object]] = {"adjudge": lambda claim: retriever.retrieve(claim, k)}
    with ExitStack() as stack:
        if base is not None:
            connection = stack.enter_context(closing(sqlite3.connect(base)))
            sides["sqlite"] = lambda claim: search_sqlite(connection, claim, k)
        for search in sides.values():
            search(claims[0])  # the first query opens files
        times: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
        for claim in claims:
            for side, search in sides.items():
                began = time.perf_counter(), time.process_time()
                search(claim)
                ended = time.perf_counter(), time.process_time()
                times[side].append(((ended[0] - began[0]) * 1e3, (ended[1] - began[1]) * 1e3))
    return times


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def run(
    sentences: int, queries: int, k: int, seed: int, folder: Path, with_sqlite: bool
) -> dict[str, object]:
    corpora = {"full": sentences, "tenth": max(1, sentences // 10)}
    for name, size in corpora.items():
        write_corpus(folder / name, size, seed)
    claims = queries_from(folder / "full", queries, seed)
    index, base = folder / "index", folder / "base.sqlite" if with_sqlite else None
    sides = {
        "adjudge_tenth": measure_build("adjudge", folder / "tenth", folder / "tenth.index", corpora["tenth"]),
        "adjudge": measure_build("adjudge", folder / "full", index, sentences),
    }
    if base is not None:
        sides["sqlite"] = measure_build("sqlite", folder / "full", base, sentences)
    for side, times in measure_queries(claims, index, base, k).items():
        for kind, values in zip(("", "cpu_"), zip(*times, strict=True), strict=True):
            shares = {f"{kind}p{share}_ms": percentile(values, share / 100) for share in (50, 95)}
            sides[side] |= shares
    added = add_a_file(folder / "full", seed)
    sides["adjudge_addition"] = measure_build("adjudge", folder / "full", index, added)
    changed = change_a_file(folder / "full", seed)
    sides["adjudge_update"] = measure_build("adjudge", folder / "full", index, changed)
    p95 = sides["adjudge"]["p95_ms"]
    return {
        "sentences": sentences,
        "added_sentences": added,
        "changed_sentences": changed,
        "queries": len(claims),
        "k": k,
        "sides": sides,
        "aim_p95_ms": AIM_P95_MS,
        "aim_met": p95 <= AIM_P95_MS,
    } | ({"p95_ratio_sqlite_to_adjudge": sides["sqlite"]["p95_ms"] / p95} if with_sqlite else {})


def table(report: dict[str, object]) -> str:
    columns = (
        "seconds",
        "cpu_seconds",
        "sentences_per_second",
        "index_mb",
        "peak_rss_mb",
        "p50_ms",
        "p95_ms",
        "cpu_p50_ms",
        "cpu_p95_ms",
    )
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    sides = report["sides"]
    assert isinstance(sides, dict)
    for side, figures in sides.items():
        cells = [f"{figures[name]:,.1f}" if name in figures else "" for name in columns]
        lines.append(f"| {side} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Index and search a made-up encyclopedia.")
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", choices=("adjudge",), help="without sqlite beside it")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--build", nargs=3, metavar=("SIDE", "CORPUS", "OUT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        side, corpus, out = options.build
        build_here(side, Path(corpus), Path(out))
        return
    with tempfile.TemporaryDirectory() as folder:
        report = run(
            options.sentences, options.queries, options.k, options.seed, Path(folder), options.only is None
        )
    print(table(report))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
