"""One way in: recognise a file's format by its first record, and read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

from adjudge.data import climate_fever, fever, kgat, pairs, scifact
from adjudge.data.files import read_json_lines
from adjudge.data.records import PathLike, Record
from adjudge.errors import ConfigError, DataError
from adjudge.types import FEVER_LABELS, Claim, Example, LabelSet

Item = TypeVar("Item", Claim, Example)


@dataclass(frozen=True)
class Format(Generic[Item]):
    """How a format looks, what it holds, and who reads it."""

    shape: str
    looks_like: Callable[[Record], bool]
    read: Callable[..., Iterator[Item]]
    labels: LabelSet = FEVER_LABELS


def _has_sentences(record: Record) -> bool:
    """KGAT: a list of [page, line, text, score], where FEVER's gold is a list of groups."""
    evidence = record.get("evidence")
    if not isinstance(evidence, list):
        return False
    return not any(isinstance(item, list) and (not item or isinstance(item[0], list)) for item in evidence)


def _has_gold_groups(record: Record) -> bool:
    """FEVER: a list of groups, or nothing at all in a test file."""
    evidence = record.get("evidence")
    if not isinstance(evidence, list):
        return evidence is None and "evidence_sentence" not in record and "cited_doc_ids" not in record
    return all(
        isinstance(group, list) and not any(isinstance(item, str) for item in group) for group in evidence
    )


EXAMPLE_FORMATS: Mapping[str, Format[Example]] = {
    "climate-fever": Format(
        "claim_id, claim, claim_label, evidences",
        lambda record: "evidences" in record,
        climate_fever.read_examples,
        climate_fever.CLIMATE_LABELS,
    ),
    "pairs": Format(
        "claim, evidence or evidence_sentence: one text, label or gold_label",
        lambda record: isinstance(record.get("evidence", record.get("evidence_sentence")), str),
        pairs.read_examples,
    ),
    "kgat": Format(
        "id, claim, label, evidence: [[page, line, text, score], …]",
        lambda record: "claim" in record and _has_sentences(record),
        kgat.read_examples,
    ),
}

CLAIM_FORMATS: Mapping[str, Format[Claim]] = {
    "scifact": Format(
        "id, claim, evidence: {document: [{sentences, label}, …]}",
        lambda record: isinstance(record.get("evidence"), dict) or "cited_doc_ids" in record,
        scifact.read_claims,
    ),
    "fever": Format(
        "id, claim, label, evidence: [[[annotation, evidence, page, line], …], …]",
        lambda record: "id" in record and "claim" in record and _has_gold_groups(record),
        fever.read_claims,
    ),
}


def recognise(path: PathLike, formats: Mapping[str, Format[Item]]) -> str | None:
    """The name of the format that the first record has, or None; an empty file is an error."""
    _, record = _first_record(path)
    return next((name for name, known in formats.items() if known.looks_like(record)), None)


def read_examples_any(
    path: PathLike,
    format: str | None = None,
    labels: LabelSet | None = None,
    require_labels: bool = False,
    field: str = "evidence",
) -> Iterator[Example]:
    """Read claims with their evidence from any format that carries both.

    Args:
        path: The file; gz or plain.
        format: A name of ``EXAMPLE_FORMATS``; None recognises it from the first record.
        labels: The label set; None takes the format's own.
        require_labels: Whether a claim without a label is an error, as in training.
        field: Which list of sentences a KGAT file is read from.
    """
    name = format or _required(path, EXAMPLE_FORMATS)
    known = _named(name, EXAMPLE_FORMATS)
    chosen = labels or known.labels
    if field == "evidence":
        return known.read(path, chosen, require_labels=require_labels)
    if name != "kgat":
        raise ConfigError(f"{path}: field {field!r} can be chosen in KGAT files only; this one is {name}.")
    return known.read(path, chosen, require_labels=require_labels, field=field)


def read_claims_any(
    path: PathLike, format: str | None = None, labels: LabelSet | None = None, require_labels: bool = False
) -> Iterator[Claim]:
    """Read claims with their gold evidence from any format of ``CLAIM_FORMATS``."""
    known = _named(format or _required(path, CLAIM_FORMATS), CLAIM_FORMATS)
    return known.read(path, labels or known.labels, require_labels=require_labels)


def _first_record(path: PathLike) -> tuple[str, Record]:
    for number, record in islice(read_json_lines(Path(path)), 1):
        return f"{path}:{number}", record
    raise DataError(f"{path}: the file is empty, expected one claim per line.")


def _named(name: str, formats: Mapping[str, Format[Item]]) -> Format[Item]:
    if name not in formats:
        raise ConfigError(f"Format {name!r} is not one of {', '.join(formats)}.")
    return formats[name]


def _required(path: PathLike, formats: Mapping[str, Format[Item]]) -> str:
    name = recognise(path, formats)
    if name is not None:
        return name
    where, record = _first_record(path)
    fields = ", ".join(f"'{key}'" for key in record) or "none"
    known = "\n".join(f"  {name}: {form.shape}" for name, form in formats.items())
    raise DataError(
        f"{where}: format not recognised from the fields {fields}.{_hint(path)} Known are:\n{known}"
    )


def _hint(path: PathLike) -> str:
    """What the file is instead, when it is a file of the other kind."""
    if claims := recognise(path, CLAIM_FORMATS):
        return (
            f" It looks like {claims} claims, which come without sentences: find evidence for them first "
            "(adjudge assemble), or find it and give verdicts in one (adjudge verify --claims)."
        )
    if examples := recognise(path, EXAMPLE_FORMATS):
        return f" It looks like {examples}, which has sentences but no gold groups."
    return ""
