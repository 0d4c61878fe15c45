"""The command line: parse, call one library function, print. Results on stdout, progress on stderr."""

from __future__ import annotations

import signal
import sys

from adjudge.cli.app import app
from adjudge.errors import AdjudgeError

__all__ = ["app", "main"]


def main() -> None:
    """Run a command; what a user can get wrong ends with one clear message and exit code 2."""
    signal.signal(signal.SIGTERM, _end)  # as a scheduler sends: half-written files are removed on the way out
    try:
        app()
    except AdjudgeError as error:
        _stop(f"{error}")
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
    except OSError as error:
        _stop(f"{error.filename or 'file'}: {error.strerror or error}.")
    except KeyboardInterrupt:
        sys.stderr.write("adjudge: interrupted.\n")
        raise SystemExit(130) from None


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _stop(message: str) -> None:
    sys.stderr.write(f"adjudge: {message}\n")
    raise SystemExit(2)
