from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from adjudge.errors import ConfigError
from adjudge.evaluation.scoring import score
from adjudge.experiments.plan import Arm
from adjudge.experiments.report.lambda_curve import Selected, read_lambda_curve
from adjudge.experiments.tuning import Tuning, read_tuning, tune
from adjudge.experiments.tuning_view import tuning_view
from adjudge.runs.execute import Reporter
from adjudge.runs.folder import RunFolder
from adjudge.runs.jobs import Job, Runner, local_runner
from adjudge.runs.status import run_status
from adjudge.training.loop import Metric
from command import adjudge

PLAN = """
[run.model]
max_length = 32
[run.training]
epochs = 2
batch_size = 8
accumulation = 1
eval_every = 1
[grid]
backbones = ["tiny"]
"""


@pytest.fixture
def plan(tmp_path: Path) -> str:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return str(path)


def tuning(plan: str, toy_files: dict[str, Path], *lam: float, **options: Any) -> Tuning:
    search = {"objective": "sr", "weighted": False, "lam": lam}
    return read_tuning(plan, search, {"run": {"data": toy_files}}, **options)


def written(folder: Path) -> dict[Path, int]:
    """When each file was written, records aside."""
    records = ("tuning.json", "stopped.json")
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in records]
    return {path: path.stat().st_mtime_ns for path in files}


def dev_curve(run: Path) -> list[tuple[int, float]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [(line["step"], line["accuracy"]) for line in lines if line["split"] == "dev"]


def pairs(tuned: Tuning) -> list[tuple[float | None, float | None]]:
    return [(arm.lam, arm.beta) for arm in tuned.plan.arms]


def test_the_grids_are_the_papers(plan: str, toy_files: dict[str, Path]) -> None:
    lams = (0.03125, 0.0625, 0.125, 0.25, 0.5, 1)
    betas = (0, 0.999, 0.9999, 0.99999, 0.999999)
    data = {"run": {"data": toy_files}}
    whole = read_tuning(plan, {"objective": "sr", "seeds": [0, 1, 2]}, data)
    assert pairs(whole) == [(lam, beta) for lam in lams for beta in betas] and len(whole.plan.runs) == 90
    assert pairs(read_tuning(plan, {"objective": "sr", "weighted": False}, data)) == [
        (lam, None) for lam in lams
    ]
    assert pairs(read_tuning(plan, {"objective": "ce"}, data)) == [(None, beta) for beta in betas]


def test_the_best_on_the_tuning_claims_is_selected_and_alone_sees_the_test_claims(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = tune(tuning(plan, toy_files, 0.1, 0.9), out, early_stopping=False)
    # Each run's figure is the best of its curve; the first among equals is selected.
    best = {
        point.run: max(value for _, value in dev_curve(out / "runs" / point.run)) for point in result.points
    }
    assert [point.dev_label_accuracy for point in result.points] == list(best.values())
    assert result.selected.run == max(best, key=lambda run: best[run])
    (predictions,) = (out / "runs").glob("*/judgements/*/predictions.jsonl")
    assert predictions.parts[-4] == result.selected.run
    assert result.test == score(predictions, toy_files["test"])
    record = json.loads((out / "tuning.json").read_text())
    assert record == json.loads(json.dumps(result.to_dict()))
    assert record["selected"] == {"lam": result.selected.lam, "beta": None, "run": result.selected.run}
    assert record["protocol"].startswith("nested")
    assert read_lambda_curve(out).selected == Selected(result.selected.lam, None)  # the report reads it too


def test_finished_runs_are_not_repeated(plan: str, toy_files: dict[str, Path], tmp_path: Path) -> None:
    first = tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "out")
    made = written(tmp_path / "out")
    assert tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "out") == first
    assert written(tmp_path / "out") == made


def test_without_test_claims_nothing_is_scored(plan: str, toy_files: dict[str, Path], tmp_path: Path) -> None:
    del toy_files["test"]
    result = tune(tuning(plan, toy_files, 0.1), tmp_path / "out")
    assert result.test is None and not list((tmp_path / "out").glob("runs/*/judgements"))


def with_accuracy(accuracies: dict[float, float]) -> Runner:
    """Runs whose LA on the tuning claims is what we say, by λ; so is the course of the search."""
    run = local_runner(Path("cache"))

    def runner(jobs: Sequence[Job]) -> None:
        run(jobs)
        for job in jobs:
            path = job.folder / "metrics.jsonl"
            accuracy = accuracies[job.settings.objective.lam]
            lines = [{**json.loads(line), "accuracy": accuracy} for line in path.read_text().splitlines()]
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    return runner


def test_the_better_half_goes_on_at_each_rung(
    plan: str, toy_files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out, search = tmp_path / "out", tuning(plan, toy_files, 0.1, 0.2, 0.3, 0.4, 0.5)
    runner = with_accuracy({0.1: 0.3, 0.2: 0.5, 0.3: 0.9, 0.4: 0.5, 0.5: 0.5})
    result = tune(search, out, runner=runner)
    # Six steps, evaluated after each: a quarter of the training is reached with the second, half with the third.
    # Of five pairs three go on, of equals the first; of these two.
    assert [(point.lam, point.state, point.step) for point in result.points] == [
        (0.1, "stopped", 2),
        (0.2, "finished", 6),
        (0.3, "finished", 6),
        (0.4, "stopped", 3),
        (0.5, "stopped", 2),
    ]
    assert result.selected == result.points[2] and result.arm == Arm("tiny", "sr", False, lam=0.3)
    folder = RunFolder(out / "runs" / result.points[0].run)
    assert json.loads(folder.stopped.read_text()) == {"dev_label_accuracy": 0.3}
    assert run_status(folder, epochs=2).state == "stopped"
    made = written(out)
    assert tune(search, out) == result
    assert written(out) == made

    console = Console(width=120, record=True, file=(tmp_path / "log").open("w"))
    console.print(tuning_view(result))
    console.file.close()
    text = console.export_text()
    assert "30.00†" in text and "3 of 5 runs were given up" in text
    assert "Selected: λ = 0.3." in text and "Selection: nested" in text


def test_a_run_that_was_given_up_can_go_on_to_the_end_it_would_have_had(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    halved = tune(tuning(plan, toy_files, 0.1, 0.9), out)
    (stopped,) = [point for point in halved.points if point.state == "stopped"]
    whole = tune(tuning(plan, toy_files, 0.1, 0.9), out, early_stopping=False)
    (finished,) = [point for point in whole.points if point.run == stopped.run]
    assert (stopped.step, finished.step, finished.state) == (2, 6, "finished")
    assert not RunFolder(out / "runs" / finished.run).stopped.exists()
    tune(tuning(plan, toy_files, stopped.lam), tmp_path / "straight")
    straight = tmp_path / "straight" / "runs" / finished.run
    assert dev_curve(out / "runs" / finished.run) == dev_curve(straight)


def test_the_mean_over_seeds_decides_and_the_best_run_is_scored(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    search = {"objective": "sr", "weighted": False, "lam": [0.1, 0.9], "seeds": [0, 1]}
    several = read_tuning(plan, search, {"run": {"data": toy_files}})
    result = tune(several, tmp_path / "out")
    quarter: dict[float | None, list[float]] = {}
    for point in result.points:
        curve = dev_curve(tmp_path / "out" / "runs" / point.run)
        quarter.setdefault(point.lam, []).append(max(accuracy for step, accuracy in curve if step <= 2))
    means = {lam: sum(values) / 2 for lam, values in quarter.items()}
    kept = max(means, key=lambda lam: means[lam])
    assert {point.lam for point in result.points if point.state == "finished"} == {kept}
    of_kept = [point for point in result.points if point.lam == kept]
    assert len(of_kept) == 2 and result.selected == max(of_kept, key=lambda point: point.dev_label_accuracy)


def test_a_search_killed_in_the_middle_ends_as_if_it_had_not_been(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    whole = tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "whole")

    def kill(metric: Metric, steps: int) -> None:
        if (metric.step, metric.split) == (4, "train"):
            raise KeyboardInterrupt

    cut = local_runner(tmp_path / "cut" / "cache", reporter=lambda job: Reporter(metric=kill))
    with pytest.raises(KeyboardInterrupt):
        tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "cut", runner=cut)
    assert not (tmp_path / "cut" / "tuning.json").exists()
    assert tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "cut") == whole


def test_tuning_claims_among_the_test_claims_are_refused_unless_the_paper_is_followed(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    toy_files["dev"].write_text(toy_files["test"].read_text())
    with pytest.raises(ConfigError, match="9 claims of .*test.jsonl are also in .*dev.jsonl"):
        tune(tuning(plan, toy_files, 0.1), tmp_path / "out")
    assert not (tmp_path / "out" / "runs").exists()
    result = tune(tuning(plan, toy_files, 0.1, protocol="paper"), tmp_path / "out")
    assert result.to_dict()["protocol"].startswith("paper: the claims reported on also chose")


def test_the_papers_protocol_tunes_on_the_test_claims(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="Leave --dev out"):
        tune(tuning(plan, toy_files, 0.1, protocol="paper"), tmp_path / "out")
    del toy_files["dev"]
    (run,) = tuning(plan, toy_files, 0.1, protocol="paper").plan.runs
    assert run.data.dev == toy_files["test"]


def test_all_problems_are_listed_at_once_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('[run.data]\ntrain = "nowhere.jsonl"\n[grid]\nbackbones = ["tiny", "minilm"]')
    done = adjudge(
        *("tune", path, "--objective", "sx", "--lam", "-1,0.5", "--beta", "0.5,1"),
        *("--protocol", "none", "--out", tmp_path / "out"),
    )
    assert done.returncode == 2
    for problem in (
        "data.dev is not set",
        "nowhere.jsonl: no such file",
        "grid.objectives.0 is 'sx'",
        "grid.beta.1 is '1'",
        "grid.backbones names 2: tune one at a time",
        "--protocol 'none'",
    ):
        assert problem in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("search", "problem"),
    [
        ({"objective": "ce", "weighted": False}, "nothing to tune"),
        ({"objective": "ce", "lam": [0.5]}, "ce has no λ"),
        ({"objective": "sr", "weighted": False, "beta": [0.5]}, "without weighting there is no β"),
        ({"objective": "sr", "lam": [0.5, 0.5]}, "lam.sr.weighted: holds a value twice"),
        ({"objective": "sr", "seeds": [-1]}, "seeds.0 is -1"),
    ],
)
def test_what_cannot_be_tuned_is_refused(
    search: dict[str, Any], problem: str, plan: str, toy_files: dict[str, Path]
) -> None:
    with pytest.raises(ConfigError, match=problem):
        read_tuning(plan, search, {"run": {"data": toy_files}})


def test_the_command_shows_the_plan_and_then_tunes(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    given = [part for name, path in toy_files.items() for part in (f"--{name}", path)]
    command = ("tune", plan, "--objective", "ce", "--beta", "0,0.9", *given, "--out", tmp_path / "out")
    done = adjudge(*command, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["runs"]) == 2 and not (tmp_path / "out").exists()
    done = adjudge(*command, "--set", "training.epochs=1", "--seed", "3", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert [(point["lam"], point["beta"], point["seed"]) for point in record["points"]] == [
        (None, 0.0, 3),
        (None, 0.9, 3),
    ]
    assert {point["step"] for point in record["points"]} <= {1, 2, 3}
    assert record == json.loads((tmp_path / "out" / "tuning.json").read_text())
