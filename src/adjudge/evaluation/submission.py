"""Would the FEVER judge take this file? Everything wrong with a submission, before it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.files import read_lines
from adjudge.errors import DataError
from adjudge.evaluation.records import Source, claim_id, located, mismatches, submitted_ref
from adjudge.types import FEVER_LABELS, MAX_EVIDENCE, ClaimId, LabelSet


def lint_submission(
    predictions: str | Path | Iterable[Mapping[str, Any]], order: Source, labels: LabelSet = FEVER_LABELS
) -> list[str]:
    """Check a submission against the claims it answers; one message per problem, none when it is fit to send.

    Args:
        predictions: the submission, a JSONL file or its records.
        order: the claims file (or claims) that was to be answered; the submission must keep its order.
        labels: the labels the judge knows. Case does not matter; other spellings are not understood.
    """
    problems: list[str] = []
    predicted: list[tuple[str, ClaimId]] = []
    for where, record in _submitted(predictions, problems):
        try:
            predicted.append((where, claim_id(record, where)))
        except DataError as error:
            problems.append(str(error))
        problems += _label_problems(record, labels, where)
        problems += _evidence_problems(record, where)
    expected = _claim_ids(order)
    differences = mismatches([identifier for _, identifier in predicted], expected)
    return problems + (differences or _order_problems(predicted, expected))


def _submitted(
    source: str | Path | Iterable[Mapping[str, Any]], problems: list[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (where, record), noting lines that hold none and going on."""
    if isinstance(source, (str, Path)):
        decoded: Iterable[tuple[str, object]] = (
            (f"{source}:{number}", _decoded(line)) for number, line in read_lines(Path(source))
        )
    else:
        decoded = ((f"prediction {number}", record) for number, record in enumerate(source, start=1))
    for where, record in decoded:
        if isinstance(record, Mapping):
            yield where, record
        else:
            problems.append(f"{where}: expected a JSON object on each line, found {record!r}.")


def _decoded(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return line


def _label_problems(record: Mapping[str, Any], labels: LabelSet, where: str) -> list[str]:
    found = record.get("predicted_label")
    if isinstance(found, str) and found.casefold() in {name.casefold() for name in labels}:
        return []
    seen = "is missing" if "predicted_label" not in record else f"{found!r} is not one of {', '.join(labels)}"
    return [f"{where}: predicted_label {seen}."]


def _evidence_problems(record: Mapping[str, Any], where: str) -> list[str]:
    if "predicted_evidence" not in record:
        return [f"{where}: predicted_evidence is missing; write [] where there is none."]
    found = record["predicted_evidence"]
    if not isinstance(found, (list, tuple)):
        return [f"{where}: predicted_evidence is {found!r}, expected a list of [page, line]."]
    problems = []
    for item in found:
        try:
            ref = submitted_ref(item, where)
        except DataError as error:
            problems.append(str(error))
            continue
        if not ref.page or ref.line < 0:
            problems.append(f"{where}: predicted_evidence names no place: {list(ref)!r}.")
    if len(found) > MAX_EVIDENCE:
        problems.append(
            f"{where}: predicted_evidence has {len(found)} sentences; the judge reads only {MAX_EVIDENCE}."
        )
    return problems


def _claim_ids(order: Source) -> list[ClaimId]:
    return [
        claim_id(record, where) if isinstance(record, Mapping) else record.id
        for where, record in located(order, "claim")
    ]


def _order_problems(predicted: list[tuple[str, ClaimId]], expected: list[ClaimId]) -> list[str]:
    for (where, found), wanted in zip(predicted, expected, strict=True):
        if found != wanted:
            return [f"{where}: id {found!r} stands where the claims have {wanted!r}; keep the claims' order."]
    return []
