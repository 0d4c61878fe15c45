"""A folder has one owner at a time; one that falls silent is succeeded, and stops if it wakes up."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from adjudge.errors import TrainingError
from adjudge.io.locks import ATTEMPT, LEASE_SECONDS, LOCK, MAX_LOSSES, lease

SECONDS = 0.3


def leave_behind(folder: Path, **values: object) -> None:
    """What an owner on another machine leaves that died."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["filelock/2", "pid=7", "host=node-7", "mode=lease", "token=dead", f"duration={SECONDS!r}"]
    (folder / LOCK).write_text("".join(f"{line}\n" for line in lines))
    attempt = {"host": "node-7", "pid": 7, "state": 0, "lost": 0, **values}
    (folder / ATTEMPT).write_text(json.dumps(attempt))


def losses(folder: Path) -> object:
    return json.loads((folder / ATTEMPT).read_text())["lost"]


def test_the_second_waits_until_the_first_is_done(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with lease(tmp_path, tmp_path / "state", SECONDS):
            order.append("second")

    (tmp_path / "kept").touch()
    with lease(tmp_path, tmp_path / "state", SECONDS) as check:
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(2 * SECONDS)  # the first shows its life all the while
        check()
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_one_that_fell_silent_is_succeeded(tmp_path: Path) -> None:
    leave_behind(tmp_path / "run")
    started = time.monotonic()
    with lease(tmp_path / "run", tmp_path / "state", SECONDS) as check:
        assert time.monotonic() - started > SECONDS
        check()
        assert losses(tmp_path / "run") == 1
    assert not (tmp_path / "run").exists()  # nothing was made in it


def test_one_that_was_succeeded_stops_and_leaves_the_files_alone(tmp_path: Path) -> None:
    with lease(tmp_path, tmp_path / "state", SECONDS) as check:
        (tmp_path / LOCK).unlink()
        leave_behind(tmp_path)
        time.sleep(2 * SECONDS)
        with pytest.raises(TrainingError, match="was taken over by another execution"):
            check()
    assert "token=dead" in (tmp_path / LOCK).read_text() and (tmp_path / ATTEMPT).exists()


def test_work_that_loses_every_worker_is_given_up_unless_it_gets_on(tmp_path: Path) -> None:
    leave_behind(tmp_path, lost=MAX_LOSSES)
    with (
        pytest.raises(TrainingError, match=f"{MAX_LOSSES + 1} workers were lost .* the last on node-7"),
        lease(tmp_path, tmp_path / "state", SECONDS),
    ):
        pass
    (tmp_path / "state").touch()  # saved since then
    with lease(tmp_path, tmp_path / "state", SECONDS):
        assert losses(tmp_path) == 1


def test_a_lock_file_without_its_end_is_waited_out(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("filelo")
    (tmp_path / ATTEMPT).write_text('{"host": "no')
    with lease(tmp_path, tmp_path / "state", SECONDS):
        assert losses(tmp_path) == 0


def test_an_error_in_the_work_frees_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lease(tmp_path / "run", tmp_path / "state", SECONDS):
        raise ZeroDivisionError
    assert not (tmp_path / "run").exists()
    assert LEASE_SECONDS >= 30  # in earnest: longer than a busy machine keeps a thread waiting
