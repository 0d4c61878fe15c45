"""Verdicts as JSONL: what ``predict`` writes and ``score`` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.records import Entry, Format, PathLike, Record, describe, is_int, list_field
from adjudge.errors import DataError
from adjudge.io.jsonl import BAD_JSON, read_lines, write_json_lines
from adjudge.types import Evidence, Verdict

_ALWAYS_SHOWN = ("text", "page", "line", "score")


def write_verdicts(path: PathLike, verdicts: Iterable[Verdict]) -> int:
    """Write one verdict per line, atomically; the number written."""
    return write_json_lines(path, map(verdict_record, verdicts))


def read_verdicts(path: PathLike) -> Iterator[Verdict]:
    """Yield the verdicts of a file that :func:`write_verdicts` wrote."""
    decoder = msgspec.json.Decoder(Verdict)
    for line_number, line in read_lines(Path(path)):
        try:
            yield decoder.decode(line)
        except BAD_JSON as error:
            raise DataError(f"{path}:{line_number}: not a verdict ({error}).") from None


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON shows it: probabilities rounded, what is unknown left out."""
    record: dict[str, Any] = {
        "id": verdict.id,
        "claim": verdict.claim,
        "label": verdict.label,
        "probabilities": {label: round(p, 6) for label, p in verdict.probabilities.items()},
        "evidence": [evidence_record(sentence) for sentence in verdict.evidence],
    }
    if verdict.reason is not None:
        record["reason"] = verdict.reason
    if verdict.abstained:
        record["abstained"] = True
    if verdict.gold_injected:
        record["gold_injected"] = True
    if verdict.claim_cut:
        record["claim_cut"] = True
    if verdict.explanation is not None:
        record["explanation"] = {name: part for name, part in asdict(verdict.explanation).items() if part}
    return record


def evidence_record(sentence: Evidence) -> dict[str, Any]:
    """A sentence as JSON shows it: what is unknown left out."""
    record = asdict(
        replace(sentence, links=())
    )  # what led from sentence to sentence says nothing to a reader
    if sentence.weight is not None:
        record["weight"] = round(sentence.weight, 6)
    return {
        key: value
        for key, value in record.items()
        if key in _ALWAYS_SHOWN or (value not in (None, "", ()) and value is not False)
    }


def _parse(record: Record, location: str) -> Entry:
    injected = record.get("gold_injected") is True
    if record.get("evidence") is None:
        return Entry(record.get("label"), gold_injected=injected)
    sentences = tuple(_parse_sentence(item, location) for item in list_field(record, "evidence", location))
    return Entry(record.get("label"), None, sentences, injected)


def _parse_sentence(item: Any, location: str) -> Evidence:
    match item:
        case {"page": str(page), "line": int(line)} if is_int(line):
            texts = {name: item.get(name, "") for name in ("text", "title", "context", "section")}
            if all(isinstance(text, str) for text in texts.values()):
                return Evidence(page=page, line=line, **texts)
    raise DataError(
        f"{location}: evidence {describe(item)} is not a sentence, expected {{text, page, line, …}}."
    )


def _recognise(record: Record) -> bool:
    evidence = record.get("evidence")
    return "probabilities" in record or (
        isinstance(evidence, (list, tuple))
        and bool(evidence)
        and all(isinstance(item, dict) for item in evidence)
    )


FORMAT = Format(
    name="verdicts",
    shape="id, claim, label, probabilities, evidence: [{text, page, line, …}, …]",
    recognise=_recognise,
    parse=_parse,
    predicts=True,
    has_sentences=True,
)
