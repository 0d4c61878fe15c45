"""Run ``adjudge`` commands inside the test process."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from adjudge.cli import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def adjudge(*arguments: object, cwd: Path | None = None) -> Done:
    """Run a command as the shell would, in this process: importing torch anew for each costs seconds."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(cwd or before)
    try:
        with (
            mock.patch.object(sys, "argv", ["adjudge", *map(str, arguments)]),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            main()
        code: object = 0
    except SystemExit as stop:
        code = stop.code
    finally:
        os.chdir(before)
    return Done(int(str(code or 0)), out.getvalue(), err.getvalue())
