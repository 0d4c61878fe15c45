"""FEVER's training claims over their own pages, in FEVER's formats: what the selection of sentences was tuned on.

    python benchmarks/training_world.py ../shared/data/fever training-world

reads ``train.jsonl.gz`` (claims with gold sentences, pages unknown) and ``train_pages.jsonl.gz`` (page
introductions without titles), and writes ``wiki-train.jsonl`` and ``claims.jsonl``. A page is called by what its
first sentence is about. Kept are the claims all of whose gold sentences stand on these pages; the files do not
say which sentences make a group, so sentences of one page count as alternatives, sentences of several pages as
one group. The claims come in random order.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from adjudge.data.fever import write_claims
from adjudge.data.text import clean_text, page_id
from adjudge.data.wiki import write_pages
from adjudge.io.jsonl import read_json_lines
from adjudge.types import Claim, Page, Sentence, SentenceRef

SUBJECT = re.compile(r"^\W*(.{1,60}?)\W*\s(?:is|was|are|were|,|\(|;)\s")


def pages(path: Path) -> Iterator[Page]:
    used: set[str] = set()
    for _, record in read_json_lines(path):
        found = SUBJECT.match(record["sentences"][0])
        title = clean_text(found[1]) if found else ""
        if not title or title in used:
            title = f"{title} ({record['page']})".strip()
        used.add(title)
        sentences = (Sentence(text, line) for line, text in enumerate(record["sentences"]))
        yield Page(page_id(title), title, tuple(sentences))


def claims(path: Path, place: dict[str, SentenceRef]) -> Iterator[Claim]:
    for _, record in read_json_lines(path):
        texts = [text for _, _, text, score in record["evidence"] if score == 1.0]
        gold = [place[text] for text in texts if text in place]
        if not gold or len(gold) < len(texts):
            continue
        one_page = len({ref.page for ref in gold}) == 1
        groups = tuple((ref,) for ref in gold) if one_page else (tuple(gold),)
        yield Claim(record["id"], record["claim"], record["label"], groups)


def main(source: Path, out: Path) -> None:
    world = list(pages(source / "train_pages.jsonl.gz"))
    place: dict[str, SentenceRef] = {}
    for page in world:
        for sentence in page.sentences:
            place.setdefault(sentence.text, SentenceRef(page.id, sentence.line))
    kept = list(claims(source / "train.jsonl.gz", place))
    random.Random(0).shuffle(kept)
    write_pages(out / "wiki-train.jsonl", world)
    write_claims(out / "claims.jsonl", kept)
    hops = sum(len(claim.gold[0]) > 1 for claim in kept)
    sys.stdout.write(f"{len(world)} pages, {len(kept)} claims, {hops} of them with gold on several pages\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
