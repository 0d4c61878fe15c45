"""Runs on a cluster end as they would have here, though a node is lost on the way."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch

from adjudge.cluster.connection import WorkerResources, check_nodes, connect, inspect_node
from adjudge.cluster.grid import ray_runner
from adjudge.errors import ConfigError, TrainingError
from adjudge.experiments.comparison import compare, prepare
from adjudge.experiments.plan import Plan, make_plan
from adjudge.experiments.tuning import read_tuning, tune
from adjudge.runs.folder import RunFolder
from adjudge.runs.jobs import Job
from cluster import parent_of, raylet_of, small_cluster
from command import adjudge

pytest.importorskip("ray")
pytestmark = pytest.mark.ray

WAIT_SECONDS = 240.0
EVAL_EVERY = 5

T = TypeVar("T")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes, joined once: every connection has worker processes of its own, which are slow to start.

    Ctrl-C is ignored on them, as where a script started them in the background.
    """
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    with small_cluster(nodes=2) as started, connect(started.address):
        signal.signal(signal.SIGINT, usual)
        yield started


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As on the nodes: sums are split by the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_search_goes_on_in_rungs(cluster: Any, toy_files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        "[run.model]\nmax_length = 32\n[run.training]\nepochs = 4\nbatch_size = 8\naccumulation = 1\n"
        'eval_every = 1\n[grid]\nbackbones = ["tiny"]\n'
    )
    search = {"objective": "sr", "weighted": False, "lam": [0.1, 0.5, 0.9]}
    tuning = read_tuning(str(tmp_path / "plan.toml"), search, {"run": {"data": toy_files}})
    result = tune(tuning, tmp_path / "ray", runner=ray_runner(cluster.address, tmp_path / "cache"))
    assert sorted(point.step for point in result.points) == [3, 6, 12]
    assert result == tune(tuning, tmp_path / "local")


def plan(files: dict[str, Path], epochs: int = 1, **grid: object) -> Plan:
    training = {"epochs": epochs, "batch_size": 8, "accumulation": 1, "eval_every": EVAL_EVERY}
    run = {"model": {"max_length": 32}, "training": training, "data": files}
    axes = {"backbones": ["tiny"], "objectives": ["sr"], "weighting": [False], "seeds": [0]}
    return make_plan({"run": run, "grid": {**axes, **grid}})


def wait_for(happened: Callable[[], T | None]) -> T:
    end = time.monotonic() + WAIT_SECONDS
    while (found := happened()) is None:
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


def outcome(job: Job) -> dict[str, bytes]:
    """What a run is for."""
    patterns = ("judgements/*/[ps]*", "dev_predictions.jsonl", "checkpoint/model.safetensors")
    files = [path for pattern in patterns for path in job.folder.glob(pattern)]
    assert len(files) == 4
    return {path.name: path.read_bytes() for path in files}


def test_a_run_whose_node_is_lost_goes_on_elsewhere_to_the_same_scores(
    cluster: Any, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    chosen = plan(toy_files, epochs=15)
    jobs = prepare(chosen, tmp_path / "ray")
    lost: list[tuple[Path, list[str]]] = []

    def lose_a_node() -> None:
        folder = wait_for(lambda: next((job.folder for job in jobs if is_under_way(job.folder)), None))
        worker = json.loads((folder / "attempt.json").read_text())["pid"]
        os.kill(worker, signal.SIGSTOP)  # all processes of a machine end at the same moment
        (node,) = [node for node in cluster.list_all_nodes() if raylet_of(node) == parent_of(worker)]
        cluster.remove_node(node, allow_graceful=False)
        os.kill(worker, signal.SIGKILL)
        lost.append((folder, saved_lines(folder)))

    loss = threading.Thread(target=lose_a_node)
    loss.start()
    rooms: list[int] = []
    runner = ray_runner(cluster.address, tmp_path / "cache", begun=rooms.append)
    summary = compare(chosen, tmp_path / "ray", runner=runner)
    loss.join()
    ((folder, lines),) = lost
    assert rooms == [2]
    # The seconds in them show that it went on from its saved state and did not begin again.
    assert lines and (folder / "metrics.jsonl").read_text().splitlines()[: len(lines)] == lines
    local = compare(chosen, tmp_path / "local")
    for job, same in zip(jobs, prepare(chosen, tmp_path / "local"), strict=True):
        assert outcome(job) == outcome(same)
        assert not (job.folder / "running.lock").exists()
    assert [row.selected.scores for row in summary.arms] == [row.selected.scores for row in local.arms]


def is_under_way(folder: Path) -> bool:
    return (folder / "resume.safetensors").exists() and not RunFolder(folder).is_finished


def saved_lines(folder: Path) -> list[str]:
    """The metrics up to the first saved state."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [line for line in lines if json.loads(line)["step"] <= EVAL_EVERY]


def test_a_run_that_fails_by_itself_is_named_when_the_others_are_done(
    cluster: Any, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    chosen = plan(toy_files, lam=1e39)  # beyond single precision
    finished: list[Job] = []
    runner = ray_runner(cluster.address, tmp_path / "cache", finished=finished.append)
    with pytest.raises(
        TrainingError, match=r"(?s)1 of 2 runs failed.*SR, λ 1e\+39, seed 0 \(.*step 1: the loss is nan"
    ):
        compare(chosen, tmp_path / "out", runner=runner)
    assert [job.name for job in finished] == ["CE, seed 0"]
    assert [RunFolder(job.folder).is_finished for job in prepare(chosen, tmp_path / "out")] == [True, False]


def test_an_interrupted_command_frees_the_runs_and_can_be_given_again(
    cluster: Any, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    files = [item for name, path in toy_files.items() for item in (f"--{name}", path)]
    (tmp_path / "plan.toml").write_text(
        "[run.model]\nmax_length = 32\n[run.training]\nepochs = 100\nbatch_size = 8\naccumulation = 1\n"
        'eval_every = 5\n[grid]\nbackbones = ["tiny"]\nweighting = [false]\nseeds = [0]\n'
    )
    command = ["compare", "plan.toml", *files, "--objectives", "ce", "--out", "out", "--ray", cluster.address]

    def interrupt() -> None:
        states.append(wait_for(lambda: next(tmp_path.glob("out/runs/*/resume.safetensors"), None)))
        os.kill(os.getpid(), signal.SIGINT)

    states: list[Path] = []
    interruption = threading.Thread(target=interrupt)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a worker of pytest-xdist ignores it
    try:
        interruption.start()
        assert adjudge(*command, cwd=tmp_path).returncode == 130
        interruption.join()
    finally:
        signal.signal(signal.SIGINT, usual)
    run = states[0].parent
    assert is_under_way(run) and not (run / "running.lock").exists()
    again = adjudge(*command, "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert RunFolder(run).is_finished
    assert "[1/1] CE, seed 0: finished" in again.stderr
    assert [arm["arm"]["objective"] for arm in json.loads(again.stdout)["arms"]] == ["ce"]


def test_a_node_that_lacks_a_version_or_a_file_is_named_before_anything_runs(
    cluster: Any, tmp_path: Path
) -> None:
    here = inspect_node([tmp_path])
    elsewhere = tmp_path / "not-shared" / "train.jsonl"
    wanted = here._replace(
        versions={**here.versions, "adjudge": "9.9.9"}, sizes={**here.sizes, str(elsewhere): 12}
    )
    with pytest.raises(ConfigError) as refused:
        check_nodes(wanted, WorkerResources(cpus=1))
    assert check_nodes(here, WorkerResources(cpus=1)) == len(cluster.list_all_nodes()) - 1
    message = str(refused.value)
    assert f"Node {here.node} has {here.versions['adjudge']} of adjudge, of which 9.9.9 is here." in message
    assert f"Node {here.node} does not see {elsewhere}. Put it on storage that all nodes mount" in message


def test_runs_that_fit_on_no_node_are_refused(
    cluster: Any, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    runner = ray_runner(cluster.address, tmp_path / "cache", cpus=2, gpus=1)
    with pytest.raises(
        ConfigError, match="No node of the cluster has 2 CPUs and 1 GPUs; there are .*: 1 CPUs"
    ):
        compare(plan(toy_files), tmp_path / "out", runner=runner)


def test_a_backbone_named_by_a_relative_folder_is_refused(
    toy_files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "encoder").mkdir()
    runner = ray_runner("local", tmp_path / "cache")
    with pytest.raises(ConfigError, match=f"Name it in full: {tmp_path / 'encoder'}"):
        compare(plan(toy_files, backbones=["encoder"]), tmp_path / "out", runner=runner)
