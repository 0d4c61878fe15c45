"""Climate-FEVER: real-world claims with five judged sentences each, and a fourth label, DISPUTED."""

from __future__ import annotations

from adjudge.data.records import Download, DownloadFile, Entry, Format, Record, describe, list_field
from adjudge.data.text import page_id
from adjudge.errors import DataError
from adjudge.types import FEVER_LABELS, Evidence, LabelSet


def _parse(record: Record, location: str) -> Entry:
    """The claim's label and sentences; the judgements on single sentences are left behind."""
    sentences = [_parse_sentence(item, location) for item in list_field(record, "evidences", location)]
    return Entry(record.get("claim_label"), evidence=tuple(sentences))


def _parse_sentence(item: object, location: str) -> Evidence:
    match item:
        case {"evidence_id": str(identity), "article": str(article), "evidence": str(text)}:
            line = identity.rpartition(":")[2]
            if line.isascii() and line.isdigit():
                return Evidence(text, page_id(article), int(line))
    raise DataError(
        f"{location}: evidence {describe(item)} has the wrong shape, expected "
        '{"evidence_id": "article:line", "article": …, "evidence": sentence, …}.'
    )


FORMAT = Format(
    name="climate-fever",
    shape="claim_id, claim, claim_label, evidences",
    recognise=lambda record: "claim_id" in record and "evidences" in record,
    parse=_parse,
    labels=LabelSet((*FEVER_LABELS.names, "DISPUTED"), FEVER_LABELS.aliases),
    id_fields=("claim_id",),
    has_sentences=True,
    downloads={
        "climate-fever": Download(
            "Climate-FEVER: 1,535 claims on climate change with five judged sentences each",
            (
                DownloadFile.from_github(
                    "tdiggelm/climate-fever-dataset",
                    "336f0a46c98920a6f40926385ce71ba877a7b863",
                    "dataset/climate-fever.jsonl",
                ),
            ),
            "not stated by its authors; sentences from Wikipedia (CC BY-SA 3.0)",
            "https://github.com/tdiggelm/climate-fever-dataset",
        )
    },
)
