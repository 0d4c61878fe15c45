"""KGAT and GEAR files: a claim with the sentences retrieved for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from adjudge.data.records import (
    Download,
    DownloadFile,
    Entry,
    Format,
    PathLike,
    Record,
    claim_text,
    describe,
    is_int,
    list_field,
    read_records,
    required_label,
    usable_evidence,
)
from adjudge.data.text import page_title
from adjudge.errors import DataError
from adjudge.io.jsonl import write_json_lines
from adjudge.types import FEVER_LABELS, ClaimId, Evidence, Example, LabelSet

GOLD_SCORE = 1.0
"""What marks a gold sentence of a training file. No other score does: a retriever's may be higher, as BM25's are."""


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


def is_gold(sentence: Evidence) -> bool:
    """Whether a training file marks the sentence as gold."""
    return sentence.score == GOLD_SCORE


def read_training_claims(path: PathLike, labels: LabelSet = FEVER_LABELS) -> Iterator[TrainingClaim]:
    """Yield the claims of a KGAT training file; without a list ``retrieved``, ``evidence`` serves as one."""
    for location, identity, record in read_records(path):
        label = required_label(record.get("label"), labels, location)
        evidence = usable_evidence(_parse_sentences(record, "evidence", location), location)
        retrieved = evidence
        if "retrieved" in record:
            retrieved = usable_evidence(_parse_sentences(record, "retrieved", location), location)
        page = record.get("page")
        if not (page is None or is_int(page)):
            raise DataError(f"{location}: field 'page' is {describe(page)}, expected a whole number.")
        gold = tuple(filter(is_gold, evidence))
        yield TrainingClaim(identity, claim_text(record, location), label, gold, retrieved, page)


def read_pages(path: PathLike) -> dict[int, tuple[str, ...]]:
    """The sentences of numbered pages: JSONL ``{"page": number, "sentences": [text, …]}``."""
    pages: dict[int, tuple[str, ...]] = {}
    for location, page_number, record in read_records(path, ("page",)):
        sentences = list_field(record, "sentences", location)
        if not is_int(page_number) or not all(isinstance(sentence, str) for sentence in sentences):
            raise DataError(f"{location}: expected a page's number and its sentences as texts.")
        pages[int(page_number)] = tuple(sentence for sentence in sentences if sentence.strip())
    return pages


def write_examples(path: PathLike, examples: Iterable[Example]) -> int:
    """Write examples in KGAT's format, atomically; the number written.

    Titles that the page ids do not spell are kept in a field ``titles``, injected gold in ``gold_injected``;
    other readers pass both over.
    """
    return write_json_lines(path, map(_example_record, examples))


def _parse(record: Record, location: str, field: str = "evidence") -> Entry:
    """The label and the sentences of ``field``.

    A training file may hold several lists: ``evidence`` with gold sentences first, ``retrieved`` as a
    retriever found them. An empty list is a claim without evidence.
    """
    injected = record.get("gold_injected") is True
    return Entry(record.get("label"), None, _parse_sentences(record, field, location), injected)


def _parse_sentences(record: Record, field: str, location: str) -> tuple[Evidence, ...]:
    sentences = []
    items = list_field(record, field, location)
    titles = _parse_titles(record, len(items), location) if field == "evidence" else None
    for index, item in enumerate(items):
        match item:
            case [str(page), int(line), str(text), int() | float() as score] if is_int(
                line
            ) and not isinstance(score, bool):
                title = titles[index] if titles else ""
                sentences.append(Evidence(text, page, line, float(score), title=title))
            case _:
                raise DataError(
                    f"{location}: {field} {describe(item)} is not a sentence, "
                    "expected [page, line, text, score]."
                )
    return tuple(sentences)


def _parse_titles(record: Record, count: int, location: str) -> list[str] | None:
    if "titles" not in record:
        return None
    titles = list_field(record, "titles", location)
    if len(titles) != count or not all(isinstance(title, str) for title in titles):
        raise DataError(
            f"{location}: field 'titles' is {describe(titles)}, expected a text for each of {count} evidence "
            "sentences. Correct it, or leave it out."
        )
    return titles


def _example_record(example: Example) -> dict[str, Any]:
    record: dict[str, Any] = {"id": example.id, "claim": example.claim}
    if example.label is not None:
        record["label"] = example.label
    record["evidence"] = [[item.page, item.line, item.text, item.score] for item in example.evidence]
    titles = [item.section or item.title for item in example.evidence]
    if any(
        title not in ("", page_title(item.page)) for title, item in zip(titles, example.evidence, strict=True)
    ):
        record["titles"] = titles
    if example.gold_injected:
        record["gold_injected"] = True
    return record


def _recognise(record: Record) -> bool:
    """A list of sentences, each a list that begins with a page, where FEVER's gold is a list of groups."""
    evidence = record.get("evidence")
    return (
        isinstance(evidence, (list, tuple))
        and bool({"claim", "label"} & record.keys())
        and all(isinstance(item, (list, tuple)) and item and isinstance(item[0], str) for item in evidence)
    )


FORMAT = Format(
    name="kgat",
    shape="id, claim, label, evidence: [[page, line, text, score], …]",
    recognise=_recognise,
    parse=_parse,
    has_sentences=True,
    downloads={
        "kgat": Download(
            "KGAT's training, dev and test claims with retrieved evidence, and its BERT checkpoints",
            (
                DownloadFile(
                    "KernelGAT.zip",
                    ("https://thunlp.oss-cn-qingdao.aliyuncs.com/KernelGAT/FEVER/KernelGAT.zip",),
                ),
            ),
            "MIT (code and checkpoints); CC BY-SA 3.0 (FEVER text)",
            "https://github.com/thunlp/KernelGAT",
        )
    },
)
