"""A check to take away: JSON, CSV, and the annotated page that needs nothing else."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from adjudge.serving.check.check import with_passages
from adjudge.serving.check.export import check_record, line_and_column, weightiest
from adjudge.serving.check.html import to_html
from adjudge.serving.page.views import tally_of
from adjudge.types import FEVER_LABELS

if TYPE_CHECKING:
    from adjudge.serving.page.store import PageCheck
    from adjudge.serving.server.corpus import Corpus

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = (
    "sentence",
    "line",
    "state",
    "text",
    "statement",
    "statement state",
    *(f"p {label.lower()}" for label in FEVER_LABELS),
    "support",
    "refute",
    "considered",
    "marked words",
    "evidence",
    "document",
    "weight",
    "reason",
)


class Export(NamedTuple):
    """A format: its media type, and what writes it."""

    media_type: str
    write: Callable[[PageCheck, Corpus], str]


def to_json(result: PageCheck, corpus: Corpus) -> str:
    """All that is known, as ``adjudge check --json`` writes it, with the counts of evidence judged alone."""
    from adjudge.serving.server.records import public_sentence

    record = check_record(result.check)
    for sentence, alone in zip(record["sentences"], result.alone, strict=True):
        public_sentence(sentence, corpus)
        for part, verdicts in zip(sentence.get("parts", ()), alone, strict=False):
            tally = tally_of(verdicts)
            part["tally"] = {"support": tally.support, "refute": tally.refute, "considered": tally.considered}
            part["alone"] = [{"label": v.label, "probability": round(v.confidence, 6)} for v in verdicts]
    content = {**record, "corpus": corpus.name, "model": result.check.model}
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def to_csv(result: PageCheck, corpus: Corpus) -> str:
    """A row for each statement, and for each sentence that was not checked."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    for row in _rows(result, corpus):
        writer.writerow({name: plain_cell(value) for name, value in row.items()})
    return out.getvalue()


def to_page(result: PageCheck, corpus: Corpus) -> str:
    """The annotated page."""
    index = corpus.index
    check = result.check if index is None else with_passages(result.check, index)
    return to_html(check)


EXPORTS: Mapping[str, Export] = {
    "json": Export("application/json", to_json),
    "csv": Export("text/csv", to_csv),
    "html": Export("text/html", to_page),
}
"""The formats by their name, which is the file's ending too."""


def plain_cell(value: Any) -> Any:
    """A value of a cell; a text that a spreadsheet would compute is quoted."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _rows(result: PageCheck, corpus: Corpus) -> Iterator[dict[str, Any]]:
    text = result.check.text
    for number, (sentence, alone) in enumerate(
        zip(result.check.sentences, result.alone, strict=True), start=1
    ):
        shared = {
            "sentence": number,
            "line": line_and_column(text, sentence.start)[0],
            "state": sentence.state.value,
            "text": sentence.text,
        }
        if not sentence.parts:
            yield shared | {"reason": sentence.reason or ""}
        for position, part in enumerate(sentence.parts):
            row = shared | {"statement": part.statement, "statement state": part.state.value}
            row["marked words"] = " | ".join(text[span.start : span.end] for span in part.marks)
            row["reason"] = part.reason or ""
            if part.verdict is not None:
                shares = part.verdict.probabilities
                row |= {f"p {label.lower()}": round(shares.get(label, 0.0), 4) for label in FEVER_LABELS}
            if position < len(alone) and alone[position]:
                tally = tally_of(alone[position])
                row |= {"support": tally.support, "refute": tally.refute, "considered": tally.considered}
            if (evidence := weightiest(part)) is not None:
                row["evidence"] = evidence.text
                row["document"] = corpus.relative(evidence.source) if evidence.source else evidence.page
                row["weight"] = "" if evidence.weight is None else round(evidence.weight, 4)
            yield row
