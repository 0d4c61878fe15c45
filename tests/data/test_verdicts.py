"""Verdicts as JSONL: what is known is written, and older files are read."""

from __future__ import annotations

import json
from pathlib import Path

from adjudge.data.formats import read_examples
from adjudge.data.verdicts import read_verdicts, verdict_record, write_verdicts
from adjudge.types import Evidence, Verdict

VERDICT = Verdict(
    1,
    "Rome is old.",
    "SUPPORTS",
    {"SUPPORTS": 1.0},
    (Evidence("It is old.", "a/rome.txt", 2, 0.5, title="Rome"), Evidence("So they say.")),
)


def test_a_title_is_shown_where_there_is_one() -> None:
    known, unknown = verdict_record(VERDICT)["evidence"]
    assert known == {"text": "It is old.", "page": "a/rome.txt", "line": 2, "score": 0.5, "title": "Rome"}
    assert unknown == {"text": "So they say.", "page": "", "line": -1, "score": 0.0}


def test_verdicts_survive_writing(tmp_path: Path) -> None:
    write_verdicts(tmp_path / "v.jsonl", [VERDICT])
    assert list(read_verdicts(tmp_path / "v.jsonl")) == [VERDICT]


def test_a_file_without_titles_is_read(tmp_path: Path) -> None:
    record = verdict_record(VERDICT)
    del record["evidence"][0]["title"]
    (tmp_path / "v.jsonl").write_text(json.dumps(record) + "\n")
    (verdict,) = read_verdicts(tmp_path / "v.jsonl")
    assert [sentence.title for sentence in verdict.evidence] == ["", ""]


def test_what_a_model_reads_of_the_evidence_is_read_back(tmp_path: Path) -> None:
    sentence = Evidence("It weighs 5 kg.", "a.md", 2, title="T", section="T: Eagle Y", context="It is new.")
    verdict = Verdict(1, "Rome is old.", "SUPPORTS", {"SUPPORTS": 1.0}, (sentence,))
    write_verdicts(tmp_path / "v.jsonl", [verdict])
    [example] = read_examples(tmp_path / "v.jsonl")
    assert example.evidence == (sentence,)
