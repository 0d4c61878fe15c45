"""KGAT and GEAR files: a claim with the sentences retrieved for it."""

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
    offered,
    read_records,
    write_records,
)
from adjudge.data.text import page_title
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, ClaimId, Evidence, Example, LabelSet

GOLD_SCORE = 1.0


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
            gold_injected=record.get("gold_injected") is True,
        )


@dataclass(frozen=True, slots=True)
class TrainingClaim:
    """A training claim with all that is known of it, for drawing examples.

    Attributes:
        gold: sentences that decide the claim, marked in the file by a score of 1.
        retrieved: what a retriever found, in its order, gold or not.
        page: the number of the page that holds a gold sentence, in a file of pages.
    """

    id: ClaimId
    text: str
    label: str
    gold: tuple[Evidence, ...] = ()
    retrieved: tuple[Evidence, ...] = ()
    page: int | None = None


def read_training_claims(path: PathLike, labels: LabelSet = FEVER_LABELS) -> Iterator[TrainingClaim]:
    """Yield the claims of a KGAT training file; without a list ``retrieved``, ``evidence`` serves as one."""
    for where, identity, record in read_records(path):
        label = label_field(record, labels, where, required=True)
        evidence = _evidence(record, "evidence", where)
        retrieved = _evidence(record, "retrieved", where) if "retrieved" in record else evidence
        page = record.get("page")
        if label is None or not (page is None or is_int(page)):
            raise DataError(f"{where}: field 'page' is {describe(page)}, expected a whole number.")
        gold = tuple(sentence for sentence in evidence if sentence.score >= GOLD_SCORE)
        yield TrainingClaim(identity, claim_field(record, where), label, gold, retrieved, page)


def read_pages(path: PathLike) -> dict[int, tuple[str, ...]]:
    """The sentences of numbered pages: JSONL ``{"page": number, "sentences": [text, …]}``."""
    pages: dict[int, tuple[str, ...]] = {}
    for where, number, record in read_records(path, ("page",)):
        sentences = list_field(record, "sentences", where)
        if not is_int(number) or not all(isinstance(sentence, str) for sentence in sentences):
            raise DataError(f"{where}: expected a page's number and its sentences as texts.")
        pages[int(number)] = tuple(sentence for sentence in sentences if sentence.strip())
    return pages


def write_examples(path: PathLike, examples: Iterable[Example]) -> int:
    """Write examples in KGAT's format, atomically; the number written.

    Titles that the page ids do not spell are kept in a field ``titles``, injected gold in ``gold_injected``;
    other readers pass both over.
    """
    return write_records(path, map(_example_record, examples))


def _evidence(record: Record, field: str, where: str) -> tuple[Evidence, ...]:
    sentences = []
    items = list_field(record, field, where)
    titles = _titles(record, len(items), where) if field == "evidence" else None
    for place, item in enumerate(items):
        match item:
            case [str(page), int(line), str(text), int() | float() as score] if is_int(
                line
            ) and not isinstance(score, bool):
                title = titles[place] if titles else ""
                sentences.append(Evidence(text, page, line, float(score), title=title))
            case _:
                raise DataError(
                    f"{where}: {field} {describe(item)} is not a sentence, "
                    "expected [page, line, text, score]."
                )
    return offered(sentences, where)


def _titles(record: Record, count: int, where: str) -> list[str] | None:
    if "titles" not in record:
        return None
    titles = list_field(record, "titles", where)
    if len(titles) != count or not all(isinstance(title, str) for title in titles):
        raise DataError(
            f"{where}: field 'titles' is {describe(titles)}, expected a text for each of {count} evidence "
            "sentences. Correct it, or leave it out."
        )
    return titles


def _example_record(example: Example) -> dict[str, Any]:
    record: dict[str, Any] = {"id": example.id, "claim": example.claim}
    if example.label is not None:
        record["label"] = example.label
    record["evidence"] = [[item.page, item.line, item.text, item.score] for item in example.evidence]
    if any(item.title not in ("", page_title(item.page)) for item in example.evidence):
        record["titles"] = [item.title for item in example.evidence]
    if example.gold_injected:
        record["gold_injected"] = True
    return record
