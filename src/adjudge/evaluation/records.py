"""What scoring reads: one shape for predictions and one for gold, out of every documented form.

A source is a path to a JSONL file (gz or not) or any iterable of records. A record is one of the
project's own types or a dict in one of four formats:

==================  ==============================================  ===================================
format              read as a prediction                            read as gold
==================  ==============================================  ===================================
FEVER submission    ``predicted_label``, ``predicted_evidence``     –
FEVER claims        label; sentences, shortest group first          label and groups
KGAT example        label; the sentences in their order             label alone
verdict             label; the sentences in their order             label alone
==================  ==============================================  ===================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.data.fever import Prediction
from adjudge.data.files import read_json_lines
from adjudge.data.records import is_int, missing_field, parse_label
from adjudge.errors import DataError
from adjudge.types import Claim, ClaimId, Example, LabelSet, SentenceRef, Verdict

Groups = tuple[tuple[SentenceRef, ...], ...]

NOWHERE = SentenceRef("", -1)
"""A sentence whose page or line is unknown: it takes a place in the ranking and matches nothing."""

_SHOWN = 10  # ids named in a message

Record = Claim | Example | Prediction | Verdict | Mapping[str, Any]
Source = str | Path | Iterable[Record]


class Truth(NamedTuple):
    """A gold claim; ``groups`` is None when the record cannot say which sentences are gold."""

    id: ClaimId
    label: str
    groups: Groups | None


def read_predictions(source: Source, labels: LabelSet) -> Iterator[Prediction]:
    """Every record of ``source`` as a prediction."""
    for where, record in located(source, "prediction"):
        if isinstance(record, Mapping):
            prediction = _prediction_of_dict(record, labels, where)
            injected = record.get("gold_injected") is True
        else:
            prediction = _prediction_of_object(record, labels, where)
            injected = not isinstance(record, Claim) and record.gold_injected
        yield replace(prediction, gold_injected=injected)


def read_gold(source: Source, labels: LabelSet) -> Iterator[Truth]:
    """Every record of ``source`` as gold."""
    for where, record in located(source, "gold claim"):
        if isinstance(record, Mapping):
            groups = _groups(record.get("evidence"), where)
            yield Truth(claim_id(record, where), _label(record.get("label"), labels, where), groups)
        elif isinstance(record, Claim):
            yield Truth(record.id, _label(record.label, labels, where), record.gold)
        elif isinstance(record, Example):
            yield Truth(record.id, _label(record.label, labels, where), None)
        else:
            raise DataError(
                f"{where}: found {type(record).__name__}, expected a Claim, an Example, or a dict in FEVER's "
                "claims format or KGAT's."
            )


def located(source: Source, what: str) -> Iterator[tuple[str, Record]]:
    """Yield (where a reader finds it, record)."""
    if isinstance(source, (str, Path)):
        for number, fields in read_json_lines(Path(source)):
            yield f"{source}:{number}", fields
    else:
        for number, record in enumerate(source, start=1):
            yield f"{what} {number}", record


def mismatches(predicted: Sequence[ClaimId], gold: Sequence[ClaimId]) -> list[str]:
    """A line for each way in which two lists of ids fail to be the same set; empty when they match."""
    predicted_set, gold_set = set(predicted), set(gold)
    found = {
        "Ids predicted more than once": _repeated(predicted),
        "Ids of more than one claim": _repeated(gold),
        "Claims without a prediction": [i for i in dict.fromkeys(gold) if i not in predicted_set],
        "Predictions without a claim": [i for i in dict.fromkeys(predicted) if i not in gold_set],
    }
    lines = [f"{what} ({len(ids)}): {named(ids)}." for what, ids in found.items() if ids]
    if lines and not predicted_set & gold_set and {str(i) for i in predicted} & {str(i) for i in gold}:
        lines.append("One side writes its ids as numbers, the other as text; write both the same way.")
    return lines


def named(ids: Sequence[ClaimId]) -> str:
    """The first ten ids, and how many more there are."""
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(repr(i) for i in ids[:_SHOWN]) + more


def _repeated(ids: Sequence[ClaimId]) -> list[ClaimId]:
    return [i for i, times in Counter(ids).items() if times > 1]


def claim_id(record: Mapping[str, Any], where: str) -> ClaimId:
    """The record's id; ``DataError`` when it is neither a whole number nor text."""
    if "id" not in record:
        raise missing_field(record, "id", where)
    found = record["id"]
    if not is_int(found) and not isinstance(found, str):
        raise DataError(f"{where}: id {found!r} is neither a whole number nor text.")
    identifier: ClaimId = found
    return identifier


def submitted_ref(item: object, where: str) -> SentenceRef:
    """One [page, line] of a submission."""
    if isinstance(item, (list, tuple)) and len(item) == 2:
        page, line = item
        if isinstance(page, str) and is_int(line):
            return SentenceRef(page, line)
    raise DataError(
        f'{where}: predicted_evidence holds {item!r}, expected [page, line] such as ["Paris", 0].'
    )


def _prediction_of_dict(record: Mapping[str, Any], labels: LabelSet, where: str) -> Prediction:
    identifier = claim_id(record, where)
    if "predicted_label" in record:
        label = _label(record["predicted_label"], labels, where)
        found = record.get("predicted_evidence")
        if found is None:
            return Prediction(identifier, label, None)
        return Prediction(
            identifier, label, tuple(submitted_ref(item, where) for item in _listed(found, where))
        )
    if "label" not in record:
        raise missing_field(record, "predicted_label", where)
    label = _label(record["label"], labels, where)
    found = record.get("evidence")
    if found is None:
        return Prediction(identifier, label, None)
    groups = _groups(found, where)
    if groups is not None:
        return Prediction(identifier, label, _flattened(groups))
    return Prediction(identifier, label, tuple(_offered_ref(item, where) for item in found))


def _prediction_of_object(record: object, labels: LabelSet, where: str) -> Prediction:
    if isinstance(record, Claim):
        return Prediction(record.id, _label(record.label, labels, where), _flattened(record.gold))
    if isinstance(record, (Verdict, Example)):
        refs = tuple(_placed(item.page, item.line) for item in record.evidence)
        return Prediction(record.id, _label(record.label, labels, where), refs)
    if not isinstance(record, Prediction):
        raise DataError(
            f"{where}: found {type(record).__name__}, expected a Prediction, a Verdict, or a dict in FEVER's "
            "submission format."
        )
    placed = None if record.evidence is None else tuple(_placed(*ref) for ref in record.evidence)
    return Prediction(record.id, _label(record.label, labels, where), placed)


def _groups(evidence: object, where: str) -> Groups | None:
    """FEVER's groups; None where the evidence is absent or, as in KGAT's format, not said to be gold.

    The two formats differ in depth: a group of FEVER's holds lists, a sentence of KGAT's does not.
    """
    if evidence is None:
        return None
    outer = _listed(evidence, where)
    if not outer:
        return ()
    if any(
        isinstance(item, (list, tuple)) and (not item or isinstance(item[0], (list, tuple))) for item in outer
    ):
        return tuple(tuple(_gold_ref(item, where) for item in _listed(group, where)) for group in outer)
    if all(isinstance(item, (list, tuple)) and tuple(item[2:]) == (None, None) for item in outer):
        return ()  # FEVER's documentation shows the item of a NOT ENOUGH INFO claim without its group
    for item in outer:
        _offered_ref(item, where)
    return None


def _gold_ref(item: object, where: str) -> SentenceRef:
    if isinstance(item, (list, tuple)) and len(item) == 4:
        page, line = item[2], item[3]
        if page is None or line is None:  # how annotators write "no evidence"
            return NOWHERE
        if isinstance(page, str) and is_int(line):
            return _placed(page, line)
    raise DataError(
        f"{where}: evidence holds {item!r}, expected [annotation id, evidence id, page, line] "
        "(FEVER's claims format)."
    )


def _offered_ref(item: object, where: str) -> SentenceRef:
    """A sentence of a KGAT example, [page, line, text, score], or of a verdict, {"page", "line", …}."""
    if isinstance(item, Mapping):
        page, line = item.get("page"), item.get("line")
    elif isinstance(item, (list, tuple)) and len(item) >= 2:
        page, line = item[0], item[1]
    else:
        page = line = None
    if not isinstance(page, str) or not isinstance(line, int):
        raise DataError(
            f"{where}: evidence holds {item!r}, expected FEVER's groups or [page, line, text, score]."
        )
    return _placed(page, line)


def _placed(page: str, line: int) -> SentenceRef:
    return SentenceRef(page, line) if page and line >= 0 else NOWHERE


def _flattened(groups: Groups) -> tuple[SentenceRef, ...]:
    """The sentences of all groups, once each, the smallest group first so that it fits in the first k."""
    smallest_first = sorted(groups, key=lambda group: len(set(group)))
    return tuple(dict.fromkeys(ref for group in smallest_first for ref in group if ref != NOWHERE))


def _label(found: object, labels: LabelSet, where: str) -> str:
    if not isinstance(found, str):
        raise DataError(f"{where}: label {found!r} is not one of {', '.join(labels)}.")
    return parse_label(found, labels, where)


def _listed(found: object, where: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(found, (list, tuple)):
        raise DataError(f"{where}: evidence is {found!r}, expected a list.")
    return found
