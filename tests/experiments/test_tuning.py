from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from adjudge.errors import ConfigError
from adjudge.evaluation.scoring import score
from adjudge.experiments.comparison import Job
from adjudge.experiments.report.effect import Selected, read_effect
from adjudge.experiments.run import Reporter
from adjudge.experiments.status import run_status
from adjudge.experiments.tuning import BETAS, LAMBDAS, Search, Tuning, read_tuning, tune
from adjudge.experiments.tuning_view import tuning_view
from adjudge.training.loop import Metric
from command import adjudge

pytest.importorskip("optuna")

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
    return [(line["step"], line["label_accuracy"]) for line in lines if line["split"] == "dev"]


def make_perfect(run: Path) -> None:
    """Let a run have been right about every tuning claim from the first step."""
    path = run / "metrics.jsonl"
    lines = [{**json.loads(line), "label_accuracy": 1.0} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_grids_are_the_papers() -> None:
    assert LAMBDAS == (0.03125, 0.0625, 0.125, 0.25, 0.5, 1)
    assert BETAS == (0, 0.999, 0.9999, 0.99999, 0.999999)
    assert len(Search(objective="sr").pairs) == 30
    assert Search(objective="sr", weighted=False).pairs == [(lam, None) for lam in LAMBDAS]
    assert Search(objective="ce").pairs == [(None, beta) for beta in BETAS]


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
    assert not list((out / "runs").rglob("predictions.jsonl"))
    (predictions,) = (out / "selected").glob("*/predictions.jsonl")
    assert result.test == score(predictions, toy_files["test"])
    record = json.loads((out / "tuning.json").read_text())
    assert record == json.loads(json.dumps(result.to_dict()))
    assert record["selected"] == {"lam": result.selected.lam, "beta": None}
    assert record["protocol"].startswith("nested")
    assert read_effect(out).selected == Selected(result.selected.lam, None)  # the report reads it too


def test_finished_runs_are_not_repeated(plan: str, toy_files: dict[str, Path], tmp_path: Path) -> None:
    first = tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "out")
    made = written(tmp_path / "out")
    assert tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "out") == first
    assert written(tmp_path / "out") == made


def test_without_test_claims_nothing_is_scored(plan: str, toy_files: dict[str, Path], tmp_path: Path) -> None:
    del toy_files["test"]
    result = tune(tuning(plan, toy_files, 0.1), tmp_path / "out")
    assert result.test is None and not (tmp_path / "out" / "selected").exists()


def test_a_hopeless_run_is_given_up_marked_and_never_selected(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = tune(tuning(plan, toy_files, 0.1), out).points[0]
    make_perfect(out / "runs" / first.run)
    result = tune(tuning(plan, toy_files, 0.1, 0.9), out)
    given_up = result.points[1]
    # Six steps, evaluated after each: a quarter of the training is reached with the second.
    assert (given_up.state, given_up.step) == ("stopped", 2)
    assert result.selected == result.points[0] == first
    folder = out / "runs" / given_up.run
    assert json.loads((folder / "stopped.json").read_text())["step"] == 2
    assert run_status(folder, epochs=2).state == "stopped"
    made = written(folder)
    assert tune(tuning(plan, toy_files, 0.1, 0.9), out) == result
    assert written(folder) == made

    console = Console(width=120, record=True, file=(tmp_path / "log").open("w"))
    console.print(tuning_view(result))
    console.file.close()
    text = console.export_text()
    assert f"{100 * given_up.dev_label_accuracy:.2f}†" in text and "1 of 2 runs were given up" in text
    assert "Selected: λ = 0.1." in text and "Selection: nested" in text


def test_a_run_that_was_given_up_can_go_on_to_the_end_it_would_have_had(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    make_perfect(out / "runs" / tune(tuning(plan, toy_files, 0.1), out).points[0].run)
    stopped = tune(tuning(plan, toy_files, 0.1, 0.9), out).points[1]
    assert stopped.state == "stopped"
    finished = tune(tuning(plan, toy_files, 0.1, 0.9), out, early_stopping=False).points[1]
    assert (finished.state, finished.step, finished.run) == ("finished", 6, stopped.run)
    assert not (out / "runs" / finished.run / "stopped.json").exists()
    tune(tuning(plan, toy_files, 0.9), tmp_path / "straight")
    straight = tmp_path / "straight" / "runs" / finished.run
    assert dev_curve(out / "runs" / finished.run) == dev_curve(straight)


def test_a_search_killed_in_the_middle_ends_as_if_it_had_not_been(
    plan: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    whole = tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "whole", early_stopping=False)

    def kill(metric: Metric, steps: int) -> None:
        if (metric.step, metric.split) == (4, "train"):
            raise KeyboardInterrupt

    def reporter(job: Job) -> Reporter:
        return Reporter(metric=kill) if job.spec.arm.lam == 0.9 else Reporter()

    with pytest.raises(KeyboardInterrupt):
        tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "cut", early_stopping=False, reporter=reporter)
    assert not (tmp_path / "cut" / "tuning.json").exists()
    assert tune(tuning(plan, toy_files, 0.1, 0.9), tmp_path / "cut", early_stopping=False) == whole


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
    (trial,) = tuning(plan, toy_files, 0.1, protocol="paper").plan.specs
    assert trial.settings.data.dev == toy_files["test"]


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
        "objective is 'sx'",
        "lam.0 is '-1'",
        "beta.1 is '1'",
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
        ({"objective": "sr", "lam": [0.5, 0.5]}, "lam: is empty or holds a value twice"),
        ({"objective": "sr", "seed": -1}, "seed is -1"),
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
