"""Rankers of pairs, pages and lists on FEVER's training claims (docs/results/systems.md, Selection).

    python reproductions/selection.py files DATA OUT            the pages at hand as a corpus, training and test claims
    python reproductions/selection.py measure OUT [RANKER …]  recall among the first five, and claims a second

DATA holds ``fever/``. The pages have no titles there; here a page is called what its first sentence begins with.
A claim's gold sentences are those of its page that hold the text of a gold sentence, each enough by itself. A page
in ten is a test page; no claim of it is trained on. OUT/wiki is to be indexed as OUT/index (``index --no-vectors``).
Seconds are of this process's processor time. A measurement's first ranker is the one others are tested against.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adjudge.data.formats import read_claims
from adjudge.data.text import page_id, page_title
from adjudge.data.wiki import write_pages
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.loading import load_encoder
from adjudge.encoders.rows import Layout, RowWriter
from adjudge.evaluation.statistics import mcnemar
from adjudge.io.jsonl import write_json_lines
from adjudge.retrieval import Index, IndexRetriever, LexicalSelector, RetrievalSettings, load_selector
from adjudge.retrieval.long_rows import LongRowWriter
from adjudge.retrieval.pipeline import CANDIDATES
from adjudge.retrieval.selectors import SPREAD, fuse, select_best
from adjudge.retrieval.whole_pages import WholePages
from adjudge.types import FEVER_LABELS, Claim, Evidence, Example, Page, Sentence
from systems import read, split_claims, to_letters

Record = dict[str, Any]
TRAIN, TEST = 1_200, 400
TEST_PAGES = 10
"""One page in so many is a test page."""
TITLE_WORDS = 8
K = 5
WHOLE = 5
PAIR_LENGTH, LONG_LENGTH = 130, 512


def name_page(number: int, first: str) -> str:
    """What a page's first sentence begins with, ``Fargo`` of "Fargo is an American …", and the page's number."""
    begin = re.split(r" (?:is|was|are|were|-LRB-|\(|,) ?", f"{first} ", maxsplit=1)[0]
    return page_id(" ".join([*begin.split()[:TITLE_WORDS], f"({number})"]))


def named_claims(records: Iterable[Record], pages: dict[int, tuple[str, list[str]]]) -> list[Record]:
    """Claims in FEVER's format whose gold sentences were found on their pages."""
    claims = []
    for record in records:
        if record.get("page") not in pages or record["label"] == "NOT ENOUGH INFO":
            continue
        name, sentences = pages[record["page"]]
        gold = {to_letters(text) for _, _, text, score in record["evidence"] if score == 1.0}
        lines = [line for line, text in enumerate(sentences) if to_letters(text) in gold]
        if lines:
            evidence = [[[0, 0, name, line]] for line in lines]
            claims.append({key: record[key] for key in ("id", "claim", "label")} | {"evidence": evidence})
    return claims


def write_files(data: Path, out: Path) -> None:
    """The corpus, and claims of training and of test pages."""
    pages = {
        record["page"]: (name_page(record["page"], record["sentences"][0]), record["sentences"])
        for record in read(data / "fever/train_pages.jsonl.gz")
        if record["sentences"]
    }
    (out / "wiki").mkdir(parents=True, exist_ok=True)
    write_pages(
        out / "wiki/wiki-001.jsonl",
        [
            Page(name, page_title(name), tuple(Sentence(text, line) for line, text in enumerate(texts)))
            for name, texts in pages.values()
        ],
    )
    records = read(data / "fever/train.jsonl.gz")
    for name, size, is_test in (("train", TRAIN, False), ("test", TEST, True)):
        part = {number: page for number, page in pages.items() if (number % TEST_PAGES == 0) == is_test}
        write_json_lines(out / f"{name}.jsonl", split_claims(named_claims(records, part), [size])[0])


def finds_gold(claim: Claim, selection: Sequence[Evidence]) -> bool:
    """Whether a whole gold group is among the sentences."""
    refs = {sentence.ref for sentence in selection}
    return any(refs.issuperset(group) for group in claim.gold)


def measure(out: Path, rankers: Sequence[Path]) -> None:
    """What is offered, what each kind of ranker reads of it, and a line a ranker; without one, all the rest."""
    claims = list(read_claims(out / "test.jsonl", require_gold=True))
    index = Index.open(out / "index")
    texts = [claim.text for claim in claims]
    found = IndexRetriever(index, RetrievalSettings()).retrieve_many(texts, CANDIDATES)

    def page_sentences(page: str) -> list[Evidence]:
        return [sentence.evidence(0.0) for sentence in index.page_sentences(page)]

    whole = WholePages(LexicalSelector(), page_sentences, WHOLE).select_many(texts, found, 10**6)
    for offer, candidates in ((f"{CANDIDATES} found", found), (f"{WHOLE} whole pages", whole)):
        hits = [finds_gold(*pair) for pair in zip(claims, candidates, strict=True)]
        sentences = sum(map(len, candidates)) / len(claims)
        print(f"{offer}: {len(claims)} claims, {sentences:.1f} sentences each, gold among them {share(hits)}")
        order = [
            finds_gold(claim, sentences[:K]) for claim, sentences in zip(claims, candidates, strict=True)
        ]
        print(f"  retriever's order: recall@{K} {share(order)}")
        describe_rows(texts, candidates)
        measure_rankers(claims, candidates, rankers)


def describe_rows(claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]) -> None:
    """A line a kind of ranker: how many rows of how many tokens it reads of a claim."""
    tokenizer = load_encoder("minilm")[1]
    pairs = RowWriter(tokenizer, Layout(max_length=PAIR_LENGTH))
    examples = [Example(n, *pair) for n, pair in enumerate(zip(claims, map(tuple, candidates), strict=True))]
    starts = tokenize(examples, pairs, FEVER_LABELS).row_start
    lengths = {"pair": [end - start for start, end in zip(starts, starts[1:], strict=False)]}
    for kind in ("page", "list"):
        writer = LongRowWriter(RowWriter(tokenizer, Layout(max_length=LONG_LENGTH)), by_page=kind == "page")
        rows = [writer.write(*pair) for pair in zip(claims, candidates, strict=True)]
        lengths[kind] = [len(row.ids) for of_claim in rows for row in of_claim]
    for kind, of_kind in lengths.items():
        count = len(claims)
        print(f"  {kind}: {len(of_kind) / count:.1f} rows and {sum(of_kind) / count:.0f} tokens a claim")


def measure_rankers(
    claims: Sequence[Claim], candidates: Sequence[Sequence[Evidence]], rankers: Sequence[Path]
) -> None:
    """A line a ranker on these candidates."""
    first: list[bool] | None = None
    for folder in rankers:
        selector: Any = load_selector(str(folder))
        texts = [claim.text for claim in claims]
        selector.scorer.score_many(texts[:4], candidates[:4])
        started = time.process_time()
        scores = selector.scorer.score_many(texts, candidates)
        seconds = time.process_time() - started
        alone, fused = (find_best(claims, candidates, scores, weight) for weight in (1.0, selector.weight))
        first = first or alone
        test = mcnemar(alone, first)
        print(
            f"  {folder.name}: recall@{K} {share(alone)} alone (against the first: {test.n10} more, {test.n01} fewer, "
            f"p {test.p_value:.3f}), {share(fused)} at weight {selector.weight}; "
            f"{len(claims) / seconds:.1f} claims/s"
        )


def find_best(
    claims: Sequence[Claim],
    candidates: Sequence[Sequence[Evidence]],
    scores: Sequence[Sequence[float]],
    weight: float,
) -> list[bool]:
    """For each claim whether gold is among the best by ranker and retriever."""
    return [
        finds_gold(claim, select_best(sentences, fuse(sentences, values, weight), K, SPREAD))
        for claim, sentences, values in zip(claims, candidates, scores, strict=True)
    ]


def share(hits: Sequence[bool]) -> str:
    """In per cent."""
    return f"{100 * sum(hits) / max(len(hits), 1):.2f}"


if __name__ == "__main__":
    if sys.argv[1] == "files":
        write_files(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        measure(Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
