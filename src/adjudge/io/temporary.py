"""Files and folders in the making: hidden beside their places, removed when they fail, and swept up when killed.

A name is ``.NAME.a1b2c3d4.tmp``. Its maker holds a lock on it, which the system frees however the maker ends. So the
next command at the same place can tell what a killed one left (:func:`sweep`) from what is being written.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from adjudge.errors import AdjudgeError, ConfigError, DiskFull
from adjudge.io.system import is_disk_full, name_file

_NAME = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")


@contextmanager
def report_full_disk(path: Path) -> Iterator[None]:
    """Turn errors for lack of room into ``DiskFull`` about a path."""
    try:
        yield
    except AdjudgeError:
        raise
    except Exception as error:
        if not is_disk_full(error):
            raise
        raise DiskFull(path, getattr(error, "strerror", None) or str(error)) from None


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """A new file that takes the name ``path`` when the block ends without an error, in the mode of the user's umask."""
    refuse_special(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with report_full_disk(path), name_file(path):
        temporary, handle = _create(path)
        try:
            mode = stat.S_IMODE(os.fstat(handle).st_mode)
            yield temporary
            _settle(temporary, mode)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)


def refuse_special(path: Path) -> None:
    """Raise where a file would take the place of a device, a pipe or a socket, which others may be using."""
    with suppress(OSError):
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ConfigError(f"{path}: is not an ordinary file, and would be replaced. Choose another name.")


def _settle(path: Path, mode: int) -> None:
    """Bring a file to the disk, in a mode: a library that writes by renaming leaves another file under the name."""
    handle = os.open(path, os.O_RDWR)
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
            os.chmod(path, mode)
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """A new folder beside ``path``, removed at the end of the block unless it was moved there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with report_full_disk(path), name_file(path):
        temporary, handle = _create(path, folder=True)
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            if handle >= 0:
                os.close(handle)


@contextmanager
def discarding(path: Path) -> Iterator[Callable[[], None]]:
    """A function that takes a folder's name from it; its files go at the end of the block, or when they are swept up.

    It needs no room, so that a full disk can be given some.
    """
    hidden = _hidden(path)

    def discard() -> None:
        with suppress(FileNotFoundError):
            os.replace(path, hidden)

    try:
        yield discard
    finally:
        if hidden.is_symlink():
            hidden.unlink()
        else:
            shutil.rmtree(hidden, ignore_errors=True)


def sweep(folder: Path, name: str = "") -> None:
    """Remove what killed processes left in a folder, of ``name`` or of any; what is being written stays."""
    with suppress(OSError):
        entries = [entry for entry in folder.iterdir() if _NAME.fullmatch(entry.name)]
        for entry in entries:
            if entry.name.startswith(f".{name}"):
                _remove_abandoned(entry)


def allocate(path: Path, size: int) -> None:
    """Give a file its size with room on the disk: written through a memory map, a hole could find none and kill us."""
    with open(path, "r+b") as stream:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(stream.fileno(), 0, max(size, 1))
            return
        block = bytes(1 << 20)
        while (left := size - stream.tell()) > 0:
            stream.write(block[:left])


def _hidden(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


def _create(path: Path, folder: bool = False) -> tuple[Path, int]:
    while True:
        temporary = _hidden(path)
        if folder:
            temporary.mkdir()
            try:
                handle = -1 if sys.platform == "win32" else os.open(temporary, os.O_RDONLY)
            except FileNotFoundError:
                continue  # swept up in the moment before it was opened
        else:
            handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if _lock(handle) and temporary.exists():
            return temporary, handle
        os.close(handle)  # swept up in the moment before it was locked


def _remove_abandoned(entry: Path) -> None:
    if entry.is_symlink():  # of a folder that was discarded
        entry.unlink(missing_ok=True)
    if sys.platform == "win32" and entry.is_dir():
        return
    with suppress(OSError):
        handle = os.open(entry, os.O_RDONLY if entry.is_dir() else os.O_RDWR)
        try:
            if _lock(handle):
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        finally:
            os.close(handle)


def _lock(handle: int) -> bool:
    """Whether this process is the one that writes it; Windows lets nobody remove what is open."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
