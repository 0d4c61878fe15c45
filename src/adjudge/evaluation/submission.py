"""Would the FEVER judge take this file? Everything wrong with a submission, before it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.records import record_id
from adjudge.data.submissions import submitted_sentence
from adjudge.errors import DataError
from adjudge.evaluation.records import Records, describe_mismatches, read_ids
from adjudge.evaluation.scoring import FEVER_EVIDENCE
from adjudge.io.jsonl import BAD_JSON, read_lines
from adjudge.types import FEVER_LABELS, ClaimId, LabelSet


def lint_submission(
    predictions: str | Path | Iterable[Mapping[str, Any]], order: Records, labels: LabelSet = FEVER_LABELS
) -> list[str]:
    """Check a submission against the claims it answers; one message per problem, none when it is fit to send.

    Args:
        predictions: the submission, a JSONL file or its records.
        order: the claims file (or claims) that was to be answered; the submission must keep its order.
        labels: the labels the judge knows. Case does not matter; other spellings are not understood.
    """
    problems: list[str] = []
    predicted: list[tuple[str, ClaimId]] = []
    for location, record in _read_submission(predictions, problems):
        try:
            predicted.append((location, record_id(record, location, ("id",))))
        except DataError as error:
            problems.append(str(error))
        problems += _label_problems(record, labels, location)
        problems += _evidence_problems(record, location)
    expected = read_ids(order)
    differences = describe_mismatches([identifier for _, identifier in predicted], expected)
    return problems + (differences or _order_problems(predicted, expected))


def _read_submission(
    source: str | Path | Iterable[Mapping[str, Any]], problems: list[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (where, record), noting lines that hold none and going on."""
    if isinstance(source, (str, Path)):
        decoded: Iterable[tuple[str, object]] = (
            (f"{source}:{position}", _decode(line)) for position, line in read_lines(Path(source))
        )
    else:
        decoded = ((f"prediction {position}", record) for position, record in enumerate(source, start=1))
    for location, record in decoded:
        if isinstance(record, Mapping):
            yield location, record
        else:
            problems.append(f"{location}: expected a JSON object on each line, found {record!r}.")


def _decode(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except BAD_JSON:
        return line


def _label_problems(record: Mapping[str, Any], labels: LabelSet, location: str) -> list[str]:
    if "predicted_label" not in record:
        return [f"{location}: predicted_label is missing."]
    label = record["predicted_label"]
    if isinstance(label, str) and label.casefold() in {name.casefold() for name in labels}:
        return []
    return [f"{location}: predicted_label {label!r} is not one of {', '.join(labels)}."]


def _evidence_problems(record: Mapping[str, Any], location: str) -> list[str]:
    if "predicted_evidence" not in record:
        return [f"{location}: predicted_evidence is missing; write [] where there is none."]
    evidence = record["predicted_evidence"]
    if not isinstance(evidence, (list, tuple)):
        return [f"{location}: predicted_evidence is {evidence!r}, expected a list of [page, line]."]
    problems = []
    for item in evidence:
        try:
            ref = submitted_sentence(item, location)
        except DataError as error:
            problems.append(str(error))
            continue
        if not ref.page or ref.line < 0:
            problems.append(f"{location}: predicted_evidence names no sentence: {list(ref)!r}.")
    if len(evidence) > FEVER_EVIDENCE:
        problems.append(
            f"{location}: predicted_evidence has {len(evidence)} sentences; the judge reads only {FEVER_EVIDENCE}."
        )
    return problems


def _order_problems(predicted: list[tuple[str, ClaimId]], expected: list[ClaimId]) -> list[str]:
    for (location, identity), wanted in zip(predicted, expected, strict=True):
        if identity != wanted:
            return [
                f"{location}: id {identity!r} stands where the claims have {wanted!r}; keep the claims' order."
            ]
    return []
