"""SciFact's files, in which HealthVer and COVID-Fact circulate too: claims and a corpus of abstracts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from adjudge.data.records import (
    PathLike,
    Record,
    claim_field,
    describe,
    id_field,
    is_int,
    list_field,
    parse_label,
    read_records,
    text_field,
    write_records,
)
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, Claim, Label, LabelSet, Page, Sentence, SentenceRef

_ALIASES = {"SUPPORT": "SUPPORTS", "CONTRADICT": "REFUTES", "REFUTE": "REFUTES"}
_LABELS = {Label.SUPPORTS.value: "SUPPORT", Label.REFUTES.value: "CONTRADICT"}


class _Rationale(NamedTuple):
    label: str
    gold: tuple[SentenceRef, ...]


def read_claims(
    path: PathLike,
    labels: LabelSet = FEVER_LABELS,
    require_labels: bool = False,
    per_document: bool = False,
) -> Iterator[Claim]:
    """Yield SciFact claims in FEVER's terms: no evidence is NOT ENOUGH INFO, a rationale a gold group.

    A claim that one abstract supports and another contradicts has no single label: that is an error,
    unless ``per_document`` yields one claim ``id:document`` for every abstract cited. A test file has
    no evidence field and gives claims without a label.
    """
    labels = labels.with_aliases({alias: name for alias, name in _ALIASES.items() if name in labels.names})
    for where, identity, record in read_records(path):
        text = claim_field(record, where)
        rationales = _rationales(record, labels, where, require_labels)
        if rationales is None:
            yield Claim(identity, text)
        elif per_document:
            cited = [str(document) for document in record.get("cited_doc_ids", ())]
            for document in dict.fromkeys([*cited, *rationales]):
                found = {document: rationales.get(document, [])}
                yield _claim(f"{identity}:{document}", text, found, labels, where)
        else:
            yield _claim(identity, text, rationales, labels, where)


def write_claims(path: PathLike, claims: Iterable[Claim]) -> int:
    """Write claims in SciFact's format, atomically; the number written."""
    return write_records(path, map(_claim_record, claims))


def read_pages(path: PathLike) -> Iterator[Page]:
    """Yield the abstracts of a corpus as pages; a page's id is its document id."""
    for where, _, record in read_records(path, id_fields=("doc_id",)):
        yield page_of(record, where)


def page_of(record: Record, where: str) -> Page:
    """The page of one record of a corpus; ``DataError`` names ``where`` it stands."""
    identity = str(id_field(record, "doc_id", where))
    abstract = list_field(record, "abstract", where)
    for sentence in abstract:
        if not isinstance(sentence, str):
            raise DataError(f"{where}: abstract sentence {describe(sentence)}, expected text.")
    sentences = (Sentence(text, line) for line, text in enumerate(abstract) if text.strip())
    return Page(identity, text_field(record, "title", where), tuple(sentences))


def write_pages(path: PathLike, pages: Iterable[Page]) -> int:
    """Write pages as a SciFact corpus, atomically; the number written."""
    return write_records(path, map(_page_record, pages))


def _rationales(
    record: Record, labels: LabelSet, where: str, required: bool
) -> dict[str, list[_Rationale]] | None:
    """Document → rationales; None for a claim that nobody judged."""
    evidence = record.get("evidence")
    if evidence is None:
        if required:
            raise DataError(
                f"{where}: the claim has no field 'evidence', so no label; training and scoring need one."
            )
        return None
    if not isinstance(evidence, dict):
        raise _wrong_evidence(evidence, where)
    found: dict[str, list[_Rationale]] = {}
    for document, groups in evidence.items():
        if not isinstance(groups, list):
            raise _wrong_evidence({document: groups}, where)
        found[document] = [_rationale(document, group, labels, where) for group in groups]
    return found


def _rationale(document: str, group: Any, labels: LabelSet, where: str) -> _Rationale:
    match group:
        case {"sentences": [*lines], "label": str(label)} if all(map(is_int, lines)):
            gold = tuple(SentenceRef(document, line) for line in lines)
            return _Rationale(parse_label(label, labels, where), gold)
    raise _wrong_evidence({document: [group]}, where)


def _claim(
    identity: int | str, text: str, rationales: dict[str, list[_Rationale]], labels: LabelSet, where: str
) -> Claim:
    nothing = parse_label(Label.NOT_ENOUGH_INFO.value, labels, where)
    judged = [item for group in rationales.values() for item in group if item.label != nothing]
    found = sorted({item.label for item in judged})
    if len(found) > 1:
        raise DataError(
            f"{where}: the evidence says {' and '.join(found)} at once, but a claim has one label. "
            "Read the file with per_document=True, or split the claim by document."
        )
    gold = tuple(item.gold for item in judged if item.gold)
    return Claim(identity, text, found[0] if found else nothing, gold)


def _wrong_evidence(found: object, where: str) -> DataError:
    return DataError(
        f"{where}: evidence {describe(found)} has the wrong shape, expected "
        '{document: [{"sentences": [line, …], "label": "SUPPORT" or "CONTRADICT"}, …]}.'
    )


def _claim_record(claim: Claim) -> dict[str, Any]:
    record: dict[str, Any] = {"id": claim.id, "claim": claim.text}
    if claim.label is None:
        return record
    evidence: dict[str, list[dict[str, Any]]] = {}
    for group in claim.gold:
        documents = {ref.page for ref in group}
        if len(documents) > 1:
            raise DataError(
                f"Claim {claim.id!r} needs sentences of {len(documents)} documents together "
                f"({', '.join(sorted(documents))}); a SciFact rationale lies within one."
            )
        label = _LABELS.get(claim.label, claim.label)
        rationale = {"sentences": [ref.line for ref in group], "label": label}
        evidence.setdefault(group[0].page, []).append(rationale)
    cited = [int(page) if page.isascii() and page.isdigit() else page for page in evidence]
    return record | {"evidence": evidence, "cited_doc_ids": cited}


def _page_record(page: Page) -> dict[str, Any]:
    abstract = [""] * (max((sentence.line for sentence in page.sentences), default=-1) + 1)
    for sentence in page.sentences:
        abstract[sentence.line] = sentence.text
    identity = int(page.id) if page.id.isascii() and page.id.isdigit() else page.id
    return {"doc_id": identity, "title": page.title, "abstract": abstract}
