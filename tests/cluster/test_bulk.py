"""Claims judged on a cluster give the file they give here; whatever is lost on the way, no id is lost or repeated."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge import Verifier
from adjudge.cluster.bulk import Task, VerifyWorker, verify_file_on
from adjudge.cluster.connection import WorkerResources, connect, inspect_node
from adjudge.errors import ConfigError, DataError
from adjudge.retrieval.pipeline import WINDOW
from adjudge.serving.bulk import BulkJob, job_definition, verify_file
from adjudge.serving.settings import VerifierSettings
from cluster import small_cluster, workers_named
from command import adjudge

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context"),  # of its own defaults
]

COUNT = 75  # two windows of 32 and a rest


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with small_cluster(nodes=1) as started, connect(started.address):
        yield started


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    """Every third claim finds nothing; ids are numbers and texts."""
    places = ("Cologne", "Dresden", "Atlantis")
    lines = [
        {"id": n if n % 2 else f"é{n}", "claim": f"{places[n % 3]} is “number” {'very ' * (n % 7)}{n}."}
        for n in range(COUNT)
    ]
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def settings(run: Path, rivers: Path) -> VerifierSettings:
    return VerifierSettings(model=run, corpus=rivers, selector="lexical")


@pytest.fixture
def local(run: Path, rivers: Path, claims: Path, tmp_path: Path) -> bytes:
    """What a job on this machine writes."""
    job = BulkJob(claims, tmp_path / "local.jsonl")
    verify_file(Verifier.load(run, rivers, selector="lexical"), job)
    return (tmp_path / "local.jsonl").read_bytes()


class Stop(Exception):
    pass


def after_the_first_part(act: Callable[[], None]) -> Callable[[int], None]:
    """Act once some claims have verdicts and some have none."""
    acted: list[int] = []

    def progress(done: int) -> None:
        if 0 < done < COUNT and not acted:
            acted.append(done)
            act()

    return progress


def stop() -> None:
    raise Stop


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("v."))


def test_a_lost_worker_changes_nothing(
    cluster: Any, settings: VerifierSettings, claims: Path, local: bytes, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill() -> None:
        killed.extend(workers_named(cluster, "MapWorker"))
        for worker in killed:
            os.kill(worker, signal.SIGKILL)

    out = tmp_path / "v.jsonl"
    report = verify_file_on(
        cluster.address, settings, BulkJob(claims, out), windows=1, progress=after_the_first_part(kill)
    )
    assert killed
    assert out.read_bytes() == local
    assert (report.claims, report.resumed, sum(report.labels.values())) == (COUNT, 0, COUNT)
    assert names(tmp_path) == ["v.jsonl"]


def test_an_interrupted_job_does_the_missing_parts_only(
    cluster: Any, settings: VerifierSettings, claims: Path, local: bytes, tmp_path: Path
) -> None:
    out = tmp_path / "v.jsonl"
    with pytest.raises(Stop):
        verify_file_on(
            cluster.address, settings, BulkJob(claims, out), windows=1, progress=after_the_first_part(stop)
        )
    assert names(tmp_path) == ["v.jsonl.parts"]
    # The others may have been done in the moment of the interruption.
    (tmp_path / "v.jsonl.parts" / "00000002.jsonl").unlink(missing_ok=True)
    kept = {path: path.stat().st_mtime_ns for path in out.with_name("v.jsonl.parts").glob("*.jsonl")}
    assert kept
    seen: list[dict[Path, int]] = []

    def watch(done: int) -> None:
        seen.append({path: path.stat().st_mtime_ns for path in kept})

    report = verify_file_on(cluster.address, settings, BulkJob(claims, out), windows=1, progress=watch)
    assert seen[-1] == kept
    assert report.claims == COUNT and 32 <= report.resumed < COUNT
    assert out.read_bytes() == local
    ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert ids == [json.loads(line)["id"] for line in claims.read_text().splitlines()]
    assert names(tmp_path) == ["v.jsonl"]


def test_the_command_writes_what_it_writes_without_a_cluster(
    cluster: Any, run: Path, rivers: Path, claims: Path, tmp_path: Path
) -> None:
    ask = ["verify", "--claims", claims.name, "--corpus", "rivers", "--model", run, "--selector", "lexical"]
    here = ["--out", "here.jsonl.gz", "--submission", "here.submission"]
    there = [
        "--out",
        "there.jsonl.gz",
        "--submission",
        "there.submission",
        "--ray",
        cluster.address,
        "--json",
    ]
    assert adjudge(*ask, *here, cwd=tmp_path).returncode == 0
    done = adjudge(*ask, *there, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["claims"] == COUNT
    for suffix in ("jsonl.gz", "submission"):
        assert (tmp_path / f"there.{suffix}").read_bytes() == (tmp_path / f"here.{suffix}").read_bytes()


def test_a_job_begun_here_goes_on_on_a_cluster(
    cluster: Any, settings: VerifierSettings, claims: Path, local: bytes, tmp_path: Path
) -> None:
    job = BulkJob(claims, tmp_path / "v.jsonl")
    with pytest.raises(Stop):
        verify_file(Verifier(settings), job, progress=after_the_first_part(stop))
    report = verify_file_on(cluster.address, settings, job)
    assert (report.claims, report.resumed) == (COUNT, WINDOW)
    assert (tmp_path / "v.jsonl").read_bytes() == local


def test_parts_of_another_job_are_refused(settings: VerifierSettings, claims: Path, tmp_path: Path) -> None:
    job = BulkJob(claims, tmp_path / "v.jsonl")
    with pytest.raises(Stop):
        verify_file(Verifier(settings), job, progress=after_the_first_part(stop))
    with pytest.raises(ConfigError, match="with another k. It belongs to another job"):
        verify_file_on("nonsense", settings.with_(k=1), job)
    with pytest.raises(ConfigError, match="with another precision"):  # on a GPU, auto is bfloat16
        verify_file_on("nonsense", settings, job, resources=WorkerResources(gpus=1))
    lines = claims.read_text().splitlines(keepends=True)
    claims.write_text("".join([*lines[:3], lines[3].replace("number", "numeral"), *lines[4:]]))
    with pytest.raises(DataError, match="verdict on claim 3 where .*claims.jsonl has another claim"):
        verify_file_on("nonsense", settings, job)
    claims.write_text("".join(lines[:20]))
    with pytest.raises(DataError, match="00000000.jsonl: holds 32 verdicts on 20 claims"):
        verify_file_on("nonsense", settings, job)
    assert (job.folder / "00000000.jsonl").read_bytes().count(b"\n") == WINDOW


def test_a_bad_line_is_refused_before_the_cluster_is_asked(
    settings: VerifierSettings, claims: Path, tmp_path: Path
) -> None:
    claims.write_text(claims.read_text() + '{"id": 99, "claim": ""}\n')
    with pytest.raises(DataError, match=r"claims.jsonl:76: the claim is empty"):
        verify_file_on("nonsense", settings, BulkJob(claims, tmp_path / "v.jsonl"))
    assert names(tmp_path) == []


def test_a_cluster_cannot_be_led_from_outside(
    settings: VerifierSettings, claims: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="ray job submit"):
        verify_file_on("ray://127.0.0.1:10001", settings, BulkJob(claims, tmp_path / "v.jsonl"))
    assert names(tmp_path) == []


def test_a_worker_that_sees_another_model_says_so(settings: VerifierSettings, tmp_path: Path) -> None:
    verifier = Verifier(settings)
    definition = job_definition(verifier, verifier.retriever(), False, settings.precision)
    task = Task(settings, tmp_path, False, {**definition, "model": "other weights"}, WorkerResources())
    answer = VerifyWorker(task, inspect_node([]))({"window": [0]})
    assert answer["problem"][0].endswith("sees another model than the command that began this job.")
    assert list(tmp_path.glob("*.jsonl")) == []
