"""SHA-256 of large files, computed again only where a file may have changed since."""

from __future__ import annotations

import os
import time
from functools import lru_cache
from pathlib import Path

import msgspec

from adjudge.errors import AdjudgeError
from adjudge.io.cache import foreign, user_cache
from adjudge.io.files import sha256, write_json

RECORDS = "digests.json"
MOST = 256
"""Files remembered, the last ones."""
SETTLED = 2.0
"""Seconds after its last change from which on a file's times tell a further change apart."""

Record = tuple[int, int, int, int, str]
"""Size, times of the last change of content and of status in nanoseconds, inode, SHA-256."""


def digest_of(path: Path) -> str:
    """The SHA-256 of a file: as remembered in the user's cache if size, times and inode are what they were.

    The time of a status change cannot be set by programs, so that writing to a file always shows.
    """
    path = Path(os.path.abspath(path))
    status = path.stat()
    signature = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return _digest(path, signature)


@lru_cache(maxsize=64)
def _digest(path: Path, signature: tuple[int, int, int, int]) -> str:
    records = _read_records()
    known = records.get(str(path))
    if known is not None and known[:4] == signature:
        return known[4]
    digest = sha256(path)
    if time.time() - signature[2] / 1e9 > SETTLED:
        _remember(path, (*signature, digest))
    return digest


def _records_file() -> Path | None:
    try:
        return user_cache(RECORDS)
    except AdjudgeError:
        return None


def _read_records() -> dict[str, Record]:
    path = _records_file()
    try:
        if path is None or foreign(path):
            return {}
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Record])
    except (OSError, msgspec.MsgspecError):
        return {}


def _remember(path: Path, record: Record) -> None:
    """Keep a record; where that cannot be written, the file is read again next time."""
    place = _records_file()
    if place is None:
        return
    records = {name: known for name, known in _read_records().items() if name != str(path)}
    records[str(path)] = record
    try:
        write_json(place, dict(list(records.items())[-MOST:]))
    except (OSError, AdjudgeError):
        return
