from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from adjudge.data.kgat import write_examples
from adjudge.errors import ConfigError
from adjudge.experiments.comparison import compare, parallel_runner, prepare
from adjudge.experiments.run import is_finished, run_id
from adjudge.experiments.view import comparison_view
from toy import toy_examples, toy_plan


def files_under(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_finished_runs_are_not_repeated(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = toy_plan(toy_files, objectives=["sr"], weighting=[False])
    first = compare(plan, tmp_path / "out").to_dict()
    made = files_under(tmp_path / "out" / "runs")
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
    together = parallel_runner(2, tmp_path / "cache", finished=lambda job: told.append(job.spec.arm.name))
    apart = compare(plan, tmp_path / "apart").to_dict()["arms"]
    beside = compare(plan, tmp_path / "beside", runner=together).to_dict()["arms"]
    assert sorted(told) == ["CE", "SR"]
    for one, other in zip(apart, beside, strict=True):
        assert one["chosen"]["scores"] == other["chosen"]["scores"]
        assert one["against"] == other["against"]


def test_a_failure_beside_other_runs_is_told(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = toy_plan(toy_files, objectives=["ce"], weighting=[False])
    for job in prepare(plan, tmp_path):
        job.folder.mkdir(parents=True)
        (job.folder / "config.toml").write_text("[training]\nseed = 5\n")
    with pytest.raises(ConfigError, match="run of other settings"):
        compare(plan, tmp_path, runner=parallel_runner(2, tmp_path / "cache"))


SIDE_BY_SIDE = """
import signal, sys, time
from pathlib import Path
from adjudge.experiments.comparison import side_by_side
from adjudge.signals import tidy_when_terminated

def work(path):
    if path.name == "fails":
        while not path.with_name("first").exists():
            time.sleep(0.05)
        raise ValueError("it failed")
    try:
        path.touch()
        time.sleep(60)
        path.with_suffix(".done").touch()
    finally:
        path.unlink()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    tidy_when_terminated()
    items = [Path(name) for name in sys.argv[1:]]
    side_by_side(2, work, items, lambda item: None)
"""


@pytest.mark.parametrize(
    ("ending", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, -signal.SIGINT), (None, 1)]
)
def test_what_ends_a_command_ends_the_runs_beside_it(
    tmp_path: Path, ending: signal.Signals | None, code: int
) -> None:
    """Told to end, or by a failure: each run tidies up, and none of those that wait is begun."""
    (tmp_path / "script.py").write_text(SIDE_BY_SIDE)
    names = ["first", "fails" if ending is None else "second", "third", "fourth"]
    process = subprocess.Popen(
        [sys.executable, "script.py", *names], cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True
    )
    with process:
        while ending is not None and not all((tmp_path / name).exists() for name in names[:2]):
            assert process.poll() is None
            time.sleep(0.05)
        if ending == signal.SIGINT:
            os.killpg(process.pid, ending)  # as a terminal does
        elif ending is not None:
            process.send_signal(ending)
        _, told = process.communicate(timeout=50)
    assert process.returncode == code, told.decode()
    assert (b"ValueError: it failed" in told) == (ending is None)
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_a_run_is_named_by_what_defines_it(toy_files: dict[str, Path], tmp_path: Path) -> None:
    jobs = prepare(toy_plan(toy_files, seeds=[0, 1]), tmp_path)
    assert len({job.folder for job in jobs}) == len(jobs) == 16
    assert all(job.folder.name == run_id(job.spec.settings) for job in jobs)


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
    assert is_finished(first) and not is_finished(second)
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
        done = [run for run in runs if is_finished(run)]
        begun = [run for run in runs if (run / "resume.safetensors").exists() and run not in done]
        if done and begun:
            return done[0], begun[0]
        assert process.poll() is None, (folder.parent / "log").read_text()
        time.sleep(0.05)
    raise AssertionError("the comparison did not get to its second run")


def _without_times(table: dict[str, object]) -> str:
    """What does not depend on when and where it ran."""
    text = json.dumps({key: table[key] for key in ("title", "labels", "n", "arms", "missing")})
    return json.dumps(json.loads(text, object_hook=lambda values: {**values, "seconds": 0}))


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
    assert "GOLD INJECTED" in shown(summary, tmp_path)


def test_the_view_shows_the_difference_and_the_matrices(toy_files: dict[str, Path], tmp_path: Path) -> None:
    summary = compare(toy_plan(toy_files, objectives=["sr"], weighting=[False]), tmp_path / "out")
    base, other = summary.arms
    text = shown(summary, tmp_path)
    difference = 100 * (other.chosen.scores.label_accuracy - base.chosen.scores.label_accuracy)
    assert f"{difference:+.2f}" in text
    assert "confusion matrices" in text and "McNemar p" in text and "GOLD INJECTED" not in text


def shown(summary: object, folder: Path) -> str:
    with (folder / "log").open("w") as stream:
        console = Console(width=200, record=True, file=stream)
        console.print(comparison_view(summary))  # type: ignore[arg-type]
        return console.export_text()
