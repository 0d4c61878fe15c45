"""The command line: parse, call one library function, print. Results on stdout, progress on stderr."""

from __future__ import annotations

import sys

from typer import Typer

from adjudge.cli.app import APP_SETTINGS, app
from adjudge.data.text import without_controls
from adjudge.errors import AdjudgeError, DiskFull
from adjudge.io.signals import tidy_when_terminated
from adjudge.io.temporary import is_disk_full

__all__ = ["app", "main"]


def main() -> None:
    """Run a command; what a user can get wrong ends with one clear message and exit code 2."""
    tidy_when_terminated()
    try:
        _selected(sys.argv[1:])()
    except AdjudgeError as error:
        _stop(f"{error}")
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "transformers"):
            raise
        _stop(f"this needs {error.name}, which is not installed here: pip install torch transformers.")
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
    except OSError as error:
        if is_disk_full(error):
            _stop(f"{DiskFull(error.filename or 'the output', error.strerror or str(error))}")
        _stop(f"{error.filename or 'file'}: {error.strerror or error}.")
    except SystemExit as ended:
        if ended.code == 130:  # what typer makes of Ctrl-C, in silence
            sys.stderr.write("adjudge: interrupted.\n")
        raise


def _selected(arguments: list[str]) -> Typer:
    """The app with the one command that is called: building the options of all of them takes longer than parsing."""
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        if arguments and arguments[0] == name:
            single = Typer(**APP_SETTINGS)
            single.registered_commands, single.registered_callback = [command], app.registered_callback
            return single
    return app


def _stop(message: str) -> None:
    sys.stderr.write(f"adjudge: {without_controls(message)}\n")
    raise SystemExit(2)
