"""Verdicts as JSONL: what ``predict`` writes and ``score`` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.files import read_lines
from adjudge.data.records import PathLike, write_records
from adjudge.errors import DataError
from adjudge.types import Evidence, Verdict

_PLACE = ("weight", "source", "start", "end", "title")


def write_verdicts(path: PathLike, verdicts: Iterable[Verdict]) -> int:
    """Write one verdict per line, atomically; the number written."""
    return write_records(path, map(verdict_record, verdicts))


def read_verdicts(path: PathLike) -> Iterator[Verdict]:
    """Yield the verdicts of a file that :func:`write_verdicts` wrote."""
    decoder = msgspec.json.Decoder(Verdict)
    for number, line in read_lines(Path(path)):
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError as error:
            raise DataError(f"{path}:{number}: not a verdict ({error}).") from None


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON shows it: probabilities rounded, what is unknown left out."""
    record: dict[str, Any] = {
        "id": verdict.id,
        "claim": verdict.claim,
        "label": verdict.label,
        "probabilities": {label: round(p, 6) for label, p in verdict.probabilities.items()},
        "evidence": [_evidence_record(sentence) for sentence in verdict.evidence],
    }
    if verdict.reason is not None:
        record["reason"] = verdict.reason
    if verdict.abstained:
        record["abstained"] = True
    if verdict.gold_injected:
        record["gold_injected"] = True
    return record


def _evidence_record(sentence: Evidence) -> dict[str, Any]:
    record = asdict(sentence)
    if sentence.weight is not None:
        record["weight"] = round(sentence.weight, 6)
    return {key: value for key, value in record.items() if value not in (None, "") or key not in _PLACE}
