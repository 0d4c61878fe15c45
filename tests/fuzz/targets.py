"""What reads data of unknown origin, and seeds to begin with: bytes in, only errors of our own out.

To add one, add an entry to :data:`TARGETS`: a name of the file and a function that reads it; its seeds are files that
it reads well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import http_bodies

import office
from adjudge.config import read_toml, settings_from
from adjudge.data.documents import iter_documents, source_text
from adjudge.data.download import _read_checksums
from adjudge.data.fever import FORMAT as FEVER
from adjudge.data.formats import read_claim_texts, read_claims, read_examples
from adjudge.data.scifact import read_claims_by_document
from adjudge.data.text import clean_text, without_controls
from adjudge.data.verdicts import read_verdicts
from adjudge.evaluation.records import read_gold
from adjudge.evaluation.submission import lint_submission
from adjudge.judges.folder import read_metadata
from adjudge.retrieval.analysis import PROSE, TITLE, names_in, query_text, terms
from adjudge.retrieval.storage import read_manifest, read_sources
from adjudge.runs.folder import RunFolder
from adjudge.types import FEVER_LABELS
from format_samples import RECORDS

RESOURCES = Path(__file__).parents[1] / "resources"
HOSTILE = (
    "e\u0301 \u00e9 \u212b \u1e9b\u0323",  # composed and not
    "\u202egnp.txt\u202c \u2066a\u2069 \u200b\u200d\ufeff",  # bidi controls, zero width
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea. \U0001f600!",  # emoji
    "\u4e1c\u4eac\u662f\u65e5\u672c\u7684\u9996\u90fd\u3002\u5b83\u5f88\u5927\u3002 \uc11c\uc6b8.",  # no spaces
    "-LRB- a -RRB- \x00 \x1b[2J \ud7ff \ufffe",
)


class Target(NamedTuple):
    """The name of the file that is read, the function, and seeds."""

    file: str
    read: Callable[[Path], Any]
    seeds: tuple[bytes, ...]


def read_document(path: Path) -> None:
    """Every sentence stands where it says."""
    for document in iter_documents(path):
        text: str | None = None
        for sentence in document.page.sentences:
            if sentence.start is None or sentence.end is None:
                continue
            if text is None:
                text = source_text(path, document.page.id)
            there = text[sentence.start : sentence.end]
            assert there, f"nothing stands at {sentence.start}:{sentence.end}"
            if path.suffix == ".txt":
                assert there.split() == sentence.text.split(), f"{there!r} is not {sentence.text!r}"


def read_query(path: Path) -> None:
    """A claim as it is searched for; cleaning twice is cleaning once."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    query = query_text(text)
    assert clean_text(query) == query
    assert "\x1b" not in without_controls(text)
    assert len(terms(query, PROSE)) <= 64 and len(terms(query, TITLE)) <= 64
    names_in(query)


def _consume(read: Callable[[Path], Iterable[Any]]) -> Callable[[Path], Any]:
    return lambda path: list(read(path))


def _lines(records: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _document(suffix: str, *more: bytes) -> Target:
    seeds = tuple(path.read_bytes() for path in sorted(RESOURCES.rglob(f"*{suffix}")))
    hostile = (
        (" ".join(HOSTILE).encode("utf-8", "surrogatepass"),) if suffix in (".txt", ".md", ".html") else ()
    )
    return Target(f"input{suffix}", read_document, seeds + more + hostile)


_CLAIMS = tuple(_lines(records) for records in RECORDS.values())
_TOML = (
    b'[data]\ntrain = "a.jsonl"\n[model]\nbackbone = "tiny"\nmax_length = 32\n[objective]\nname = "sr"\nlam = 0.25\n'
    b'complement = {SUPPORTS = ["REFUTES"]}\n[training]\nepochs = 1\nlr = 1e-4\n',
)
_MANIFEST = (
    b'{"format":"adjudge-index","version":3,"generation":"g00000001","pages":1,"sentences":2,"roots":{}}',
)
_SOURCE = (
    b'{"source":"/a","root":"a","size":1,"mtime_ns":1,"ctime_ns":1,"read_ns":1,"sha256":"","pages":1,'
    b'"sentences":1,"first":0}\n',
)
_MODEL = (
    b'{"format":2,"type":"judge","settings":{"kind":"kgat","backbone":"tiny"},"labels":["A","B"],"sha256":"0",'
    b'"temperature":1.1,"base":{"backbone":"minilm","sha256":"1"}}',
)
TARGETS: dict[str, Target] = {
    "claims": Target("input.jsonl", _consume(read_claims), _CLAIMS),
    "claim texts": Target("input.jsonl", _consume(read_claim_texts), _CLAIMS),
    "examples": Target("input.jsonl", _consume(read_examples), _CLAIMS),
    "gold": Target("input.jsonl", _consume(lambda path: read_gold(path, FEVER_LABELS)), _CLAIMS),
    "scifact": Target("input.jsonl", _consume(read_claims_by_document), _CLAIMS),
    "verdicts": Target("input.jsonl", _consume(read_verdicts), _CLAIMS),
    "submission": Target(
        "input.jsonl", lambda path: lint_submission(path, [{"id": 1, "claim": "a"}]), _CLAIMS
    ),
    "settings": Target("input.toml", lambda path: settings_from(read_toml(path)), _TOML),
    "index manifest": Target("manifest.json", lambda path: read_manifest(path.parent), _MANIFEST),
    "index sources": Target("sources.jsonl", lambda path: read_sources(path.parent), _SOURCE),
    "run manifest": Target(
        "manifest.json", lambda path: RunFolder(path.parent).manifest(), (b'{"run": "a"}',)
    ),
    "model": Target("adjudge.json", lambda path: read_metadata(path.parent), _MODEL),
    "checksums": Target("SHA256SUMS", lambda path: _read_checksums(path.parent), (b"00ff  a.jsonl\n",)),
    "query": Target("input", read_query, tuple(text.encode("utf-8", "surrogatepass") for text in HOSTILE)),
    "text": _document(".txt"),
    "Markdown": _document(".md"),
    "HTML": _document(".html"),
    "PDF": _document(".pdf"),
    "Word": _document(".docx", office.minutes()),
    "Excel": _document(".xlsx", office.workbook()),
    "PowerPoint": _document(".pptx", office.talk()),
    "EPUB": _document(".epub", office.book()),
    "CSV": _document(".csv"),
    "TSV": _document(".tsv"),
    "e-mail": _document(".eml"),
    "JSONL": _document(".jsonl"),
    "HTTP bodies": Target("body", http_bodies.ask, http_bodies.SEEDS),
}
assert FEVER.name in RECORDS  # samples of every format of claims are among the seeds
