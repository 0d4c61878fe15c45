from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from adjudge.config import RunSettings, settings_from
from adjudge.data.kgat import write_examples
from adjudge.data.verdicts import read_verdicts
from adjudge.encoders.dataset import tokenize
from adjudge.errors import AdjudgeError, ConfigError, DataError
from adjudge.evaluation.scoring import score
from adjudge.judges.row_model import build
from adjudge.runs.execute import execute, objective_for
from adjudge.runs.folder import RunFolder, run_id
from adjudge.runs.status import dev_curve
from adjudge.types import FEVER_LABELS
from toy import toy_examples


def settings(files: dict[str, Path], **training: object) -> RunSettings:
    return settings_from(
        {
            "data": files,
            "model": {"backbone": "tiny", "max_length": 32},
            "training": {"epochs": 1, "batch_size": 4, "accumulation": 2, "eval_every": 2, **training},
        }
    )


def test_a_run_leaves_the_whole_folder(toy_files: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    scores = execute(settings(toy_files), folder, command="adjudge train …")
    assert {path.name for path in folder.iterdir()} == {
        "config.toml",
        "metrics.jsonl",
        "checkpoint",
        "dev_predictions.jsonl",
        "judgements",
        "manifest.json",
    }
    assert RunFolder(folder).is_finished
    (judgement,) = (folder / "judgements").iterdir()
    assert {path.name for path in judgement.iterdir()} == {
        "predictions.jsonl",
        "scores.json",
        "judgement.json",
    }
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["seed"] == 0
    assert manifest["command"] == "adjudge train …"
    assert manifest["data"]["train"]["sha256"] and manifest["versions"]["torch"]
    assert manifest["steps"] == 3  # 24 claims, 8 a step
    assert scores is not None
    verdicts = list(read_verdicts(judgement / "predictions.jsonl"))
    assert score(verdicts, toy_files["test"]).label_accuracy == scores.label_accuracy
    assert json.loads((judgement / "scores.json").read_text())["label_accuracy"] == scores.label_accuracy


def test_a_run_is_named_by_what_trains_it(toy_files: dict[str, Path], tmp_path: Path) -> None:
    first = settings(toy_files)
    moved = tmp_path / "elsewhere.jsonl"
    moved.write_bytes(toy_files["train"].read_bytes())
    assert run_id(settings({**toy_files, "train": moved})) == run_id(first)
    assert run_id(settings({**toy_files, "test": moved, "gold": moved})) == run_id(first)
    assert run_id(settings(toy_files, warmup=0.1)) == run_id(first)  # the default
    assert run_id(settings(toy_files, warmup=0.2)) != run_id(first)
    assert run_id(settings(toy_files, seed=1)) != run_id(first)
    moved.write_bytes(toy_files["dev"].read_bytes())
    assert run_id(settings({**toy_files, "train": moved})) != run_id(first)


def test_a_trained_run_judges_other_claims_without_training_again(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    folder, others = tmp_path / "run", tmp_path / "others.jsonl"
    first = execute(settings(toy_files), folder)
    made = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    write_examples(others, toy_examples(6, "another claim"))
    scores = execute(settings({**toy_files, "test": others}), folder, resume=True)
    assert scores is not None and scores.n == 6
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert len(list((folder / "judgements").iterdir())) == 2
    assert execute(settings(toy_files), folder, resume=True) == first
    shutil.rmtree(folder / "judgements")
    assert execute(settings(toy_files), folder, resume=True) == first  # the weights are the same


def test_a_part_of_a_training_ends_at_an_evaluation_and_goes_on_to_the_same_end(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    parts, whole = RunFolder(tmp_path / "parts"), RunFolder(tmp_path / "whole")
    few = settings(toy_files, eval_every=1)  # three steps
    steps = []
    for until in (0.3, 0.5, 1.0):
        scores = execute(few, parts.path, resume=True, until=until)
        steps.append(dev_curve(parts, 1)[-1].step)
        assert parts.is_finished == (scores is not None) == (until == 1.0)
    assert steps == [1, 2, 3]
    assert execute(few, whole.path) == scores
    weights = Path("checkpoint") / "model.safetensors"
    assert (parts.path / weights).read_bytes() == (whole.path / weights).read_bytes()


def test_what_a_killed_execution_was_writing_is_removed_by_the_next(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    run, few = RunFolder(tmp_path / "run"), settings(toy_files, eval_every=1)
    execute(few, run.path, cache=tmp_path / "cache", until=0.5)
    left = [
        run.path / ".resume.safetensors.0a1b2c3d.tmp",
        run.path / "checkpoint" / ".model.safetensors.00000000.tmp",
    ]
    for path in left:
        path.touch()
    execute(few, run.path, cache=tmp_path / "cache", resume=True)
    assert not any(path.exists() for path in left) and run.is_finished


@pytest.mark.parametrize("lam", [0.25, 1e39])
def test_a_run_refused_before_its_first_step_leaves_nothing(
    toy_files: dict[str, Path], tmp_path: Path, lam: float
) -> None:
    """Because it has no claims to train on, or diverges at once."""
    if lam < 1:
        toy_files["train"].write_text("")
    objective = settings_from({"objective": {"name": "sr", "lam": lam}}).objective
    with pytest.raises(AdjudgeError):
        execute(settings(toy_files).model_copy(update={"objective": objective}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_finished_or_foreign_folder_is_refused(toy_files: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    execute(settings(toy_files), folder)
    with pytest.raises(ConfigError, match="finished run"):
        execute(settings(toy_files), folder)
    with pytest.raises(ConfigError, match="finished run"):
        execute(settings(toy_files, seed=1), folder, resume=True)
    (folder / "manifest.json").unlink()
    with pytest.raises(ConfigError, match="--resume"):
        execute(settings(toy_files), folder)


def test_resuming_a_finished_run_changes_nothing(toy_files: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    scores = execute(settings(toy_files), folder)
    made = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert execute(settings(toy_files), folder, resume=True) == scores
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == made


def test_missing_files_are_named_before_anything_is_written(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(DataError, match="nowhere.jsonl: no such file"):
        execute(settings({**toy_files, "dev": tmp_path / "nowhere.jsonl"}), folder)
    assert not folder.exists()


def test_frozen_layers_are_cached_once_and_give_the_same_scores_again(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    first = execute(settings(toy_files, freeze_layers=1), tmp_path / "a", cache=cache)
    stored = {path: path.stat().st_mtime_ns for path in (cache / "states").iterdir()}
    second = execute(settings(toy_files, freeze_layers=1), tmp_path / "b", cache=cache)
    assert len(stored) == 3  # training, dev and test claims
    assert {path: path.stat().st_mtime_ns for path in (cache / "states").iterdir()} == stored
    assert first == second


def test_weights_are_counted_on_the_claims_trained_on(toy_files: dict[str, Path]) -> None:
    from adjudge.data.formats import read_examples

    chosen = settings(toy_files).model_copy(
        update={"objective": settings_from({"objective": {"name": "sr", "beta": 0.999999}}).objective}
    )
    model = build(chosen.model, FEVER_LABELS)
    claims = [e for e in read_examples(toy_files["train"]) if e.label != "REFUTES" or int(e.id) < 12]
    data = tokenize(claims, model.writer, FEVER_LABELS)
    assert data.class_counts(3) == [8, 4, 8]
    # β → 1: weights go as 1/n = 1/8, 1/4, 1/8, scaled to mean 1: 0.75, 1.5, 0.75
    assert objective_for(chosen, data, FEVER_LABELS).weights.tolist() == pytest.approx(
        [0.75, 1.5, 0.75], rel=1e-4
    )
