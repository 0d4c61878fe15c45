"""What scoring reads: predictions and gold, out of files, dicts or the project's own records.

Files and dicts are read through the table of formats. Of the records, a claim stands for itself as gold and for its
gold sentences as a prediction; examples and verdicts give their sentences as a prediction and their label as gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adjudge.data import formats
from adjudge.data.formats import Truth, answered_label, gold_format, gold_sentences_first
from adjudge.data.records import NOWHERE, Groups, read_records, record_id, required_label, sentence_ref
from adjudge.data.submissions import Prediction
from adjudge.errors import DataError
from adjudge.io.jsonl import read_json_lines
from adjudge.types import FEVER_LABELS, Claim, ClaimId, Example, LabelSet, Verdict

__all__ = ["NOWHERE", "Groups", "Prediction", "Truth"]

MAX_IDS_SHOWN = 10

Record = Claim | Example | Prediction | Verdict | Mapping[str, Any]
Records = str | Path | Iterable[Record]
"""A JSONL file (gz or not), or records."""


def read_predictions(source: Records, labels: LabelSet) -> Iterator[Prediction]:
    """Every record of ``source`` as a prediction."""
    if isinstance(source, (str, Path)):
        yield from formats.read_predictions(source, labels)
        return
    for position, record in enumerate(source, start=1):
        location = f"prediction {position}"
        if isinstance(record, Mapping):
            yield formats.prediction_of(record, location, labels)
        else:
            yield _prediction_of_object(record, labels, location)


def read_gold(source: Records, labels: LabelSet) -> Iterator[Truth]:
    """Every record of ``source`` as gold."""
    if isinstance(source, (str, Path)):
        yield from formats.read_gold(source, labels)
        return
    for position, record in enumerate(source, start=1):
        location = f"gold claim {position}"
        if isinstance(record, Mapping):
            yield formats.gold_of(record, location, labels)
        elif isinstance(record, (Claim, Example)):
            groups = record.gold if isinstance(record, Claim) else None
            yield Truth(record.id, required_label(record.label, labels, location), groups)
        else:
            raise DataError(
                f"{location}: found {type(record).__name__}, expected a Claim, an Example, or a dict in a format "
                "that adjudge reads."
            )


def read_ids(source: Records) -> list[ClaimId]:
    """The ids of claims, in their order."""
    if isinstance(source, (str, Path)):
        form = gold_format(source)
        return [identity for _, identity, _ in read_records(source, form.id_fields, form.numbered)]
    return [
        record_id(record, f"claim {position}", ("id",)) if isinstance(record, Mapping) else record.id
        for position, record in enumerate(source, start=1)
    ]


def scoring_labels(predictions: Records, gold: Records, aliases: Mapping[str, str] | None = None) -> LabelSet:
    """The label set of a gold file's format, or of the model that gave the verdicts if it knows other labels."""
    labels = gold_format(gold).labels if isinstance(gold, (str, Path)) else FEVER_LABELS
    verdict_labels = _verdict_labels(predictions)
    if not all(map(labels.knows, verdict_labels)):
        labels = LabelSet(verdict_labels)
    return labels.with_aliases(aliases or {})


def describe_mismatches(predicted: Sequence[ClaimId], gold: Sequence[ClaimId]) -> list[str]:
    """A line for each way in which two lists of ids fail to be the same set; empty when they match."""
    predicted_set, gold_set = set(predicted), set(gold)
    differences = {
        "Ids predicted more than once": _repeated_ids(predicted),
        "Ids of more than one claim": _repeated_ids(gold),
        "Claims without a prediction": [i for i in dict.fromkeys(gold) if i not in predicted_set],
        "Predictions without a claim": [i for i in dict.fromkeys(predicted) if i not in gold_set],
    }
    lines = [f"{what} ({len(ids)}): {list_ids(ids)}." for what, ids in differences.items() if ids]
    if lines and not predicted_set & gold_set and {str(i) for i in predicted} & {str(i) for i in gold}:
        lines.append("One side writes its ids as numbers, the other as text; write both the same way.")
    return lines


def list_ids(ids: Sequence[ClaimId]) -> str:
    """The first ten ids, and how many more there are."""
    more = f" and {len(ids) - MAX_IDS_SHOWN} more" if len(ids) > MAX_IDS_SHOWN else ""
    return ", ".join(repr(i) for i in ids[:MAX_IDS_SHOWN]) + more


def _repeated_ids(ids: Sequence[ClaimId]) -> list[ClaimId]:
    return [i for i, times in Counter(ids).items() if times > 1]


def _verdict_labels(predictions: Records) -> tuple[str, ...]:
    """The labels of the first verdict that has probabilities, in the model's order."""
    if isinstance(predictions, (str, Path)):
        records: Iterable[Any] = (record for _, record in read_json_lines(Path(predictions)))
        shares = (record.get("probabilities") for record in records)
    else:
        shares = (getattr(record, "probabilities", None) for record in predictions)
    return next((tuple(share) for share in shares if isinstance(share, Mapping) and share), ())


def _prediction_of_object(record: object, labels: LabelSet, location: str) -> Prediction:
    if isinstance(record, Claim):
        label = answered_label(record.label, labels, location)
        return Prediction(record.id, label, gold_sentences_first(record.gold))
    if isinstance(record, Prediction):
        refs = None if record.evidence is None else tuple(sentence_ref(*ref) for ref in record.evidence)
        return replace(record, label=answered_label(record.label, labels, location), evidence=refs)
    if isinstance(record, (Verdict, Example)):
        refs = tuple(sentence_ref(item.page, item.line) for item in record.evidence)
        label = answered_label(record.label, labels, location)
        return Prediction(record.id, label, refs, record.gold_injected)
    raise DataError(
        f"{location}: found {type(record).__name__}, expected a Prediction, a Verdict, or a dict in a format that "
        "adjudge reads."
    )
