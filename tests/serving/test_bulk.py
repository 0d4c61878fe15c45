"""A file of claims becomes a file of verdicts; whatever interrupts the work, none is lost or repeated."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from adjudge import Verifier
from adjudge.data.verdicts import read_verdicts
from adjudge.encoders.embedder import Embedder
from adjudge.errors import ConfigError, DataError
from adjudge.judges.folder import load_judge
from adjudge.retrieval.ranker import RankerSettings, build_ranker, save_ranker
from adjudge.retrieval.selectors import ScoredSelector, Similarity
from adjudge.serving.bulk import BulkJob, verify_file

COUNT = 75  # more than two windows of 32

KILLED = """
import os, signal, sys
import torch
from adjudge import Verifier
from adjudge.serving.bulk import BulkJob, verify_file

torch.set_num_threads(1)
run, corpus, claims, out, stop = sys.argv[1:]

def progress(done):
    if done == int(stop):
        os.kill(os.getpid(), signal.SIGKILL)

verify_file(Verifier.load(run, corpus, selector="lexical"), BulkJob(claims, out), progress=progress)
"""


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    """Every third claim finds nothing; ids are numbers and texts."""
    places = ("Cologne", "Dresden", "Atlantis")
    lines = [
        {"id": n if n % 2 else f"é{n}", "claim": f"{places[n % 3]} is “number” {'very ' * (n % 7)}{n}."}
        for n in range(COUNT)
    ]
    return write(tmp_path / "claims.jsonl", lines)


@pytest.fixture
def verifier(run: Path, rivers: Path) -> Verifier:
    return Verifier.load(run, rivers, selector="lexical")


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


class Stop(Exception):
    pass


def stop_at(number: int) -> Any:
    def progress(done: int) -> None:
        if done == number:
            raise Stop

    return progress


def interrupt(verifier: Verifier, claims: Path, out: Path, at: int) -> Path:
    with pytest.raises(Stop):
        verify_file(verifier, BulkJob(claims, out), progress=stop_at(at))
    assert not out.exists()
    return BulkJob(claims, out).folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("v."))


def test_every_claim_gets_its_verdict_in_order(verifier: Verifier, claims: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    report = verify_file(verifier, BulkJob(claims, tmp_path / "v.jsonl"), progress=seen.append)
    wanted = [json.loads(line) for line in claims.read_text().splitlines()]
    verdicts = list(read_verdicts(tmp_path / "v.jsonl"))
    assert [(v.id, v.claim) for v in verdicts] == [(line["id"], line["claim"]) for line in wanted]
    assert [v.reason is None for v in verdicts] == [n % 3 != 2 for n in range(COUNT)]
    assert (report.claims, report.resumed, sum(report.labels.values())) == (COUNT, 0, COUNT)
    assert seen == [32, 64, COUNT]  # window by window
    assert names(tmp_path) == ["v.jsonl"]


def test_a_killed_job_goes_on_to_the_same_file(
    verifier: Verifier, run: Path, rivers: Path, claims: Path, tmp_path: Path
) -> None:
    verify_file(verifier, BulkJob(claims, tmp_path / "whole.jsonl"))
    out = tmp_path / "v.jsonl"
    arguments = [run, rivers, claims, out, 64]
    killed = subprocess.run([sys.executable, "-c", KILLED, *map(str, arguments)], check=False, timeout=100)
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    left = b"".join(content for _, content in sorted(contents(BulkJob(claims, out).folder).items()))
    assert left.count(b"\n") == 64
    report = verify_file(verifier, BulkJob(claims, out))
    assert (report.claims, report.resumed) == (COUNT, 64)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert out.read_bytes().startswith(left)
    assert names(tmp_path) == ["v.jsonl"]


def test_what_a_selector_remembers_does_not_change_the_file(
    run: Path, rivers: Path, claims: Path, tmp_path: Path
) -> None:
    def fresh() -> Verifier:
        return Verifier.load(run, rivers, ScoredSelector(Similarity(Embedder.load("tiny")), 0.5))

    (rivers / "more.txt").write_text(" ".join(f"Cologne has {'many ' * n}bridges." for n in range(40)))
    verify_file(fresh(), BulkJob(claims, tmp_path / "whole.jsonl"))
    interrupt(fresh(), claims, tmp_path / "v.jsonl", 32)
    verify_file(fresh(), BulkJob(claims, tmp_path / "v.jsonl"))
    assert (tmp_path / "v.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_a_window_that_was_not_written_to_its_end_is_written_again(
    verifier: Verifier, claims: Path, tmp_path: Path
) -> None:
    verify_file(verifier, BulkJob(claims, tmp_path / "whole.jsonl"))
    folder = interrupt(verifier, claims, tmp_path / "v.jsonl", 64)
    last = folder / "00000001.jsonl"
    (folder / ".00000001.jsonl.x7").write_bytes(last.read_bytes()[:-9])  # as an atomic writer leaves it
    last.unlink()
    report = verify_file(verifier, BulkJob(claims, tmp_path / "v.jsonl"))
    assert report.resumed == 32
    assert (tmp_path / "v.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert names(tmp_path) == ["v.jsonl"]


def test_a_job_interrupted_after_its_last_verdict_is_only_finished(
    verifier: Verifier, claims: Path, tmp_path: Path
) -> None:
    interrupt(verifier, claims, tmp_path / "v.jsonl", COUNT)
    assert verify_file(verifier, BulkJob(claims, tmp_path / "v.jsonl")).resumed == COUNT


def test_a_bad_line_keeps_what_was_done_and_the_mended_file_goes_on(
    verifier: Verifier, claims: Path, tmp_path: Path
) -> None:
    verify_file(verifier, BulkJob(claims, tmp_path / "whole.jsonl"))
    good = claims.read_text()
    lines = good.splitlines(keepends=True)
    claims.write_text("".join([*lines[:50], '{"id": 50, "claim": ""}\n', *lines[51:]]))
    with pytest.raises(DataError, match=r"claims.jsonl:51: the claim is empty"):
        verify_file(verifier, BulkJob(claims, tmp_path / "v.jsonl"))
    assert list(contents(tmp_path / "v.jsonl.parts")) == ["00000000.jsonl"]
    claims.write_text(good)
    assert verify_file(verifier, BulkJob(claims, tmp_path / "v.jsonl")).resumed == 32
    assert (tmp_path / "v.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_abstentions_are_counted_apart_and_survive_an_interruption(
    run: Path, rivers: Path, claims: Path, tmp_path: Path
) -> None:
    unsure = Verifier.load(run, rivers, selector="lexical", min_confidence=0.999)
    interrupt(unsure, claims, tmp_path / "v.jsonl", 32)
    report = verify_file(unsure, BulkJob(claims, tmp_path / "v.jsonl"))
    weak = sum(n % 3 != 2 for n in range(COUNT))  # the others find nothing, which is sure
    assert report.resumed == 32 and report.labels == {"ABSTAINED": weak, "NO EVIDENCE FOUND": COUNT - weak}
    verdicts = list(read_verdicts(tmp_path / "v.jsonl"))
    assert [v.abstained for v in verdicts] == [n % 3 != 2 for n in range(COUNT)]


def test_a_part_made_with_another_model_corpus_or_setting_is_refused(
    verifier: Verifier, run: Path, rivers: Path, claims: Path, tmp_path: Path
) -> None:
    out = tmp_path / "v.jsonl"
    folder = interrupt(verifier, claims, out, 32)
    before = contents(folder)
    with pytest.raises(ConfigError, match="with another k. It belongs to another job"):
        verify_file(Verifier.load(run, rivers, selector="lexical", k=1), BulkJob(claims, out))
    with pytest.raises(ConfigError, match="with another minimum confidence"):
        verify_file(Verifier.load(run, rivers, selector="lexical", min_confidence=0.5), BulkJob(claims, out))
    (rivers / "new.txt").write_text("The Oder flows through Breslau.")
    with pytest.raises(ConfigError, match="with another corpus"):
        verify_file(Verifier.load(run, rivers, selector="lexical"), BulkJob(claims, out))
    judge = replace(load_judge(run), temperature=2.0)
    other = Verifier.load(judge, rivers, selector="lexical")
    with pytest.raises(ConfigError, match="with another model and corpus"):
        verify_file(other, BulkJob(claims, out))
    assert contents(folder) == before
    assert verify_file(other, BulkJob(claims, out, restart=True)).resumed == 0


def test_a_ranker_is_known_by_its_weights_and_not_by_its_folder(
    run: Path, rivers: Path, claims: Path, tmp_path: Path
) -> None:
    folder, out = tmp_path / "ranker", tmp_path / "v.jsonl"

    def train(seed: int, where: Path) -> Verifier:
        torch.manual_seed(seed)
        save_ranker(build_ranker(RankerSettings(backbone="tiny")), where)
        return Verifier.load(run, rivers, str(where))

    interrupt(train(0, folder), claims, out, 32)
    with pytest.raises(ConfigError, match="with another selector"):
        verify_file(train(1, folder), BulkJob(claims, out))
    assert verify_file(train(0, tmp_path / "moved"), BulkJob(claims, out)).resumed == 32


def test_a_part_of_other_claims_is_refused(verifier: Verifier, claims: Path, tmp_path: Path) -> None:
    interrupt(verifier, claims, tmp_path / "v.jsonl", 64)
    lines = claims.read_text().splitlines(keepends=True)
    others = tmp_path / "others.jsonl"
    others.write_text("".join([*lines[:3], lines[3].replace("number", "numeral"), *lines[4:]]))
    with pytest.raises(DataError, match="verdict on claim 3 where .*others.jsonl has another claim"):
        verify_file(verifier, BulkJob(others, tmp_path / "v.jsonl"))
    others.write_text("".join(lines[:33]))
    with pytest.raises(DataError, match="holds 32 verdicts on 1 claims"):
        verify_file(verifier, BulkJob(others, tmp_path / "v.jsonl"))
    others.write_text("".join(lines[:32]))
    with pytest.raises(DataError, match="00000001.jsonl: .* has fewer claims"):
        verify_file(verifier, BulkJob(others, tmp_path / "v.jsonl"))


@pytest.mark.parametrize("damage", ["digit", "label", "checksum lost"])
def test_verdicts_that_a_disk_changed_are_made_again(
    verifier: Verifier, claims: Path, tmp_path: Path, damage: str
) -> None:
    verify_file(verifier, BulkJob(claims, tmp_path / "whole.jsonl"))
    folder = interrupt(verifier, claims, tmp_path / "v.jsonl", 64)
    part = folder / "00000001.jsonl"
    content = part.read_text()
    if damage == "digit":  # one bit of a probability: 0.1 → 0.3, 0.2 → 0.0, …
        digit = re.search(r'"[A-Z ]+":0\.(\d)', content)
        assert digit is not None
        part.write_text(f"{content[: digit.start(1)]}{int(digit[1]) ^ 2}{content[digit.end(1) :]}")
    elif damage == "label":
        label = "SUPPORTS" if '"label":"SUPPORTS"' in content else "REFUTES"
        part.write_text(content.replace(f'"label":"{label}"', '"label":"NOT ENOUGH INFO"', 1))
    else:
        part.with_suffix(".sha256").unlink()
    report = verify_file(verifier, BulkJob(claims, tmp_path / "v.jsonl"))
    assert report.resumed == 32
    assert (tmp_path / "v.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert names(tmp_path) == ["v.jsonl"]


def test_two_jobs_do_not_write_one_file(verifier: Verifier, claims: Path, tmp_path: Path) -> None:
    out = tmp_path / "v.jsonl"

    def again(done: int) -> None:
        if done == 32:
            with pytest.raises(ConfigError, match="another process is writing it"):
                verify_file(verifier, BulkJob(claims, out))
            assert names(tmp_path) == ["v.jsonl.parts"]

    verify_file(verifier, BulkJob(claims, out), progress=again)
    assert len(list(read_verdicts(out))) == COUNT


def test_any_file_with_ids_and_claims_will_do(verifier: Verifier, tmp_path: Path) -> None:
    lines = [
        {"id": 1, "claim": "Cologne.", "label": "UNHEARD-OF", "evidence": [[[1, 2, "Page", 3]]]},
        {"claim_id": "2", "claim": "Dresden.", "evidences": []},
        {"id": 3, "claim": "Atlantis.", "evidence": [["Page", 0, "Sentence.", 1.0]]},
    ]
    packed = tmp_path / "claims.jsonl.gz"
    packed.write_bytes(gzip.compress(write(tmp_path / "c.jsonl", lines).read_bytes()))
    verify_file(verifier, BulkJob(packed, tmp_path / "v.jsonl.gz"))
    assert [v.id for v in read_verdicts(tmp_path / "v.jsonl.gz")] == [1, "2", 3]
    assert names(tmp_path) == ["v.jsonl.gz"]


@pytest.mark.parametrize("content", [None, "", "\n\n", "[1]\n"])
def test_a_file_without_claims_leaves_nothing_behind(
    verifier: Verifier, tmp_path: Path, content: str | None
) -> None:
    claims = tmp_path / "claims.jsonl"
    if content is not None:
        claims.write_text(content)
    with pytest.raises(DataError, match="claims.jsonl"):
        verify_file(verifier, BulkJob(claims, tmp_path / "v.jsonl"))
    assert names(tmp_path) == []


def test_what_an_interrupted_job_wrote_survives_the_next_failure(
    verifier: Verifier, claims: Path, tmp_path: Path
) -> None:
    folder = interrupt(verifier, claims, tmp_path / "v.jsonl", 32)
    before = contents(folder)
    os.rename(claims, tmp_path / "moved.jsonl")
    with pytest.raises(DataError, match="no such file"):
        verify_file(verifier, BulkJob(claims, tmp_path / "v.jsonl"))
    assert contents(folder) == before


def test_a_job_killed_after_its_submission_is_finished_by_the_same_call(
    verifier: Verifier, claims: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = BulkJob(claims, tmp_path / "v.jsonl", tmp_path / "v.submission")

    def stop(*_: object) -> None:
        raise Stop

    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr("adjudge.serving.bulk.shutil.copyfileobj", stop)
        verify_file(verifier, job)
    assert names(tmp_path) == ["v.jsonl.parts", "v.submission"]
    assert verify_file(verifier, job).resumed == COUNT
    assert names(tmp_path) == ["v.jsonl", "v.submission"]


def test_a_job_killed_before_it_tidied_up_is_done_and_its_parts_are_removed(
    verifier: Verifier, claims: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = BulkJob(claims, tmp_path / "v.jsonl")

    def stop(*_: object) -> None:
        raise Stop

    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr("adjudge.serving.bulk.Parts._clear", stop)
        verify_file(verifier, job)
    assert names(tmp_path) == ["v.jsonl", "v.jsonl.parts"] and job.is_done
    verdicts = (tmp_path / "v.jsonl").read_bytes()
    assert verify_file(verifier, job).resumed == COUNT
    assert names(tmp_path) == ["v.jsonl"] and (tmp_path / "v.jsonl").read_bytes() == verdicts
    folder = interrupt(verifier, claims, tmp_path / "v.other", 32)
    (tmp_path / "v.other").write_bytes(verdicts)  # of a job that was forced, and is to be replaced
    assert folder.is_dir() and not BulkJob(claims, tmp_path / "v.other").is_done
