"""A file layer that fails: at the n-th change of the disk the process is killed, or finds the disk full or broken.

Every call by which Python code changes files counts as a boundary, before and after it. What a library in Rust or C++
writes by itself is reached by killing at random moments instead.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ERRORS = {"full": errno.ENOSPC, "broken": errno.EIO}
"""No room for a change; a disk that fails at it."""
KINDS = ("before", "after", "torn", *ERRORS)
"""Killed before a change, after it, in the middle of a write; or an error of the system."""

_CALLS: tuple[tuple[Any, str], ...] = (
    (os, "replace"),
    (os, "rename"),
    (os, "fsync"),
    (os, "mkdir"),
    (os, "rmdir"),
    (os, "unlink"),
    (os, "remove"),
    (os, "link"),
    (os, "posix_fallocate"),
    (shutil, "copyfile"),
)
_FREE = ("rmdir", "unlink", "remove")
"""What needs no room; a disk that fails to remove leaves what it fails to remove."""


@dataclass
class Faults:
    """Counts boundaries below a folder, and fails at one of them; with ``at`` 0 it only counts."""

    folder: Path
    kind: str = "before"
    at: int = 0
    count: int = 0

    def install(self) -> None:
        """From here on, this process writes through the layer."""
        for module, name in _CALLS:
            setattr(module, name, self._wrap(getattr(module, name), name))
        plain_open = io.open

        def open_file(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
            if not set(mode) & set("wax+") or not self._concerns(file):
                return plain_open(file, mode, *args, **options)
            self._reach("open")
            stream = plain_open(file, mode, *args, **options)
            return _Stream(stream, self) if set(mode) & set("ax+") else stream

        builtins.open = io.open = open_file  # type: ignore[assignment]
        plain_os_open = os.open

        def open_handle(path: Any, flags: int, *args: Any, **options: Any) -> int:
            if flags & os.O_CREAT and self._concerns(path):
                self._reach("open")
            return plain_os_open(path, flags, *args, **options)

        os.open = open_handle

    def write(self, stream: Any, data: Any) -> Any:
        """Write to an open file: wholly, half and then killed, or not at all."""
        self.count += 1
        if self.count == self.at:
            if self.kind in ERRORS:
                stream.write(data[: len(data) // 2])
                stream.flush()
                raise self._error()
            if self.kind == "torn":
                stream.write(data[: len(data) // 2])
            if self.kind == "after":
                stream.write(data)
            stream.flush()
            self._kill()
        return stream.write(data)

    def _wrap(self, call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            if args and not isinstance(args[0], int) and not self._concerns(args[0]):
                return call(*args, **options)
            last = self._reach(name)
            result = call(*args, **options)
            if last and self.kind == "after":
                self._kill()
            return result

        return wrapped

    def _reach(self, name: str) -> bool:
        """Count a boundary and fail at it, unless that comes after the call: True for the one that is meant."""
        self.count += 1
        if self.count != self.at or self.kind == "after":
            return self.count == self.at
        if self.kind in ERRORS:
            if name not in _FREE:
                raise self._error()
            return False
        self._kill()
        return True

    def _error(self) -> OSError:
        return OSError(ERRORS[self.kind], os.strerror(ERRORS[self.kind]))

    def _concerns(self, path: Any) -> bool:
        try:
            return os.path.abspath(os.fspath(path)).startswith(str(self.folder))
        except TypeError:
            return False

    def _kill(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class _Stream:
    """A file to which is appended: every write is a boundary."""

    def __init__(self, stream: Any, faults: Faults) -> None:
        self._stream, self._faults = stream, faults

    def write(self, data: Any) -> Any:
        return self._faults.write(self._stream, data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        self._stream.close()
