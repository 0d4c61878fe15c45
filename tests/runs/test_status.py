from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.runs.folder import RunFolder
from adjudge.runs.status import Status, remaining_seconds, run_status


def line(step: int, split: str, accuracy: float) -> str:
    return json.dumps(
        {
            "step": step,
            "epoch": step / 10,
            "split": split,
            "loss": 1.0,
            "accuracy": accuracy,
            "lr": 1e-4,
        }
        | {"seconds": step * 2.0}
    )


def test_a_run_that_has_not_begun_waits(tmp_path: Path) -> None:
    assert run_status(RunFolder(tmp_path / "nowhere"), 2) == Status("waiting", 0.0, 0.0, None)


def test_a_run_in_training_tells_its_share_and_latest_accuracy(tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    assert run_status(RunFolder(tmp_path), 2) == Status("begun", 0.0, 0.0, None)
    lines = [line(step, "train", 0.5) for step in range(1, 200)]  # longer than what is read of the end
    lines[4:4] = [line(4, "dev", 0.4)]
    half_written = line(11, "train", 0.5)[:20]
    lines = [*lines, line(10, "dev", 0.6), line(10, "train", 0.5)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + "\n" + half_written)
    assert run_status(RunFolder(tmp_path), 2) == Status("begun", 0.5, 20.0, 0.6)


def test_a_finished_run_tells_its_best_accuracy(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"seconds": 30.5, "best_dev_label_accuracy": 0.7}')
    assert run_status(RunFolder(tmp_path), 2) == Status("finished", 1.0, 30.5, 0.7)


def test_what_remains_follows_the_pace_so_far() -> None:
    statuses = [Status("finished", 1.0, 30.0, None), Status("begun", 0.5, 15.0, None)]
    statuses += [Status("waiting", 0.0, 0.0, None)] * 2
    # 45 s for 1.5 runs: 30 s a run, 2.5 runs to go.
    assert remaining_seconds(statuses) == pytest.approx(75)
    assert remaining_seconds(statuses, at_once=2) == pytest.approx(37.5)
    assert remaining_seconds(statuses[2:]) is None
