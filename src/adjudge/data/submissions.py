"""FEVER's submissions: a predicted label and the places of the predicted sentences for every claim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from adjudge.data.records import Entry, Format, PathLike, Record, describe, is_int, list_field
from adjudge.errors import DataError
from adjudge.io.jsonl import write_json_lines
from adjudge.types import FEVER_LABELS, ClaimId, Evidence, SentenceRef, Verdict


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted label, None for an empty answer; ``evidence`` is None when a file gives labels alone.

    ``gold_injected`` says of a prediction read from verdicts that gold helped to find its evidence.
    """

    id: ClaimId
    label: str | None
    evidence: tuple[SentenceRef, ...] | None = None
    gold_injected: bool = False


def write_submission(path: PathLike, predictions: Iterable[Prediction | Verdict]) -> int:
    """Write predictions or verdicts as a FEVER submission, atomically; the number written.

    An empty answer is written as NOT ENOUGH INFO. Sentences whose page is unknown cannot be scored and are left
    out. Evidence found with the help of gold is refused: nothing in a submission could say so.
    """
    return write_json_lines(path, map(_submission_record, predictions))


def submitted_sentence(item: object, location: str) -> SentenceRef:
    """One [page, line] of a submission."""
    match item:
        case [str(page), int(line)] if is_int(line):
            return SentenceRef(page, line)
    raise DataError(
        f'{location}: predicted_evidence holds {describe(item)}, expected [page, line] such as ["Paris", 0].'
    )


def _parse(record: Record, location: str) -> Entry:
    if record.get("predicted_evidence") is None:
        return Entry(record["predicted_label"])
    refs = [submitted_sentence(item, location) for item in list_field(record, "predicted_evidence", location)]
    return Entry(record["predicted_label"], evidence=tuple(Evidence("", *ref) for ref in refs))


def _submission_record(prediction: Prediction | Verdict) -> dict[str, Any]:
    if prediction.gold_injected:
        raise DataError(
            f"Claim {prediction.id!r}: its evidence was found with the help of gold, which a submission cannot say. "
            "Find the evidence again without --inject-gold."
        )
    record = {"id": prediction.id, "predicted_label": prediction.label or FEVER_LABELS.neutral}
    if prediction.evidence is None:
        return record
    refs = [item.ref if isinstance(item, Evidence) else item for item in prediction.evidence]
    return record | {"predicted_evidence": [list(ref) for ref in refs if ref.page and ref.line >= 0]}


FORMAT = Format(
    name="submission",
    shape="id, predicted_label, predicted_evidence: [[page, line], …]",
    recognise=lambda record: "predicted_label" in record,
    parse=_parse,
    has_claims=False,
    predicts=True,
)
