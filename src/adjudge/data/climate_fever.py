"""Climate-FEVER: real-world claims with five judged sentences each, and a fourth label, DISPUTED."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adjudge.data.records import (
    PathLike,
    Record,
    claim_field,
    describe,
    label_field,
    list_field,
    offered,
    read_records,
    write_records,
)
from adjudge.data.text import page_id, page_title
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet

CLIMATE_LABELS = LabelSet((*FEVER_LABELS.names, "DISPUTED"), FEVER_LABELS.aliases)


def read_examples(
    path: PathLike, labels: LabelSet = CLIMATE_LABELS, require_labels: bool = False
) -> Iterator[Example]:
    """Yield the claims with their sentences; the judgements on single sentences are left behind."""
    for where, identity, record in read_records(path, id_fields=("claim_id",)):
        yield Example(
            identity,
            claim_field(record, where),
            _evidence(record, where),
            label_field(record, labels, where, require_labels, names=("claim_label",)),
        )


def write_examples(path: PathLike, examples: Iterable[Example]) -> int:
    """Write examples in Climate-FEVER's format, atomically; the number written."""
    return write_records(path, map(_example_record, examples))


def _evidence(record: Record, where: str) -> tuple[Evidence, ...]:
    sentences = []
    for item in list_field(record, "evidences", where):
        match item:
            case {"evidence_id": str(place), "article": str(article), "evidence": str(text)}:
                line = place.rpartition(":")[2]
                if line.isascii() and line.isdigit():
                    sentences.append(Evidence(text, page_id(article), int(line)))
                    continue
        raise DataError(
            f"{where}: evidence {describe(item)} has the wrong shape, expected "
            '{"evidence_id": "article:line", "article": …, "evidence": sentence, …}.'
        )
    return offered(sentences, where)


def _example_record(example: Example) -> dict[str, Any]:
    record: dict[str, Any] = {"claim_id": str(example.id), "claim": example.claim}
    if example.label is not None:
        record["claim_label"] = example.label.replace(" ", "_")
    evidences = [
        {
            "evidence_id": f"{page_title(item.page)}:{max(item.line, 0)}",
            "article": page_title(item.page),
            "evidence": item.text,
        }
        for item in example.evidence
    ]
    return record | {"evidences": evidences}
