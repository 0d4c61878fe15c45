"""What a format is, what a record of any format holds, and the fields that all readers ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import DataError
from adjudge.io.jsonl import read_json_lines
from adjudge.types import FEVER_LABELS, ClaimId, Evidence, LabelSet, SentenceRef

PathLike = str | os.PathLike[str]
Record = Mapping[str, Any]
Groups = tuple[tuple[SentenceRef, ...], ...]

NOWHERE = SentenceRef("", -1)
"""A sentence whose page or line is unknown: it takes a rank among the predicted and matches nothing."""

MAX_SENTENCE_WORDS = 2000
"""More is a document, of which a model would read the first few per cent; FEVER's longest has 160."""


@dataclass(frozen=True, slots=True)
class DownloadFile:
    """A file to fetch: mirrors in the order they are tried, and its SHA-256 where its publisher's bytes are known.

    ``unpack`` names the folder that an archive is unpacked into.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None
    unpack: str | None = None

    @classmethod
    def from_github(cls, repository: str, commit: str, path: str) -> DownloadFile:
        """A file at a fixed commit, so that it cannot change under its name."""
        raw = f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"
        return cls(path.rpartition("/")[2], (raw, f"https://github.com/{repository}/raw/{commit}/{path}"))


@dataclass(frozen=True, slots=True)
class Download:
    """A public data set: its files, and what a user must know before using them."""

    title: str
    files: tuple[DownloadFile, ...]
    licence: str
    homepage: str

    @classmethod
    def of_encoder(cls, title: str, hub_id: str, sha256: str, licence: str) -> Download:
        """An encoder of the model hub, its weights' SHA-256 known."""
        home = f"https://huggingface.co/{hub_id}"
        files = [DownloadFile("model.safetensors", (f"{home}/resolve/main/model.safetensors",), sha256)]
        files += [DownloadFile(name, (f"{home}/resolve/main/{name}",)) for name in _ENCODER_FILES]
        return cls(title, tuple(files), licence, home)


_ENCODER_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a record says about its claim.

    Attributes:
        label: as the file spells it.
        gold: groups of sentences that decide the claim; None where the record does not say.
        evidence: sentences to judge the claim by, or those a prediction rests on; None where there are none.
        gold_injected: whether gold helped to find the evidence.
    """

    label: object = None
    gold: Groups | None = None
    evidence: tuple[Evidence, ...] | None = None
    gold_injected: bool = False


@dataclass(frozen=True)
class Format:
    """A file format of claims or predictions: one JSON object per line.

    Attributes:
        name: what ``--format`` calls it.
        shape: its fields, for a message.
        recognise: whether a record looks like one of this format.
        parse: (record, where it stands) → what it says.
        labels: the label set of its files.
        id_fields: the id is the first of these that a record has.
        claim_field: the field of the claim.
        numbered: whether the line number is the id of a record without one.
        has_claims: whether records carry the claim itself; predictions may not.
        predicts: whether labels are predictions, which claims and examples do not take for gold.
        has_sentences: whether a claim comes with sentences to judge it by.
        has_gold: whether a claim comes with the places of its gold sentences.
        downloads: public data sets in this format.
    """

    name: str
    shape: str
    recognise: Callable[[Record], bool]
    parse: Callable[..., Entry]
    labels: LabelSet = FEVER_LABELS
    id_fields: tuple[str, ...] = ("id",)
    claim_field: str = "claim"
    numbered: bool = False
    has_claims: bool = True
    predicts: bool = False
    has_sentences: bool = False
    has_gold: bool = False
    downloads: Mapping[str, Download] = field(default_factory=dict)


def read_records(
    path: PathLike, id_fields: tuple[str, ...] = ("id",), numbered: bool = False
) -> Iterator[tuple[str, ClaimId, Record]]:
    """Yield (``file:line``, id, object) of a JSONL file, each id once.

    The id is the first of ``id_fields`` that the record has; with ``numbered``, the line number serves
    where it has none.
    """
    path = Path(path)
    lines: dict[ClaimId, int] = {}
    for line_number, record in read_json_lines(path):
        location = f"{path}:{line_number}"
        identity = record_id(record, location, id_fields, line_number if numbered else None)
        if identity in lines:
            raise DataError(
                f"{location}: id {identity!r} was already used in line {lines[identity]}. Ids must be unique."
            )
        lines[identity] = line_number
        yield location, identity, record


def record_id(record: Record, location: str, fields: tuple[str, ...], default: int | None = None) -> ClaimId:
    """The first of ``fields`` that the record has, else ``default``."""
    name = next((name for name in fields if name in record), None)
    if name is None and default is not None:
        return default
    return id_field(record, name or fields[0], location)


def id_field(record: Record, name: str, location: str) -> ClaimId:
    """A field that must be there and be a whole number or text that says something."""
    value: ClaimId = required_field(record, name, location)
    if is_int(value) or (isinstance(value, str) and value.strip()):
        return value
    raise DataError(f"{location}: field '{name}' is {describe(value)}, expected a whole number or text.")


def text_field(record: Record, name: str, location: str) -> str:
    """A field that must be there and be text."""
    value = required_field(record, name, location)
    if not isinstance(value, str):
        raise DataError(f"{location}: field '{name}' is {describe(value)}, expected text.")
    return value


def list_field(record: Record, name: str, location: str) -> list[Any]:
    """A field that must be there and be a list."""
    value = required_field(record, name, location)
    if not isinstance(value, (list, tuple)):
        raise DataError(f"{location}: field '{name}' is {describe(value)}, expected a list.")
    return list(value)


def claim_text(record: Record, location: str, field: str = "claim") -> str:
    """The claim, which must say something."""
    claim = text_field(record, field, location)
    if not claim.strip():
        raise DataError(f"{location}: the claim is empty.")
    return claim


def required_field(record: Record, name: str, location: str) -> Any:
    """A field that must be there; the error names those that are."""
    if name in record:
        return record[name]
    fields = ", ".join(f"'{key}'" for key in record) or "no field at all"
    raise DataError(f"{location}: no field '{name}'; found {fields}.")


def usable_evidence(sentences: Iterable[Evidence], location: str) -> tuple[Evidence, ...]:
    """The sentences that say something; none may be a whole document."""
    usable = tuple(sentence for sentence in sentences if sentence.text.strip())
    for sentence in usable:
        words = len(sentence.text.split())
        if words > MAX_SENTENCE_WORDS:
            raise DataError(
                f"{location}: an evidence sentence of {words:,} words ({sentence.text[:40]!r}…), expected at most "
                f"{MAX_SENTENCE_WORDS:,}. A model reads about a hundred; split the text into sentences."
            )
    return usable


def required_label(label: object, labels: LabelSet, location: str) -> str:
    """A label in the set's own spelling; a whole number, as some files have, is its digits."""
    if is_int(label):
        label = str(label)
    if label is None:
        raise DataError(
            f"{location}: the claim has no label, which training and scoring need: one of {', '.join(labels)}."
        )
    if not isinstance(label, str):
        raise DataError(f"{location}: label {describe(label)} is not one of {', '.join(labels)}.")
    try:
        return labels.parse(label)
    except DataError as error:
        raise DataError(f"{location}: {error}") from None


def sentence_ref(page: str, line: int) -> SentenceRef:
    """The place of a sentence, ``NOWHERE`` if page or line is unknown."""
    return SentenceRef(page, line) if page and line >= 0 else NOWHERE


def describe(value: object) -> str:
    """A value as an error message shows it: in JSON, cut short."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_int(value: object) -> bool:
    """A JSON integer; ``true`` and ``false`` are not numbers."""
    return isinstance(value, int) and not isinstance(value, bool)
