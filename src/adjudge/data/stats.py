"""What is in a file of claims: the paper's Table 1, and what a reader asks next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from adjudge.data.formats import Reading, read_entries
from adjudge.data.records import NOWHERE, Format, PathLike, claim_text, required_label, usable_evidence
from adjudge.errors import DataError
from adjudge.types import LabelSet


@dataclass(frozen=True, slots=True)
class GoldStats:
    """Gold groups of a file of claims; a group of several sentences is needed whole."""

    groups: int
    multi_sentence_groups: int
    claims_needing_several: int
    """Claims none of whose groups is a single sentence."""


@dataclass(frozen=True, slots=True)
class DatasetStats:
    """Counts over one file. ``labels`` lists every label of the format's set, in its order.

    Evidence is the sentences of an example, or the different gold sentences of a claim;
    words are separated by white space. ``gold`` is None for formats without gold groups.
    """

    path: str
    format: str
    total: int
    labels: Mapping[str, int]
    unlabelled: int
    with_evidence: int
    mean_evidence: float
    mean_claim_words: float
    mean_evidence_words: float | None
    gold: GoldStats | None


@dataclass(frozen=True, slots=True)
class _ClaimCounts:
    label: str | None
    claim_words: int
    evidence: int
    evidence_words: int = 0
    group_sizes: tuple[int, ...] = ()


def dataset_stats(
    path: PathLike,
    format: str | None = None,
    aliases: Mapping[str, str] | None = None,
) -> DatasetStats:
    """Count one file of claims, with or without evidence, in any known format."""
    form, readings = read_entries(path, format)
    labels = form.labels.with_aliases(aliases or {})
    return _count(
        str(path), form.name, labels, (_row(item, form, labels) for item in readings), form.has_gold
    )


def _row(reading: Reading, form: Format, labels: LabelSet) -> _ClaimCounts:
    location, _, record, entry = reading
    label = None if entry.label is None else required_label(entry.label, labels, location)
    claim_words = len(claim_text(record, location, form.claim_field).split())
    if entry.evidence is not None:
        evidence = usable_evidence(entry.evidence, location)
        words = sum(len(sentence.text.split()) for sentence in evidence)
        return _ClaimCounts(label, claim_words, len(evidence), words)
    groups = [group for group in entry.gold or () if group and NOWHERE not in group]
    sentences = {ref for group in groups for ref in group}
    return _ClaimCounts(label, claim_words, len(sentences), group_sizes=tuple(map(len, groups)))


def _count(
    path: str, format: str, labels: LabelSet, rows: Iterator[_ClaimCounts], gold: bool
) -> DatasetStats:
    counts: Counter[str | None] = Counter()
    total = with_evidence = evidence = claim_words = evidence_words = 0
    groups = multi = several = 0
    for row in rows:
        counts[row.label] += 1
        total += 1
        with_evidence += row.evidence > 0
        evidence += row.evidence
        claim_words += row.claim_words
        evidence_words += row.evidence_words
        groups += len(row.group_sizes)
        multi += _multiple(row.group_sizes)
        several += bool(row.group_sizes) and _multiple(row.group_sizes) == len(row.group_sizes)
    if not total:
        raise DataError(f"{path}: the file is empty, expected one claim per line.")
    return DatasetStats(
        path=path,
        format=format,
        total=total,
        labels={label: counts[label] for label in labels},
        unlabelled=counts[None],
        with_evidence=with_evidence,
        mean_evidence=evidence / total,
        mean_claim_words=claim_words / total,
        mean_evidence_words=evidence_words / evidence if evidence and not gold else None,
        gold=GoldStats(groups, multi, several) if gold else None,
    )


def _multiple(sizes: Iterable[int]) -> int:
    return sum(size > 1 for size in sizes)
