"""FEVER's claims with gold evidence. The wiki dump is read by ``wiki``, submissions by ``submissions``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adjudge.data.records import (
    NOWHERE,
    Download,
    DownloadFile,
    Entry,
    Format,
    Groups,
    PathLike,
    Record,
    describe,
    is_int,
    list_field,
    sentence_ref,
)
from adjudge.errors import DataError
from adjudge.io.jsonl import write_json_lines
from adjudge.types import FEVER_LABELS, Claim, SentenceRef

_MIRRORS = ("https://fever.ai/download/fever", "https://s3-eu-west-1.amazonaws.com/fever.public")
_HOME = "https://fever.ai/dataset/fever.html"


def write_claims(path: PathLike, claims: Iterable[Claim]) -> int:
    """Write claims in FEVER's format, atomically; the number written."""
    return write_json_lines(path, map(_claim_record, claims))


def _recognise(record: Record) -> bool:
    """The evidence is a list of groups, or nothing at all as in a test file."""
    evidence = record.get("evidence")
    if "id" not in record or not {"claim", "label"} & record.keys():
        return False
    if not isinstance(evidence, (list, tuple)):
        return evidence is None and not {"evidence_sentence", "cited_doc_ids"} & record.keys()
    return all(
        isinstance(group, (list, tuple)) and not any(isinstance(item, str) for item in group)
        for group in evidence
    )


def _parse(record: Record, location: str) -> Entry:
    """The label, and gold groups: alternatives, each a group of sentences needed together.

    A sentence of a NOT ENOUGH INFO claim is ``NOWHERE``.
    """
    return Entry(
        record.get("label"), None if record.get("evidence") is None else _parse_groups(record, location)
    )


def _parse_groups(record: Record, location: str) -> Groups:
    groups = []
    for group in list_field(record, "evidence", location):
        if not isinstance(group, (list, tuple)):
            raise _wrong_gold(group, location)
        if len(group) == 4 and list(group[2:]) == [None, None]:
            continue  # FEVER's documentation shows the item of a NOT ENOUGH INFO claim without its group
        groups.append(tuple(_parse_sentence(item, location) for item in group))
    return tuple(groups)


def _parse_sentence(item: Any, location: str) -> SentenceRef:
    match item:
        case [_, _, None, None]:
            return NOWHERE
        case [_, _, str(page), int(line)] if is_int(line):
            return sentence_ref(page, line)
    raise _wrong_gold(item, location)


def _wrong_gold(evidence: object, location: str) -> DataError:
    return DataError(
        f"{location}: evidence {describe(evidence)} is not a group of gold sentences, expected "
        "[[annotation id, evidence id, page, line], …] with page and line both null for NOT ENOUGH INFO."
    )


def _claim_record(claim: Claim) -> dict[str, Any]:
    record: dict[str, Any] = {"id": claim.id, "claim": claim.text}
    if claim.label is None and not claim.gold:
        return record
    groups = [[[None, None, ref.page, ref.line] for ref in group] for group in claim.gold]
    if claim.label is not None:
        verifiable = claim.label != FEVER_LABELS.neutral
        record |= {"label": claim.label, "verifiable": "VERIFIABLE" if verifiable else "NOT VERIFIABLE"}
    return record | {"evidence": groups or [[[None, None, None, None]]]}


def _file(name: str, sha256: str) -> DownloadFile:
    return DownloadFile(name, tuple(f"{mirror}/{name}" for mirror in _MIRRORS), sha256)


FORMAT = Format(
    name="fever",
    shape="id, claim, label, evidence: [[[annotation, evidence, page, line], …], …]",
    recognise=_recognise,
    parse=_parse,
    has_gold=True,
    # The checksums are those that the Hugging Face loaders recorded.
    downloads={
        "fever": Download(
            "FEVER claims: training, shared-task dev and blind test",
            (
                _file("train.jsonl", "eba7e8f87076753f8494718b9a857827af7bf73e76c9e4b75420207d26e588b6"),
                _file(
                    "shared_task_dev.jsonl",
                    "e89865bfe1b4dd054e03dd57d7241a6fde24862905f31117cf0cd719f7c78df7",
                ),
                _file(
                    "shared_task_test.jsonl",
                    "76dd0872d8fa1f49efe1194fe8a88b7dd4c715c77d87a142b615d4be583e1e51",
                ),
            ),
            "CC BY-SA 3.0",
            _HOME,
        ),
        "fever-paper": Download(
            "FEVER claims: the dev set as the first paper split it",
            (
                _file("paper_dev.jsonl", "41158707810008747946bf23471e82df53e77a513524b9e3ec1c2e674ef5ef8c"),
                _file("paper_test.jsonl", "fb7b0280a0adc2302bbb29bfb7af37274fa585de3171bcf908f180642d11d88e"),
            ),
            "CC BY-SA 3.0",
            _HOME,
        ),
        "fever-wiki": Download(
            "FEVER's Wikipedia of June 2017: 5.4 million pages, 1.7 GB; read without unpacking",
            (_file("wiki-pages.zip", "4b06d95da6adf7fe02d2796176c670dacccb21348da89cba4c50676ab99665f2"),),
            "CC BY-SA 3.0",
            _HOME,
        ),
    },
)
