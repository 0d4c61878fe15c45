"""The one table of formats. Every command that reads claims, examples, gold or predictions reads through it.

A new format is a module of this package with a ``FORMAT``, and its name in ``MODULES``.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from adjudge.data.records import (
    NOWHERE,
    Download,
    Entry,
    Format,
    Groups,
    PathLike,
    Record,
    claim_text,
    describe,
    read_records,
    record_id,
    required_label,
    sentence_ref,
    usable_evidence,
)
from adjudge.data.submissions import Prediction
from adjudge.errors import ConfigError, DataError
from adjudge.io.jsonl import read_json_lines
from adjudge.types import Claim, ClaimId, Example, LabelSet, SentenceRef

MODULES = (
    "submissions",
    "verdicts",
    "climate_fever",
    "scifact",
    "kgat",
    "pairs",
    "fever",
)
"""In the order in which they are tried; the first wins where a file's records fit several."""

FORMATS: Mapping[str, Format] = {
    form.name: form for form in (import_module(f"adjudge.data.{name}").FORMAT for name in MODULES)
}
MINILM = Download.of_encoder(
    "all-MiniLM-L6-v2, the embedded backbone, from the hub",
    "sentence-transformers/all-MiniLM-L6-v2",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "Apache-2.0",
)
DOWNLOADS: Mapping[str, Download] = {
    name: download for form in FORMATS.values() for name, download in form.downloads.items()
} | {"all-minilm": MINILM}

HEAD = 100
"""Records by which a file is recognised: the first alone may have no evidence."""


class Truth(NamedTuple):
    """A gold claim; ``groups`` is None when the record cannot say which sentences are gold."""

    id: ClaimId
    label: str
    groups: Groups | None


class Reading(NamedTuple):
    """One record of a file: where it stands, its id, the record, and what it says."""

    location: str
    id: ClaimId
    record: Record
    entry: Entry


def recognise(path: PathLike, preferred: Sequence[Format] = ()) -> Format | None:
    """The format that most of a file's first records have, None if none has any; an empty file is an error.

    Where several fit equally, ``preferred`` ones come first.
    """
    head = [record for _, record in islice(read_json_lines(Path(path)), HEAD)]
    if not head:
        raise DataError(f"{path}: the file is empty, expected one claim per line.")
    return _recognise(head, preferred)


def read_examples(
    path: PathLike,
    format: str | None = None,
    labels: LabelSet | None = None,
    require_labels: bool = False,
    field: str = "evidence",
    with_labels: bool = True,
    aliases: Mapping[str, str] | None = None,
) -> Iterator[Example]:
    """Read claims with the sentences to judge them by.

    Args:
        path: The file; gz or plain.
        format: A name of ``FORMATS``; None recognises it from the first records.
        labels: The label set; None takes the format's own.
        require_labels: Whether a claim without a label is an error, as in training.
        field: Which list of sentences a KGAT file is read from.
        with_labels: Without, labels are not looked at: a judge needs none, and may know others.
        aliases: Other spellings of labels.
    """
    form = _format_for(path, format, _formats("has_sentences", require_labels))
    if field != "evidence" and form.name != "kgat":
        raise ConfigError(
            f"{path}: field {field!r} can be chosen in KGAT files only; this one is {form.name}."
        )
    labels = _label_set(form, labels, aliases) if with_labels else None
    return (
        Example(
            identity,
            claim_text(record, location, form.claim_field),
            usable_evidence(entry.evidence or (), location),
            None if labels is None else _label(entry, form, labels, location, require_labels),
            entry.gold_injected,
        )
        for location, identity, record, entry in _read(path, form, field)
    )


def read_claims(
    path: PathLike,
    format: str | None = None,
    labels: LabelSet | None = None,
    require_labels: bool = False,
    require_gold: bool = False,
    aliases: Mapping[str, str] | None = None,
) -> Iterator[Claim]:
    """Read claims with their labels and, where the format has them, the places of their gold sentences.

    With ``require_gold`` only formats that have them are read. Groups of a NOT ENOUGH INFO claim give no gold.
    """
    form = _format_for(path, format, _formats("has_gold" if require_gold else "has_claims", require_labels))
    labels = _label_set(form, labels, aliases)
    return (
        Claim(
            identity,
            claim_text(record, location, form.claim_field),
            _label(entry, form, labels, location, require_labels),
            _known_groups(entry.gold or (), location),
        )
        for location, identity, record, entry in _read(path, form)
    )


def read_claim_texts(path: PathLike) -> Iterator[Claim]:
    """The claims of any file with ids and claims; labels and evidence are not looked at."""
    form = recognise(path, _formats("has_claims")) or FORMATS["fever"]
    for location, identity, record in read_records(path, (*form.id_fields, "id", "claim_id"), form.numbered):
        yield Claim(identity, claim_text(record, location, form.claim_field))


def read_gold(path: PathLike, labels: LabelSet | None = None) -> Iterator[Truth]:
    """Read gold labels, with gold groups where the format has them."""
    form = gold_format(path)
    labels = _label_set(form, labels)
    return (_truth(reading, form, labels) for reading in _read(path, form))


def gold_format(path: PathLike) -> Format:
    """The format of a gold file."""
    return _format_for(path, None, _gold_candidates())


def read_predictions(path: PathLike, labels: LabelSet | None = None) -> Iterator[Prediction]:
    """Read predicted labels and the places of predicted sentences."""
    form = _format_for(path, None, list(FORMATS.values()))
    labels = _label_set(form, labels)
    return (_prediction(reading, form, labels) for reading in _read(path, form))


def gold_of(record: Record, location: str, labels: LabelSet) -> Truth:
    """The gold of one record that stands in no file."""
    form = _format_of(record, location, _gold_candidates())
    return _truth(_reading(record, location, form), form, _label_set(form, labels))


def prediction_of(record: Record, location: str, labels: LabelSet) -> Prediction:
    """The prediction of one record that stands in no file."""
    form = _format_of(record, location, list(FORMATS.values()))
    return _prediction(_reading(record, location, form), form, _label_set(form, labels))


def read_entries(path: PathLike, format: str | None = None) -> tuple[Format, Iterator[Reading]]:
    """The format of a file of claims, and all that its records say."""
    form = _format_for(path, format, _formats("has_claims"))
    return form, _read(path, form)


def find_download(name: str) -> Download:
    """The public data set of that name."""
    if name not in DOWNLOADS:
        raise ConfigError(f"Data set {name!r} is not one of {', '.join(DOWNLOADS)}.")
    return DOWNLOADS[name]


def gold_sentences_first(groups: Groups) -> tuple[SentenceRef, ...]:
    """The sentences of all groups, once each, the smallest group first so that it fits in the first k."""
    smallest_first = sorted(groups, key=lambda group: len(set(group)))
    return tuple(dict.fromkeys(ref for group in smallest_first for ref in group if ref != NOWHERE))


def answered_label(label: object, labels: LabelSet, location: str) -> str | None:
    """A predicted label; an empty answer counts as the set's neutral label."""
    return labels.neutral if label is None else required_label(label, labels, location)


def _read(path: PathLike, form: Format, field: str = "evidence") -> Iterator[Reading]:
    options = {} if field == "evidence" else {"field": field}
    for location, identity, record in read_records(path, form.id_fields, form.numbered):
        yield Reading(location, identity, record, form.parse(record, location, **options))


def _reading(record: Record, location: str, form: Format) -> Reading:
    return Reading(
        location, record_id(record, location, form.id_fields), record, form.parse(record, location)
    )


def _label(entry: Entry, form: Format, labels: LabelSet, location: str, required: bool = True) -> str | None:
    if not required and (entry.label is None or form.predicts):
        return None
    try:
        return required_label(entry.label, labels, location)
    except DataError:
        if not isinstance(entry.label, str) or entry.label not in form.labels.names:
            raise
        raise DataError(
            f"{location}: label {entry.label!r} of {form.name} files is not one of {', '.join(labels)}.\n"
            "Train with the format's own labels (--set "
            f"{shlex.quote('data.labels=' + json.dumps(form.labels.names))}), or pass "
            f"--label {shlex.quote(f'{entry.label}={labels.neutral or labels.names[0]}')} to count it as another."
        ) from None


def _truth(reading: Reading, form: Format, labels: LabelSet) -> Truth:
    label = _label(reading.entry, form, labels, reading.location) or ""
    return Truth(reading.id, label, reading.entry.gold)


def _prediction(reading: Reading, form: Format, labels: LabelSet) -> Prediction:
    location, identity, _, entry = reading
    label = answered_label(entry.label, labels, location)
    refs: tuple[SentenceRef, ...] | None = None
    if entry.evidence is not None:
        refs = tuple(sentence_ref(item.page, item.line) for item in entry.evidence)
    elif entry.gold is not None:
        refs = gold_sentences_first(entry.gold)
    return Prediction(identity, label, refs, entry.gold_injected)


def _known_groups(groups: Groups, location: str) -> Groups:
    """The groups without those that name no page."""
    for group in groups:
        if NOWHERE in group and set(group) != {NOWHERE}:  # dropping the unknown part would make it easier
            raise DataError(
                f"{location}: evidence {describe(group)} is not a group of gold sentences: it names the page of some "
                "only. Give page and line of all, or null for both of all."
            )
    return tuple(group for group in groups if group and NOWHERE not in group)


def _formats(trait: str, require_labels: bool = False) -> list[Format]:
    """Formats that have something; with ``require_labels``, those whose labels are gold."""
    return [
        form for form in FORMATS.values() if getattr(form, trait) and not (require_labels and form.predicts)
    ]


def _gold_candidates() -> list[Format]:
    """Formats with gold groups first: a record without evidence looks like one with an empty list of it."""
    return sorted(_formats("has_claims"), key=lambda form: not form.has_gold)


def _label_set(form: Format, labels: LabelSet | None, aliases: Mapping[str, str] | None = None) -> LabelSet:
    """The format's labels, or those given, which then understand the format's spellings too."""
    spellings = dict(aliases or {})
    if labels is None:
        return form.labels.with_aliases(spellings)
    for alias, name in form.labels.aliases.items():
        if name in labels.names and not labels.knows(alias):
            spellings.setdefault(alias, name)
    return labels.with_aliases(spellings)


def _recognise(records: Sequence[Record], preferred: Sequence[Format]) -> Format | None:
    order = [*preferred, *(form for form in FORMATS.values() if form not in preferred)]
    hits = [sum(map(form.recognise, records)) for form in order]
    best = hits.index(max(hits))  # the first of equals
    return order[best] if hits[best] else None


def _format_for(path: PathLike, name: str | None, usable: Sequence[Format]) -> Format:
    """The named format, or the one that a file has, if it is one of ``usable``."""
    if name is not None:
        if name not in (form.name for form in usable):
            raise ConfigError(f"Format {name!r} is not one of {', '.join(form.name for form in usable)}.")
        return FORMATS[name]
    form = recognise(path, usable)
    if form is not None and form in usable:
        return form
    line_number, record = next(read_json_lines(Path(path)))
    raise _wrong_format(form, record, f"{path}:{line_number}", usable)


def _format_of(record: Record, location: str, usable: Sequence[Format]) -> Format:
    form = _recognise([record], usable)
    if form is not None and form in usable:
        return form
    raise _wrong_format(form, record, location, usable)


def _wrong_format(form: Format | None, record: Record, location: str, usable: Sequence[Format]) -> DataError:
    """The error for a file of no known format, or of one that does not serve."""
    fields = ", ".join(f"'{key}'" for key in record) or "none"
    shapes = "\n".join(f"  {form.name}: {form.shape}" for form in usable)
    if form is None:
        problem = f"format not recognised from the fields {fields}."
    elif not form.has_claims:
        problem = f"looks like a {form.name}, which has predictions but no claims."
    elif form.predicts:
        problem = f"looks like {form.name}, whose labels are predictions, not gold."
    elif all(form.has_gold for form in usable):
        problem = f"looks like {form.name}, which has sentences but no gold groups."
    else:
        problem = (
            f"looks like {form.name} claims, which come without sentences: find evidence for them first "
            "(adjudge assemble), or find it and give verdicts in one (adjudge verify --claims)."
        )
    return DataError(f"{location}: {problem} Expected one of:\n{shapes}")
