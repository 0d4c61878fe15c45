"""What the operating system says when it fails, told apart from what is wrong with data."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from adjudge.errors import AdjudgeError

_NUMBER = re.compile(r"\(os error (\d+)\)|Os \{ code: (\d+)")


def _numbers(*names: str) -> tuple[int, ...]:
    return tuple(getattr(errno, name) for name in names if hasattr(errno, name))


FULL = _numbers("ENOSPC", "EDQUOT", "EFBIG")
"""There is no room, on the disk or for the user."""
LIMITS = _numbers("EMFILE", "ENFILE", "ENOMEM", "EAGAIN")
"""The process or the machine may not have more open files, memory or threads: no file is the reason."""
DEVICES = _numbers(
    "EIO",
    "ESTALE",
    "ENXIO",
    "ENODEV",
    "ENOTCONN",
    "ETIMEDOUT",
    "EREMOTEIO",
    "EHOSTDOWN",
    "EUCLEAN",
    "EBADMSG",
)
"""A disk, or the network to it, does not answer as it should: what lies there may be whole."""


def error_number(error: BaseException) -> int | None:
    """The system's number for an error; libraries in Rust hide it in their text."""
    if isinstance(error, OSError):
        return error.errno
    written = _NUMBER.search(str(error))
    return int(written[1] or written[2]) if written else None


def is_disk_full(error: BaseException) -> bool:
    """Whether the reason is that there is no room, on the disk or for the user."""
    return error_number(error) in FULL


def is_limit(error: BaseException) -> bool:
    """Whether the process may not have more of something: the next file would fail alike."""
    return error_number(error) in LIMITS


def system_reason(error: BaseException) -> str | None:
    """The system's own words where it failed, and not what was read or written."""
    code = error_number(error)
    return os.strerror(code) if code is not None and code in (*FULL, *LIMITS, *DEVICES) else None


def unusable(what: str, error: BaseException) -> str:
    """That something is damaged, or cannot be read where the system failed: that proves no damage."""
    reason = system_reason(error)
    return f"damaged{what and ' '}{what} ({error})" if reason is None else f"cannot be read ({reason})"


@contextmanager
def name_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Give the system's errors in reading and writing the file's name, which only those in opening have.

    Those of libraries in Rust, which are of their own types, become ``OSError``.
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)
        raise
    except AdjudgeError:
        raise
    except Exception as error:
        if (reason := system_reason(error)) is None:
            raise
        raise OSError(error_number(error), reason, os.fspath(path)) from None
