"""FEVER's files: claims with gold evidence, and submissions. The wiki dump is read by ``wiki``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from adjudge.data.records import (
    PathLike,
    Record,
    claim_field,
    describe,
    is_int,
    label_field,
    list_field,
    parse_label,
    read_records,
    text_field,
    write_records,
)
from adjudge.data.wiki import read_pages, write_pages
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, Claim, ClaimId, Label, LabelSet, SentenceRef, Verdict

__all__ = [
    "Prediction",
    "read_claims",
    "read_pages",
    "read_submission",
    "write_claims",
    "write_pages",
    "write_submission",
]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One line of a submission. ``evidence`` is None when the file gives labels alone.

    ``gold_injected`` says of a prediction read from verdicts that gold helped to find its evidence.
    """

    id: ClaimId
    label: str
    evidence: tuple[SentenceRef, ...] | None = None
    gold_injected: bool = False


def read_claims(
    path: PathLike, labels: LabelSet = FEVER_LABELS, require_labels: bool = False
) -> Iterator[Claim]:
    """Yield the claims of a FEVER file; a test file's have neither label nor gold.

    An outer list of ``evidence`` is alternatives, an inner list a group needed together. The groups of
    a NOT ENOUGH INFO claim name no page: they give no gold.
    """
    for where, identity, record in read_records(path):
        yield Claim(
            identity,
            claim_field(record, where),
            label_field(record, labels, where, require_labels),
            tuple(_gold(record, where)),
        )


def write_claims(path: PathLike, claims: Iterable[Claim]) -> int:
    """Write claims in FEVER's format, atomically; the number written."""
    return write_records(path, map(_claim_record, claims))


def read_submission(path: PathLike, labels: LabelSet = FEVER_LABELS) -> Iterator[Prediction]:
    """Yield the predictions of a submission file, in its order."""
    for where, identity, record in read_records(path):
        label = parse_label(text_field(record, "predicted_label", where), labels, where)
        yield Prediction(identity, label, _predicted_evidence(record, where))


def write_submission(path: PathLike, predictions: Iterable[Prediction | Verdict]) -> int:
    """Write predictions or verdicts as a FEVER submission, atomically; the number written.

    Sentences whose page is unknown cannot be scored and are left out. Evidence found with the help of gold is
    refused: nothing in a submission could say so.
    """
    return write_records(path, map(_submission_record, predictions))


def _gold(record: Record, where: str) -> Iterator[tuple[SentenceRef, ...]]:
    if record.get("evidence") is None:
        return
    for group in list_field(record, "evidence", where):
        if not isinstance(group, list):
            raise _wrong_gold(group, where)
        if len(group) == 4 and group[2:] == [None, None]:
            continue  # FEVER's documentation shows the item of a NOT ENOUGH INFO claim without its group
        refs = [_gold_sentence(item, where) for item in group]
        known = tuple(ref for ref in refs if ref is not None)
        if len(known) not in (0, len(refs)):
            raise _wrong_gold(group, where)  # dropping the unknown part would make the group easier
        if known:
            yield known


def _gold_sentence(item: Any, where: str) -> SentenceRef | None:
    match item:
        case [_, _, None, None]:
            return None
        case [_, _, str(page), int(line)] if is_int(line):
            return SentenceRef(page, line)
    raise _wrong_gold(item, where)


def _wrong_gold(found: object, where: str) -> DataError:
    return DataError(
        f"{where}: evidence {describe(found)} is not a group of gold sentences, expected "
        "[[annotation id, evidence id, page, line], …] with page and line both null for NOT ENOUGH INFO."
    )


def _claim_record(claim: Claim) -> dict[str, Any]:
    record: dict[str, Any] = {"id": claim.id, "claim": claim.text}
    if claim.label is None and not claim.gold:
        return record
    groups = [[[None, None, ref.page, ref.line] for ref in group] for group in claim.gold]
    if claim.label is not None:
        verifiable = claim.label != Label.NOT_ENOUGH_INFO.value
        record |= {"label": claim.label, "verifiable": "VERIFIABLE" if verifiable else "NOT VERIFIABLE"}
    return record | {"evidence": groups or [[[None, None, None, None]]]}


def _predicted_evidence(record: Record, where: str) -> tuple[SentenceRef, ...] | None:
    if "predicted_evidence" not in record:
        return None
    refs = []
    for item in list_field(record, "predicted_evidence", where):
        match item:
            case [str(page), int(line)] if is_int(line):
                refs.append(SentenceRef(page, line))
            case _:
                raise DataError(
                    f"{where}: predicted evidence {describe(item)} is not a sentence, expected [page, line]."
                )
    return tuple(refs)


def _submission_record(prediction: Prediction | Verdict) -> dict[str, Any]:
    if prediction.gold_injected:
        raise DataError(
            f"Claim {prediction.id!r}: its evidence was found with the help of gold, which a submission cannot say. "
            "Find the evidence again without --inject-gold."
        )
    record: dict[str, Any] = {"id": prediction.id, "predicted_label": prediction.label}
    refs: Iterable[SentenceRef] | None
    if isinstance(prediction, Verdict):
        refs = [evidence.ref for evidence in prediction.evidence]
    else:
        refs = prediction.evidence
    if refs is not None:
        record["predicted_evidence"] = [list(ref) for ref in refs if ref.page and ref.line >= 0]
    return record
