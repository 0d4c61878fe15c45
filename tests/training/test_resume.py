"""A run that was interrupted ends with the same weights as one that was not."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from adjudge.errors import TrainingError
from adjudge.training.loop import Metric


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


@pytest.fixture(scope="module")
def whole(tiny: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(folder, progress, final weights) of the run that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    _, progress, final = tiny.run(folder)
    torch.set_num_threads(threads)
    return folder, progress, final


def assert_same_run(folder: Path, progress: Any, final: dict[str, Any], whole: Any) -> None:
    assert progress == whole[1]
    assert final.keys() == whole[2].keys()
    for name, weight in final.items():
        assert torch.equal(weight, whole[2][name]), name
    assert metrics(folder) == metrics(whole[0])
    ours, theirs = (load_file(where / "checkpoint" / "model.safetensors") for where in (folder, whole[0]))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_a_killed_run_ends_as_if_it_had_not_been(tiny: ModuleType, tmp_path: Path, whole: Any):
    """SIGKILL after step 5 of 8; the last state is of step 3, so steps 4 and 5 are done again."""
    command = [
        sys.executable,
        str(Path(__file__).parents[1] / "support" / "tiny_run.py"),
        str(tmp_path),
        "--kill-at",
        "5",
    ]
    died = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert "finished" not in died.stdout
    assert metrics(tmp_path)[-1]["step"] == 5
    _, progress, final = tiny.run(tmp_path, resume=True)
    assert_same_run(tmp_path, progress, final, whole)


class Stop(Exception):
    pass


@pytest.mark.parametrize(
    ("step", "split"),
    [(1, "train"), (3, "train"), (3, "dev"), (4, "train"), (6, "dev"), (8, "train"), (8, "dev")],
)
def test_it_does_not_matter_when_a_run_stops(
    step: int, split: str, tiny: ModuleType, tmp_path: Path, whole: Any
):
    def stop(metric: Metric, steps: int) -> None:
        if (metric.step, metric.split) == (step, split):
            raise Stop

    with pytest.raises(Stop):
        tiny.run(tmp_path, report=stop)
    _, progress, final = tiny.run(tmp_path, resume=True)
    assert_same_run(tmp_path, progress, final, whole)


def test_a_line_that_was_being_written_is_dropped(tiny: ModuleType, tmp_path: Path, whole: Any):
    def stop(metric: Metric, steps: int) -> None:
        if metric.step == 5:
            raise Stop

    with pytest.raises(Stop):
        tiny.run(tmp_path, report=stop)
    with open(tmp_path / "metrics.jsonl", "a") as stream:
        stream.write('{"step": 6, "epo')
    _, progress, final = tiny.run(tmp_path, resume=True)
    assert_same_run(tmp_path, progress, final, whole)


def test_a_finished_run_is_not_trained_further(tiny: ModuleType, tmp_path: Path, whole: Any):
    tiny.run(tmp_path)
    reported: list[Metric] = []
    _, progress, final = tiny.run(tmp_path, resume=True, report=lambda metric, steps: reported.append(metric))
    assert reported == []
    assert_same_run(tmp_path, progress, final, whole)


def test_resuming_where_nothing_was_started_starts(tiny: ModuleType, tmp_path: Path, whole: Any):
    _, progress, final = tiny.run(tmp_path, resume=True)
    assert_same_run(tmp_path, progress, final, whole)


def test_a_run_with_frozen_layers_resumes_too(tiny: ModuleType, tmp_path: Path):
    def stop(metric: Metric, steps: int) -> None:
        if metric.step == 4:
            raise Stop

    _, expected_progress, expected = tiny.run(tmp_path / "a", freeze_layers=1)
    with pytest.raises(Stop):
        tiny.run(tmp_path / "b", freeze_layers=1, report=stop)
    _, progress, final = tiny.run(tmp_path / "b", freeze_layers=1, resume=True)
    assert progress == expected_progress
    assert all(torch.equal(final[name], expected[name]) for name in expected)


def test_the_clock_goes_on(tiny: ModuleType, tmp_path: Path):
    def stop(metric: Metric, steps: int) -> None:
        if metric.step == 5:
            raise Stop

    with pytest.raises(Stop):
        tiny.run(tmp_path, report=stop)
    path = tmp_path / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**line, "seconds": line["seconds"] + 1000}) + "\n" for line in lines))
    tiny.run(tmp_path, resume=True)
    seconds = [json.loads(line)["seconds"] for line in path.read_text().splitlines()]
    assert seconds == sorted(seconds) and seconds[0] > 1000


@pytest.mark.parametrize("change", [{"lr": 2e-3}, {"seed": 1}, {"epochs": 3}, {"identity": "other claims"}])
def test_another_run_is_not_continued(change: dict[str, Any], tiny: ModuleType, tmp_path: Path):
    tiny.run(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(TrainingError, match="written under other settings"):
        tiny.run(tmp_path, resume=True, **change)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_a_damaged_state_is_an_error_that_says_what_to_do(tiny: ModuleType, tmp_path: Path):
    tiny.run(tmp_path)
    path = tmp_path / "resume.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(
        TrainingError, match=r"resume.safetensors: not a state .* Start again without --resume"
    ):
        tiny.run(tmp_path, resume=True)


def test_a_new_run_does_not_leave_the_old_state_to_be_resumed(tiny: ModuleType, tmp_path: Path, whole: Any):
    """An old finished run, a new one in its place that stops before its first evaluation, then resume."""

    def stop(metric: Metric, steps: int) -> None:
        raise Stop

    tiny.run(tmp_path)
    with pytest.raises(Stop):
        tiny.run(tmp_path, report=stop)
    _, progress, final = tiny.run(tmp_path, resume=True)
    assert_same_run(tmp_path, progress, final, whole)


def test_a_state_with_a_flipped_bit_is_not_resumed(tiny: ModuleType, tmp_path: Path):
    tiny.run(tmp_path, epochs=1)
    path = tmp_path / "resume.safetensors"
    whole = bytearray(path.read_bytes())
    whole[-100] ^= 1
    path.write_bytes(whole)
    with pytest.raises(TrainingError, match="its numbers are not those that were written"):
        tiny.run(tmp_path, epochs=1, resume=True)
