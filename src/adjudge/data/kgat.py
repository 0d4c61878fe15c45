"""KGAT and GEAR files: a claim with the sentences retrieved for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adjudge.data.records import (
    PathLike,
    Record,
    claim_field,
    describe,
    is_int,
    label_field,
    list_field,
    offered,
    read_records,
    write_records,
)
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet


def read_examples(
    path: PathLike,
    labels: LabelSet = FEVER_LABELS,
    field: str = "evidence",
    require_labels: bool = False,
) -> Iterator[Example]:
    """Yield the examples of a KGAT file with the first five sentences of ``field``.

    A training file may hold several lists: ``evidence`` with gold sentences first, ``retrieved`` as a
    retriever found them. An empty list is a claim without evidence; a blank sentence is none.
    """
    for where, identity, record in read_records(path):
        yield Example(
            identity,
            claim_field(record, where),
            _evidence(record, field, where),
            label_field(record, labels, where, require_labels),
        )


def write_examples(path: PathLike, examples: Iterable[Example]) -> int:
    """Write examples in KGAT's format, atomically; the number written."""
    return write_records(path, map(_example_record, examples))


def _evidence(record: Record, field: str, where: str) -> tuple[Evidence, ...]:
    sentences = []
    for item in list_field(record, field, where):
        match item:
            case [str(page), int(line), str(text), int() | float() as score] if is_int(
                line
            ) and not isinstance(score, bool):
                sentences.append(Evidence(text, page, line, float(score)))
            case _:
                raise DataError(
                    f"{where}: {field} {describe(item)} is not a sentence, "
                    "expected [page, line, text, score]."
                )
    return offered(sentences, where)


def _example_record(example: Example) -> dict[str, Any]:
    record: dict[str, Any] = {"id": example.id, "claim": example.claim}
    if example.label is not None:
        record["label"] = example.label
    return record | {
        "evidence": [[item.page, item.line, item.text, item.score] for item in example.evidence],
    }
