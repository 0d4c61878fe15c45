"""Files of claim–sentence pairs: VitaminC and FEVER-symmetric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adjudge.data.records import (
    PathLike,
    Record,
    claim_field,
    label_field,
    missing_field,
    offered,
    read_records,
    text_field,
    write_records,
)
from adjudge.data.text import page_id, page_title
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet


def read_examples(
    path: PathLike, labels: LabelSet = FEVER_LABELS, require_labels: bool = False
) -> Iterator[Example]:
    """Yield each pair as a claim with one sentence.

    The id is ``unique_id`` (VitaminC) or ``id`` (symmetric), else the line number; the label is
    ``label`` or ``gold_label``, the sentence ``evidence`` or ``evidence_sentence``.
    """
    for where, identity, record in read_records(path, id_fields=("unique_id", "id"), numbered=True):
        yield Example(
            identity,
            claim_field(record, where),
            _evidence(record, where),
            label_field(record, labels, where, require_labels, names=("label", "gold_label")),
        )


def write_examples(path: PathLike, examples: Iterable[Example]) -> int:
    """Write examples of at most one sentence each as pairs, atomically; the number written."""
    return write_records(path, map(_pair_record, examples))


def _evidence(record: Record, where: str) -> tuple[Evidence, ...]:
    name = next((name for name in ("evidence", "evidence_sentence") if name in record), None)
    if name is None:
        raise missing_field(record, "evidence", where)
    text = text_field(record, name, where)
    page = page_id(record["page"]) if isinstance(record.get("page"), str) else ""
    return offered([Evidence(text, page)], where)


def _pair_record(example: Example) -> dict[str, Any]:
    if len(example.evidence) > 1:
        raise DataError(
            f"Claim {example.id!r} has {len(example.evidence)} sentences; a file of pairs holds one each. "
            "Write it in KGAT's format instead."
        )
    evidence = example.evidence[0] if example.evidence else Evidence("")
    record: dict[str, Any] = {"id": example.id, "claim": example.claim, "evidence": evidence.text}
    if example.label is not None:
        record["label"] = example.label
    if evidence.page:
        record["page"] = page_title(evidence.page)
    return record
