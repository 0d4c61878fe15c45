"""What every reader of claims asks of a record: an id, a claim, a label, each with its place in errors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.files import read_json_lines, write_atomic
from adjudge.errors import DataError
from adjudge.types import MAX_EVIDENCE, ClaimId, Evidence, LabelSet

PathLike = str | os.PathLike[str]
Record = Mapping[str, Any]

MAX_SENTENCE_WORDS = 2000
"""More is a document, of which a model would read the first few per cent; FEVER's longest has 160."""


def read_records(
    path: PathLike, id_fields: tuple[str, ...] = ("id",), numbered: bool = False
) -> Iterator[tuple[str, ClaimId, Record]]:
    """Yield (``file:line``, id, object) of a JSONL file, each id once.

    The id is the first of ``id_fields`` that the record has; with ``numbered``, the line number serves
    where it has none.
    """
    path = Path(path)
    seen: dict[ClaimId, int] = {}
    for number, record in read_json_lines(path):
        where = f"{path}:{number}"
        name = next((name for name in id_fields if name in record), None)
        if name is None and not numbered:
            raise missing_field(record, id_fields[0], where)
        identity = number if name is None else id_field(record, name, where)
        if identity in seen:
            raise DataError(
                f"{where}: id {identity!r} was already used in line {seen[identity]}. Ids must be unique."
            )
        seen[identity] = number
        yield where, identity, record


def write_records(path: PathLike, records: Iterable[Record]) -> int:
    """Write one JSON object per line, atomically; the number written."""
    count = 0
    with write_atomic(Path(path)) as stream:
        for record in records:
            stream.write(msgspec.json.encode(record) + b"\n")
            count += 1
    return count


def id_field(record: Record, name: str, where: str) -> ClaimId:
    """A field that must be there and be a whole number or text that says something."""
    if name not in record:
        raise missing_field(record, name, where)
    value: ClaimId = record[name]
    if is_int(value) or (isinstance(value, str) and value.strip()):
        return value
    raise DataError(f"{where}: field '{name}' is {describe(value)}, expected a whole number or text.")


def text_field(record: Record, name: str, where: str) -> str:
    """A field that must be there and be text."""
    if name not in record:
        raise missing_field(record, name, where)
    value = record[name]
    if not isinstance(value, str):
        raise DataError(f"{where}: field '{name}' is {describe(value)}, expected text.")
    return value


def list_field(record: Record, name: str, where: str) -> list[Any]:
    """A field that must be there and be a list."""
    if name not in record:
        raise missing_field(record, name, where)
    value = record[name]
    if not isinstance(value, list):
        raise DataError(f"{where}: field '{name}' is {describe(value)}, expected a list.")
    return value


def offered(sentences: Iterable[Evidence], where: str) -> tuple[Evidence, ...]:
    """The first five sentences that say something; none may be a whole document."""
    kept = tuple(sentence for sentence in sentences if sentence.text.strip())[:MAX_EVIDENCE]
    for sentence in kept:
        words = len(sentence.text.split())
        if words > MAX_SENTENCE_WORDS:
            raise DataError(
                f"{where}: an evidence sentence of {words:,} words ({sentence.text[:40]!r}…), expected at most "
                f"{MAX_SENTENCE_WORDS:,}. A model reads about a hundred; split the text into sentences."
            )
    return kept


def claim_field(record: Record, where: str) -> str:
    """The claim, which must say something."""
    claim = text_field(record, "claim", where)
    if not claim.strip():
        raise DataError(f"{where}: the claim is empty.")
    return claim


def label_field(
    record: Record, labels: LabelSet, where: str, required: bool = False, names: tuple[str, ...] = ("label",)
) -> str | None:
    """The label in the set's own spelling; None where the record has none and none is required."""
    name = next((name for name in names if record.get(name) is not None), None)
    if name is None:
        if required:
            raise DataError(
                f"{where}: the claim has no label (field '{names[0]}'), which training and scoring need: "
                f"one of {', '.join(labels)}."
            )
        return None
    return parse_label(text_field(record, name, where), labels, where)


def parse_label(text: str, labels: LabelSet, where: str) -> str:
    """``labels.parse`` with the place in its error."""
    try:
        return labels.parse(text)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def missing_field(record: Record, name: str, where: str) -> DataError:
    """The error for a field that is not there, naming those that are."""
    found = ", ".join(f"'{key}'" for key in record) or "no field at all"
    return DataError(f"{where}: no field '{name}'; found {found}.")


def describe(value: object) -> str:
    """A value as an error message shows it: in JSON, cut short."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_int(value: object) -> bool:
    """A JSON integer; ``true`` and ``false`` are not numbers."""
    return isinstance(value, int) and not isinstance(value, bool)
