"""SciFact's files, in which HealthVer and COVID-Fact circulate too: claims and a corpus of abstracts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from adjudge.data.records import (
    Download,
    DownloadFile,
    Entry,
    Format,
    PathLike,
    Record,
    claim_text,
    describe,
    id_field,
    is_int,
    list_field,
    read_records,
    required_label,
    text_field,
)
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, Claim, Page, Sentence, SentenceRef

LABELS = FEVER_LABELS.with_aliases({"SUPPORT": "SUPPORTS", "CONTRADICT": "REFUTES", "REFUTE": "REFUTES"})


class Rationale(NamedTuple):
    """Sentences of an abstract that together support or contradict a claim."""

    label: str
    gold: tuple[SentenceRef, ...]


def read_claims_by_document(path: PathLike) -> Iterator[Claim]:
    """Yield one claim ``id:document`` for every abstract cited, which may disagree on a claim."""
    for location, identity, record in read_records(path):
        text = claim_text(record, location)
        rationales = _rationales(record, location) or {}
        cited_field = list_field({"cited_doc_ids": [], **record}, "cited_doc_ids", location)
        cited = [str(document) for document in cited_field]
        for document in dict.fromkeys([*cited, *rationales]):
            entry = _combine(rationales.get(document, []), location)
            yield Claim(f"{identity}:{document}", text, str(entry.label), entry.gold or ())


def read_pages(path: PathLike) -> Iterator[Page]:
    """Yield the abstracts of a corpus as pages; a page's id is its document id."""
    for location, _, record in read_records(path, id_fields=("doc_id",)):
        yield page_of(record, location)


def page_of(record: Record, location: str) -> Page:
    """The page of one record of a corpus; ``DataError`` names ``where`` it stands."""
    identity = str(id_field(record, "doc_id", location))
    abstract = list_field(record, "abstract", location)
    for sentence in abstract:
        if not isinstance(sentence, str):
            raise DataError(f"{location}: abstract sentence {describe(sentence)}, expected text.")
    sentences = (Sentence(text, line) for line, text in enumerate(abstract) if text.strip())
    return Page(identity, text_field(record, "title", location), tuple(sentences))


def _parse(record: Record, location: str) -> Entry:
    """In FEVER's terms: no evidence is NOT ENOUGH INFO, a rationale a gold group.

    A claim that one abstract supports and another contradicts has no single label. A test file has no evidence
    field and gives claims without a label.
    """
    rationales = _rationales(record, location)
    if rationales is None:
        return Entry()
    return _combine([item for group in rationales.values() for item in group], location)


def _rationales(record: Record, location: str) -> dict[str, list[Rationale]] | None:
    """Document → rationales; None for a claim that nobody judged."""
    evidence = record.get("evidence")
    if evidence is None:
        return None
    if not isinstance(evidence, dict):
        raise _wrong_evidence(evidence, location)
    for document, groups in evidence.items():
        if not isinstance(groups, list):
            raise _wrong_evidence({document: groups}, location)
    return {
        document: [_rationale(document, group, location) for group in groups]
        for document, groups in evidence.items()
    }


def _rationale(document: str, group: Any, location: str) -> Rationale:
    match group:
        case {"sentences": [*lines], "label": str(label)} if all(map(is_int, lines)):
            gold = tuple(SentenceRef(document, line) for line in lines)
            return Rationale(required_label(label, LABELS, location), gold)
    raise _wrong_evidence({document: [group]}, location)


def _combine(rationales: list[Rationale], location: str) -> Entry:
    decisive = [item for item in rationales if item.label != LABELS.neutral]
    labels = sorted({item.label for item in decisive})
    if len(labels) > 1:
        raise DataError(
            f"{location}: the evidence says {' and '.join(labels)} at once, but a claim has one label. "
            "Split the claim by document."
        )
    gold = tuple(item.gold for item in decisive if item.gold)
    return Entry(labels[0] if labels else LABELS.neutral, gold)


def _wrong_evidence(evidence: object, location: str) -> DataError:
    return DataError(
        f"{location}: evidence {describe(evidence)} has the wrong shape, expected "
        '{document: [{"sentences": [line, …], "label": "SUPPORT" or "CONTRADICT"}, …]}.'
    )


FORMAT = Format(
    name="scifact",
    shape="id, claim, evidence: {document: [{sentences, label}, …]}",
    recognise=lambda record: isinstance(record.get("evidence"), dict) or "cited_doc_ids" in record,
    parse=_parse,
    labels=LABELS,
    has_gold=True,
    downloads={
        "scifact": Download(
            "SciFact: scientific claims and 5,183 abstracts",
            (
                DownloadFile(
                    "scifact.tar.gz",
                    (
                        "https://scifact.s3-us-west-2.amazonaws.com/release/latest/data.tar.gz",
                        "https://s3-us-west-2.amazonaws.com/scifact/release/latest/data.tar.gz",
                    ),
                    # As the Hugging Face loader recorded it.
                    "11c621288d41ac144d29b13b0f8503b3820b7d6e8b1f6ff24dff335c196d76be",
                    unpack="scifact",
                ),
            ),
            "CC BY 4.0 (claims); ODC-By 1.0 (abstracts)",
            "https://github.com/allenai/scifact",
        )
    },
)
