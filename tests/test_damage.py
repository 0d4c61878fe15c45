"""Files of every kind that are not what they should be end in words, never in a stranger's exception."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from adjudge import score
from adjudge.config import read_toml
from adjudge.data.download import _read_checksums
from adjudge.data.formats import read_claim_texts, read_claims, read_examples
from adjudge.data.scifact import read_claims_by_document
from adjudge.data.verdicts import read_verdicts
from adjudge.errors import AdjudgeError
from adjudge.evaluation.submission import lint_submission
from adjudge.retrieval.storage import read_manifest, read_sources
from adjudge.runs.folder import RunFolder

DEEP = 100_000
GOLD = '{"id": 1, "claim": "a", "label": "SUPPORTS", "evidence": [[[1, 2, "P", 0]]]}\n'
DAMAGE = {
    "a byte that is not UTF-8": b'{"id": 1, "claim": "\xff", "predicted_label": "\xff", "source": "\xff"}\n',
    "deep nesting": b'{"id": 1, "claim": ' + b"[" * DEEP + b"]" * DEEP + b"}\n",
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"\n",
    "no end": b'{"id": 1, "claim": "a',
    "zeros": bytes(1000),
    "another type": b"[1]\n",
    "a number as list": b'{"id": 1, "claim": "a", "evidence": {}, "cited_doc_ids": 1}\n',
    "gzip without end": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
}


def read_all(read: Callable[[Path], Iterable[object]]) -> Callable[[Path], object]:
    return lambda path: list(read(path))


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "claims": ("c.jsonl", read_all(read_claims)),
    "claim texts": ("c.jsonl", read_all(read_claim_texts)),
    "examples": ("c.jsonl", read_all(read_examples)),
    "scifact": ("c.jsonl", read_all(read_claims_by_document)),
    "verdicts": ("v.jsonl", read_all(read_verdicts)),
    "predictions": ("p.jsonl", lambda path: score(path, path.with_name("gold.jsonl"))),
    "submission": ("p.jsonl", lambda path: lint_submission(path, path.with_name("gold.jsonl"))),
    "sources": ("sources.jsonl", lambda path: read_sources(path.parent)),
    "manifest of an index": ("manifest.json", lambda path: read_manifest(path.parent)),
    "manifest of a run": ("manifest.json", lambda path: RunFolder(path.parent).manifest()),
    "checksums": ("SHA256SUMS", lambda path: _read_checksums(path.parent)),
    "settings": ("c.toml", read_toml),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("reader", READERS)
def test_damage_is_told_in_words(reader: str, damage: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    (tmp_path / "gold.jsonl").write_text(GOLD)
    (tmp_path / name).write_bytes(DAMAGE[damage])
    try:
        read(tmp_path / name)
    except AdjudgeError as error:
        assert name in str(error)


def test_settings_that_are_nested_too_deep_are_named(tmp_path: Path) -> None:
    for number, text in enumerate(("a = " + "[" * DEEP, "a = " + "{b = " * DEEP)):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        with pytest.raises(AdjudgeError, match=f"{number}.toml: not valid TOML"):
            read_toml(path)
