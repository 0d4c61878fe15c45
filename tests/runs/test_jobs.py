"""Runs side by side end together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import signal, sys, time
from pathlib import Path
from adjudge.runs.jobs import run_processes
from adjudge.io.signals import tidy_when_terminated

def work(path):
    if path.name == "fails":
        while not path.with_name("first").exists():
            time.sleep(0.05)
        raise ValueError("it failed")
    try:
        path.touch()
        time.sleep(600)
        path.with_suffix(".done").touch()
    finally:
        path.unlink()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    tidy_when_terminated()
    items = [Path(name) for name in sys.argv[1:]]
    run_processes(2, work, items, lambda item: None)
"""


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGINT, -signal.SIGINT),
        (signal.SIGKILL, -signal.SIGKILL),
        (None, 1),
    ],
)
def test_what_ends_a_command_ends_the_runs_beside_it(
    tmp_path: Path, ending: signal.Signals | None, code: int
) -> None:
    """By a signal or by a failure: each run tidies up, and none of those that wait is begun."""
    (tmp_path / "script.py").write_text(SCRIPT)
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
        _, told = process.communicate(timeout=300)
    assert process.returncode == code, told.decode()
    assert (b"ValueError: it failed" in told) == (ending is None)
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]
