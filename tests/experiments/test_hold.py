"""A run folder has one owner at a time; one that falls silent is succeeded, and stops if it wakes up."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from adjudge.errors import TrainingError
from adjudge.experiments import hold
from adjudge.experiments.hold import FILE, MOST_LOSSES, PATIENCE, held

BEAT = 0.02


def leave_behind(folder: Path, **said: object) -> None:
    """The file of an owner that died."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {"owner": "dead", "host": "node-7", "pid": 7, "state": 0, "lost": 0, **said}
    (folder / FILE).write_text(json.dumps(found))


def owner(folder: Path) -> dict[str, object]:
    return dict(json.loads((folder / FILE).read_text()))


def test_the_second_waits_until_the_first_is_done(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with held(tmp_path, BEAT):
            order.append("second")

    with held(tmp_path, BEAT) as check:
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(2 * PATIENCE * BEAT)  # the first shows its life all the while
        check()
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]
    assert not (tmp_path / FILE).exists()


def test_one_that_fell_silent_is_succeeded(tmp_path: Path) -> None:
    leave_behind(tmp_path)
    started = time.monotonic()
    with held(tmp_path, BEAT) as check:
        assert time.monotonic() - started > PATIENCE * BEAT
        check()
        assert owner(tmp_path)["lost"] == 1
    assert not (tmp_path / FILE).exists()


def test_one_that_was_succeeded_stops_and_leaves_the_file_alone(tmp_path: Path) -> None:
    with held(tmp_path, BEAT) as check:
        leave_behind(tmp_path, owner="successor")
        time.sleep(2 * PATIENCE * BEAT)
        with pytest.raises(TrainingError, match="was taken over by another execution"):
            check()
    assert owner(tmp_path)["owner"] == "successor"


def test_a_run_that_loses_every_worker_is_given_up_unless_it_gets_on(tmp_path: Path) -> None:
    leave_behind(tmp_path, lost=MOST_LOSSES)
    with (
        pytest.raises(TrainingError, match=f"{MOST_LOSSES + 1} workers were lost .* the last on node-7"),
        held(tmp_path, BEAT),
    ):
        pass
    (tmp_path / "resume.safetensors").touch()  # a state saved since then
    with held(tmp_path, BEAT):
        assert owner(tmp_path)["lost"] == 1


def test_an_owner_file_without_its_end_is_waited_out(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"owner": "de')
    with held(tmp_path, BEAT):
        assert owner(tmp_path)["lost"] == 1


def test_an_error_in_the_work_frees_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), held(tmp_path, BEAT):
        raise ZeroDivisionError
    assert not (tmp_path / FILE).exists()
    assert hold.BEAT * PATIENCE >= 30  # in earnest: longer than a busy machine keeps a thread waiting
