"""Claims with bare sentences: VitaminC, FEVER-symmetric, and the many sets of that shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adjudge.data.records import (
    Download,
    DownloadFile,
    Entry,
    Format,
    PathLike,
    Record,
    describe,
    required_field,
)
from adjudge.data.text import page_id, page_title
from adjudge.errors import DataError
from adjudge.io.jsonl import write_json_lines
from adjudge.types import Evidence, Example

_SYMMETRIC = "TalSchuster/FeverSymmetric"
_SYMMETRIC_V1 = "6d5ec43a37748a9f4e4006fb848ae0639fe33515"
_SYMMETRIC_V2 = "7a0d73cb6744815c4c6ac54ebbd1951009a154c4"


def write_examples(path: PathLike, examples: Iterable[Example]) -> int:
    """Write examples as pairs, atomically; the number written. The title is that of the first sentence's page."""
    return write_json_lines(path, map(_pair_record, examples))


def _parse(record: Record, location: str) -> Entry:
    field = "evidence_sentence" if "evidence_sentence" in record else "evidence"
    value = required_field(record, field, location)
    texts = [value] if isinstance(value, str) else value
    if not _is_texts(texts):
        raise DataError(
            f"{location}: field '{field}' is {describe(value)}, expected a text or a list of texts."
        )
    title = record.get("title", record.get("page"))
    page = page_id(title) if isinstance(title, str) else ""
    label = record.get("gold_label") if record.get("label") is None else record["label"]
    return Entry(label, evidence=tuple(Evidence(text, page) for text in texts))


def _is_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def _recognise(record: Record) -> bool:
    value = record.get("evidence", record.get("evidence_sentence"))
    return isinstance(value, str) or _is_texts(value)


def _pair_record(example: Example) -> dict[str, Any]:
    record: dict[str, Any] = {"id": example.id, "claim": example.claim}
    if example.label is not None:
        record["label"] = example.label
    record["evidence"] = [sentence.text for sentence in example.evidence]
    if example.evidence and example.evidence[0].page:
        record["title"] = page_title(example.evidence[0].page)
    return record


FORMAT = Format(
    name="pairs",
    shape="claim, evidence or evidence_sentence: text or [text, …], label or gold_label",
    recognise=_recognise,
    parse=_parse,
    id_fields=("unique_id", "id"),
    numbered=True,
    has_sentences=True,
    downloads={
        "vitaminc": Download(
            "VitaminC: 450,000 contrastive claim–sentence pairs",
            (
                DownloadFile(
                    "vitaminc.zip",
                    ("https://github.com/TalSchuster/talschuster.github.io/raw/master/static/vitaminc.zip",),
                    "49d82dc1690cbee420d18e2c26f687a7937710bb211845d2571430dfd4dc0337",
                    unpack="vitaminc",
                ),
            ),
            "CC BY-SA 3.0",
            "https://github.com/TalSchuster/VitaminC",
        ),
        "fever-symmetric": Download(
            "FEVER-symmetric: pairs on which a claim alone tells nothing",
            tuple(
                DownloadFile.from_github(_SYMMETRIC, commit, path)
                for commit, path in (
                    (_SYMMETRIC_V1, "symmetric_v0.1/fever_symmetric_generated.jsonl"),
                    (_SYMMETRIC_V2, "symmetric_v0.2/fever_symmetric_dev.jsonl"),
                    (_SYMMETRIC_V2, "symmetric_v0.2/fever_symmetric_test.jsonl"),
                )
            ),
            "CC BY-SA 3.0",
            "https://github.com/TalSchuster/FeverSymmetric",
        ),
    },
)
