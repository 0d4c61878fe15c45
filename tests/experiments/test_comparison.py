from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from adjudge.data.kgat import write_examples
from adjudge.data.verdicts import read_verdicts
from adjudge.errors import ConfigError
from adjudge.experiments.comparison import compare, prepare
from adjudge.experiments.report import comparison_view
from adjudge.experiments.summary import read_record, summarise
from adjudge.runs.folder import RunFolder, run_id
from adjudge.runs.jobs import Job, local_runner, parallel_runner
from toy import toy_examples, toy_plan


def files_under(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_finished_runs_are_not_repeated(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = toy_plan(toy_files, objectives=["sr"], weighting=[False])
    first = compare(plan, tmp_path / "out").to_dict()
    made = files_under(tmp_path / "out" / "runs")
    assert made
    assert compare(plan, tmp_path / "out").to_dict() == first
    assert files_under(tmp_path / "out" / "runs") == made


def test_a_larger_plan_only_runs_what_is_missing(toy_files: dict[str, Path], tmp_path: Path) -> None:
    compare(toy_plan(toy_files, objectives=["ce"], weighting=[False]), tmp_path)
    made = files_under(tmp_path / "runs")
    summary = compare(toy_plan(toy_files, objectives=["sr"], weighting=[False]), tmp_path)
    assert [row.arm.name for row in summary.arms] == ["CE", "SR"]
    assert made.items() <= files_under(tmp_path / "runs").items()


def test_runs_side_by_side_give_what_they_give_one_by_one(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = toy_plan(toy_files, objectives=["sr"], weighting=[False])
    told: list[str] = []
    together = parallel_runner(2, tmp_path / "cache", finished=lambda job: told.append(job.name))
    apart = compare(plan, tmp_path / "apart").to_dict()["arms"]
    beside = compare(plan, tmp_path / "beside", runner=together).to_dict()["arms"]
    assert sorted(told) == ["CE, seed 0", "SR, λ 0.25, seed 0"]
    for one, other in zip(apart, beside, strict=True):
        assert one["selected"]["scores"] == other["selected"]["scores"]
        assert one["baseline_comparison"] == other["baseline_comparison"]


def test_a_failure_beside_other_runs_is_told(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = toy_plan(toy_files, objectives=["ce"], weighting=[False])
    for job in prepare(plan, tmp_path):
        job.folder.mkdir(parents=True)
        (job.folder / "config.toml").write_text("[training]\nseed = 5\n")
    with pytest.raises(ConfigError, match="run of other settings"):
        compare(plan, tmp_path, runner=parallel_runner(2, tmp_path / "cache"))


def test_a_run_is_named_by_what_defines_it(toy_files: dict[str, Path], tmp_path: Path) -> None:
    jobs = prepare(toy_plan(toy_files, seeds=[0, 1]), tmp_path)
    assert len({job.folder for job in jobs}) == len(jobs) == 16
    assert all(job.folder.name == run_id(job.settings) for job in jobs)


PLAN = """
[run.data]
{data}
[run.model]
max_length = 32
[run.training]
epochs = 30
batch_size = 8
accumulation = 1
eval_every = 5
[grid]
backbones = ["tiny"]
objectives = ["sr"]
weighting = [false]
seeds = [0]
"""


def test_killed_and_started_again_it_gives_the_same_table(toy_files: dict[str, Path], tmp_path: Path) -> None:
    data = "\n".join(f'{name} = "{path}"' for name, path in toy_files.items())
    (tmp_path / "plan.toml").write_text(PLAN.format(data=data))

    def command(out: str) -> list[str]:
        return [sys.executable, "-m", "adjudge", "compare", "plan.toml", "--out", out, "--json"]

    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command("killed"), cwd=tmp_path, env=environment, stdout=log, stderr=log)
        first, second = _wait_for_the_second_run(tmp_path / "killed", process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert RunFolder(first).is_finished and not RunFolder(second).is_finished
    made = files_under(first)
    tables = []
    for out in ("killed", "whole"):
        done = subprocess.run(command(out), cwd=tmp_path, env=environment, capture_output=True, check=True)
        tables.append(_without_times(json.loads(done.stdout)))
    assert tables[0] == tables[1]
    assert files_under(first) == made


def _wait_for_the_second_run(folder: Path, process: subprocess.Popen[bytes]) -> tuple[Path, Path]:
    """Until one run is finished and another has saved a state to go on from."""
    for _ in range(2400):
        runs = list((folder / "runs").glob("*")) if (folder / "runs").exists() else []
        done = [run for run in runs if RunFolder(run).is_finished]
        begun = [run for run in runs if (run / "resume.safetensors").exists() and run not in done]
        if done and begun:
            return done[0], begun[0]
        assert process.poll() is None, (folder.parent / "log").read_text()
        time.sleep(0.05)
    raise AssertionError("the comparison did not get to its second run")


def _without_times(table: dict[str, object]) -> str:
    """What does not depend on when and where it ran."""
    text = json.dumps({key: table[key] for key in ("title", "labels", "n", "arms", "missing")})
    return json.dumps(
        json.loads(text, object_hook=lambda values: {**values, "seconds": 0, "claims_per_second": 0})
    )


def test_tuning_claims_among_the_test_claims_are_refused(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = toy_plan({**toy_files, "dev": toy_files["test"]}, objectives=["ce"], weighting=[False])
    with pytest.raises(ConfigError, match="(?s)9 claims .*--protocol paper"):
        compare(plan, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    summary = compare(plan, tmp_path / "out", protocol="paper")
    assert summary.protocol["selection"].startswith("paper")


def test_injected_gold_is_stamped_on_what_is_shown(toy_files: dict[str, Path], tmp_path: Path) -> None:
    write_examples(toy_files["test"], toy_examples(9, "test claim"))
    records = [json.loads(line) for line in toy_files["test"].read_text().splitlines()]
    toy_files["test"].write_text("".join(json.dumps({**r, "gold_injected": True}) + "\n" for r in records))
    summary = compare(toy_plan(toy_files, objectives=["ce"], weighting=[False]), tmp_path / "out")
    assert summary.protocol["gold_injected"] is True
    assert "Gold injected." in shown(summary, tmp_path)


def test_the_view_shows_the_difference_and_the_matrices(toy_files: dict[str, Path], tmp_path: Path) -> None:
    summary = compare(toy_plan(toy_files, objectives=["sr"], weighting=[False]), tmp_path / "out")
    base, other = summary.arms
    text = shown(summary, tmp_path)
    difference = 100 * (other.selected.scores.label_accuracy - base.selected.scores.label_accuracy)
    assert f"{difference:+.2f}" in text
    assert "Confusion matrices" in text and "McNemar p" in text and "Gold injected." not in text


def other_claims(toy_files: dict[str, Path], folder: Path) -> dict[str, Path]:
    """The same training, six other test claims, and gold for them that is elsewhere for two of them."""
    claims = toy_examples(6, "another claim")
    write_examples(folder / "others.jsonl", claims)
    pages = ["Elsewhere", "Elsewhere", "Page", "Page", "Page", "Page"]
    lines = [
        {"id": i, "claim": "c", "label": claims[i].label, "evidence": [[[0, 0, pages[i], i]]]}
        for i in range(6)
    ]
    (folder / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {**toy_files, "test": folder / "others.jsonl", "gold": folder / "gold.jsonl"}


def test_trained_runs_judge_other_claims_for_another_table(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    axes = {"objectives": ["sr"], "weighting": [False], "seeds": [0, 1]}
    first, second = tmp_path / "first", tmp_path / "second"
    before = compare(toy_plan(toy_files, **axes), first)
    made = files_under(first / "runs")
    others = other_claims(toy_files, tmp_path)
    summary = compare(toy_plan(others, **axes), second, runs=first / "runs")
    assert summary.n == 6 and [len(row.runs) for row in summary.arms] == [2, 2]
    assert made.items() <= files_under(first / "runs").items()
    truth = {example.id: example.label for example in toy_examples(6)}
    for run in (run for row in summary.arms for run in row.runs):
        verdicts = list(read_verdicts(second / run.predictions))
        right = [verdict.id for verdict in verdicts if verdict.label == truth[verdict.id]]
        assert [verdict.claim for verdict in verdicts] == [f"another claim {i}" for i in range(6)]
        assert run.scores.label_accuracy == pytest.approx(len(right) / 6)
        assert run.scores.fever_score == pytest.approx(len([i for i in right if i > 1]) / 6)
    assert summarise(first).to_dict() == before.to_dict()  # each table has its own test claims


def test_only_the_best_run_of_each_arm_may_judge(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = toy_plan(toy_files, objectives=["sr"], weighting=[False], seeds=[0, 1])
    best = {"ce": 1, "sr": 0}  # the seed with the higher LA on the tuning claims

    def train_alike(jobs: Sequence[Job]) -> None:
        """Train, with an LA of our own, and keep what is judged."""
        local_runner(tmp_path / "cache")(jobs)
        for job in jobs:
            path = job.folder / "manifest.json"
            accuracy = 0.9 if job.settings.training.seed == best[job.settings.objective.name] else 0.1
            manifest = {**json.loads(path.read_text()), "best_dev_label_accuracy": accuracy}
            path.write_text(json.dumps(manifest))

    summary = compare(plan, tmp_path, runner=train_alike, best_only=True)
    assert {row.arm.objective: [run.seed for run in row.runs] for row in summary.arms} == {
        "ce": [1],
        "sr": [0],
    }
    assert len(list((tmp_path / "runs").glob("*/manifest.json"))) == 4
    assert len(list((tmp_path / "runs").glob("*/judgements/*"))) == 2
    assert len(read_record(tmp_path)["runs"]) == 2


def test_the_same_command_twice_at_once_does_the_work_once(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    data = "\n".join(f'{name} = "{path}"' for name, path in toy_files.items())
    (tmp_path / "plan.toml").write_text(PLAN.format(data=data))
    command = [sys.executable, "-m", "adjudge", "compare", "plan.toml", "--out", "out", "--json"]
    both = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) for _ in range(2)]
    tables = [process.communicate(timeout=300)[0] for process in both]
    assert tables[0] == tables[1] and [process.returncode for process in both] == [0, 0]
    for run in (tmp_path / "out" / "runs").iterdir():
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        steps = [line["step"] for line in lines if line["split"] == "train"]
        assert steps == list(range(1, 91))  # 30 epochs of three steps
        assert not (run / "running.lock").exists() and not (run / "attempt.json").exists()


def shown(summary: object, folder: Path) -> str:
    with (folder / "log").open("w") as stream:
        console = Console(width=200, record=True, file=stream)
        console.print(comparison_view(summary))  # type: ignore[arg-type]
        return console.export_text()
