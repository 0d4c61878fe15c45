"""The library's records as the API shows them: without the server's own paths."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from adjudge.data.verdicts import evidence_record, verdict_record
from adjudge.serving.server.corpus import Corpus
from adjudge.types import Evidence, Verdict


def json_response(value: Any, status: int = 200) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def public_verdict(verdict: Verdict, corpus: Corpus | None) -> dict[str, Any]:
    """A verdict as ``adjudge verify --json`` shows it, sources told from the corpus's folder."""
    return _public(verdict_record(verdict), corpus)


def public_evidence(sentence: Evidence, corpus: Corpus | None) -> dict[str, Any]:
    """A sentence, its source told from the corpus's folder."""
    record = evidence_record(sentence)
    if corpus is not None and record.get("source"):
        record["source"] = corpus.relative(record["source"])
    return record


def public_sentence(record: dict[str, Any], corpus: Corpus) -> dict[str, Any]:
    """A checked sentence's record, sources told from the corpus's folder."""
    for part in record.get("parts", ()):
        _public(part, corpus)
    return record


def _public(record: dict[str, Any], corpus: Corpus | None) -> dict[str, Any]:
    for sentence in record.get("evidence", ()):
        if corpus is not None and sentence.get("source"):
            sentence["source"] = corpus.relative(sentence["source"])
    return record


def corpus_record(corpus: Corpus) -> dict[str, Any]:
    """A corpus and how far its indexing has come."""
    index = corpus.index
    manifest = None if index is None else index.manifest
    record: dict[str, Any] = {
        "name": corpus.name,
        "state": corpus.state,
        "uploaded": corpus.uploaded,
        "documents": 0 if manifest is None else manifest.pages,
        "sentences": 0 if manifest is None else manifest.sentences,
        "problems": corpus.problems,
    }
    if (progress := corpus.progress) is not None:
        record["progress"] = {
            "files": progress.files,
            "files_total": progress.files_total,
            "sentences": progress.sentences,
            "embedded": progress.embedded,
            "to_embed": progress.to_embed,
            "seconds": round(progress.seconds, 3),
        }
    if corpus.problem is not None:
        record["problem"] = corpus.problem
    return record
