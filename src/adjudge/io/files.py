"""Reading and writing files: gz transparently, atomically."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec

from adjudge.errors import ConfigError, DataError
from adjudge.io.system import name_file
from adjudge.io.temporary import temporary_file

DAMAGED_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading raises of packed bytes that are not what was packed."""
MAX_TEXT = 1 << 26
"""Bytes that are read at once: pipes may have no end, and packed files may hold far more than they have bytes."""


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacking gzip by its magic number rather than its name."""
    if path.is_dir():
        raise DataError(f"{path}: is a directory, expected a file.")
    try:
        raw = open(path, "rb")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file.") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    with raw, name_file(path):
        if raw.peek(2)[:2] == b"\x1f\x8b":
            with gzip.open(raw, "rb") as unpacked:
                yield cast(BinaryIO, unpacked)
        else:
            yield raw


def read_bounded(stream: BinaryIO, name: str, advice: str) -> bytes:
    """All of a stream, which must not hold too much; ``advice`` says what to do where it does."""
    try:
        content = stream.read(MAX_TEXT + 1)
    except DAMAGED_GZIP as error:
        raise DataError(f"{name}: damaged gzip file ({error}).") from None
    if len(content) > MAX_TEXT:
        raise DataError(
            f"{name}: has more than {MAX_TEXT >> 20} MiB, expected what can be read at once. {advice}"
        )
    return content


@contextmanager
def write_atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when the block ends without an error.

    A name ending in ``.gz`` is compressed.
    """
    with temporary_file(path) as temporary, open(temporary, "wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield raw


def refuse_replacing(source: str | os.PathLike[str], *results: str | os.PathLike[str] | None) -> None:
    """Raise where a result would take the place of what it is made of, or of another result."""
    paths = [os.path.realpath(path) for path in (source, *results) if path is not None]
    if len(set(paths)) < len(paths):
        raise ConfigError(f"{source}: input and results need a file each. Choose another name.")


def write_text(path: Path, text: str) -> None:
    """Write a whole text file atomically."""
    with write_atomic(path) as stream:
        stream.write(text.encode())


def write_json(path: Path, value: Any) -> None:
    """Write one value as indented JSON, atomically."""
    write_text(path, msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def sha256(path: Path) -> str:
    """The SHA-256 of a file as it lies on disk, in hexadecimal."""
    with name_file(path), open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
