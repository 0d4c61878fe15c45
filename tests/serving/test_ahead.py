"""Bulk work looks for the evidence of the next window while one is judged."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import DataError
from adjudge.retrieval.pipeline import WINDOW
from adjudge.serving.bulk import BulkJob, verify_file
from adjudge.serving.settings import VerifierSettings
from adjudge.serving.verifier import Verifier
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet, Verdict


class Recorder:
    """A judge and a retriever that say which window they are at; the judge waits for the retriever's next window."""

    labels: LabelSet = FEVER_LABELS
    max_evidence: int | None = None
    identity: Mapping[str, Any] = {"kind": "recorder"}

    def __init__(self, windows: int, fails_at: int | None = None) -> None:
        self.retrieved = [threading.Event() for _ in range(windows + 1)]
        self.retrieved[-1].set()
        self.windows, self.fails_at = 0, fails_at
        self.overlapped: list[bool] = []

    def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        number = int(claims[0].split()[-1]) // WINDOW
        if number == self.fails_at:
            raise DataError("the search service is gone")
        self.retrieved[number].set()
        return [[Evidence(f"Evidence for {claim}.")] for claim in claims]

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        examples = list(examples)
        self.windows += 1
        self.overlapped.append(self.retrieved[self.windows].wait(timeout=20))
        for example in examples:
            yield Verdict(example.id, example.claim, "SUPPORTS", {"SUPPORTS": 1.0}, example.evidence)


def write_claims(path: Path, count: int) -> Path:
    path.write_text("".join(json.dumps({"id": n, "claim": f"claim {n}"}) + "\n" for n in range(count)))
    return path


def test_the_next_window_is_looked_up_while_one_is_judged_and_order_stays(tmp_path: Path):
    count = 3 * WINDOW - 5
    recorder = Recorder(windows=3)
    verifier = Verifier(VerifierSettings(selector="lexical"), judge=recorder, corpus=recorder)
    job = BulkJob(write_claims(tmp_path / "claims.jsonl", count), tmp_path / "out.jsonl")
    report = verify_file(verifier, job)
    assert report.claims == count and recorder.overlapped == [True, True, True]
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == list(range(count))
    assert lines[40]["evidence"][0]["text"] == "Evidence for claim 40."


def test_what_fails_ahead_fails_the_job_after_the_window_before_it_is_kept(tmp_path: Path):
    recorder = Recorder(windows=3, fails_at=2)
    recorder.retrieved[2].set()
    verifier = Verifier(VerifierSettings(selector="lexical"), judge=recorder, corpus=recorder)
    job = BulkJob(write_claims(tmp_path / "claims.jsonl", 3 * WINDOW), tmp_path / "out.jsonl")
    with pytest.raises(DataError, match="service is gone"):
        verify_file(verifier, job)
    assert sorted(path.name for path in job.folder.glob("*.jsonl")) == ["00000000.jsonl", "00000001.jsonl"]
    healthy = Recorder(windows=3)
    healthy.windows = 2
    again = Verifier(VerifierSettings(selector="lexical"), judge=healthy, corpus=healthy)
    assert verify_file(again, job).resumed == 2 * WINDOW
