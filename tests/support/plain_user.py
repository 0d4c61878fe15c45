"""What a user may do who owns nothing: tests may run as root, who may do everything."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534


@contextmanager
def plain_user() -> Iterator[None]:
    """This thread has no right to files that the owner's and the others' bits do not give, even as root."""
    if os.name != "posix" or (os.geteuid() == 0 and sys.platform != "linux"):
        pytest.skip("rights as on POSIX, taken from root as on Linux")
    if os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None)
    libc.setfsgid(NOBODY)
    libc.setfsuid(NOBODY)
    try:
        yield
    finally:
        libc.setfsuid(0)
        libc.setfsgid(0)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """All may read, and nobody write, below a folder during the block; its parents are open to all."""
    entries = [folder, *folder.rglob("*")]
    parents = [
        parent for parent in folder.parents if parent.stat().st_uid == os.geteuid() and parent.parts[1:]
    ]
    modes = {entry: entry.stat().st_mode for entry in (*entries, *parents)}
    for entry in entries:
        entry.chmod(modes[entry] & ~0o222 | (0o555 if entry.is_dir() else 0o444))
    for parent in parents:
        parent.chmod(modes[parent] | 0o055)
    try:
        yield
    finally:
        for entry, mode in modes.items():
            entry.chmod(mode)
