"""The command line: parse, call one library function, print. Results on stdout, progress on stderr."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from typer import Typer

from adjudge.cli.app import APP_SETTINGS, app
from adjudge.data.text import without_controls
from adjudge.errors import AdjudgeError, DiskFull
from adjudge.io.signals import tidy_when_terminated
from adjudge.io.system import is_disk_full

__all__ = ["app", "main"]


def main() -> None:
    """Run a command; what a user can get wrong ends with one clear message and exit code 2."""
    tidy_when_terminated()
    _prepare_output()
    try:
        _selected(sys.argv[1:])()
    except AdjudgeError as error:
        _stop(f"{error}")
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "transformers"):
            raise
        _stop(f"this needs {error.name}, which is not installed here: pip install torch transformers.")
    except BrokenPipeError:
        if sys.stderr is not None:
            sys.stderr.close()
        raise SystemExit(1) from None
    except OSError as error:
        if is_disk_full(error):
            _stop(f"{DiskFull(error.filename or 'the output', error.strerror or str(error))}")
        _stop(f"{error.filename or 'file'}: {error.strerror or error}.")
    except (MemoryError, RuntimeError, ImportError) as error:
        if not _is_memory_short(error):
            raise
        _stop(
            "there is not enough memory, or a limit on it is reached. What was there is unchanged: make room, and give "
            "the command again."
        )
    except SystemExit as ended:
        if ended.code == 130:  # what typer makes of Ctrl-C, in silence
            _say("interrupted.")
        raise


def _is_memory_short(error: Exception) -> bool:
    """Whether the reason is that there is no memory; PyTorch says so in words alone, and so does what loads it."""
    text = str(error)
    phrases = ("not enough memory", "can't allocate memory", "out of memory", "failed to map segment")
    return isinstance(error, MemoryError) or any(phrase in text for phrase in phrases)


def _selected(arguments: list[str]) -> Typer:
    """The app with the one command that is called: building the options of all of them takes longer than parsing."""
    if not arguments:
        return app
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        if arguments[0] == name:
            single = Typer(**APP_SETTINGS)
            single.registered_commands, single.registered_callback = [command], app.registered_callback
            return single
    return app


def _prepare_output() -> None:
    """Results are UTF-8 as the files that commands write; a terminal that shows less gets question marks."""
    if isinstance(sys.stdout, TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="replace")
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def _stop(message: str) -> None:
    _say(without_controls(message))
    raise SystemExit(2)


def _say(message: str) -> None:
    if sys.stderr is not None:  # as where the shell closed it
        sys.stderr.write(f"adjudge: {message}\n")
