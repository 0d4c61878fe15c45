"""Zip packages (Word, Excel, PowerPoint, EPUB), opened only if they unpack to what can be held and parsed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple
from xml.parsers import expat

from adjudge.data.documents.files import SourceFile, open_regular
from adjudge.errors import AdjudgeError, DataError

MAX_ENTRIES = 10_000
MAX_UNPACKED = 1 << 30
"""Bytes of all parts together (1 GiB)."""
MAX_PART = 1 << 26
"""Bytes of a part that is parsed as a whole (64 MiB)."""
MAX_RATIO = 100
"""Bytes that one byte of the file may unpack to, of a file that unpacks to more than 16 MiB."""
_RATIO_FROM = 1 << 24

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_MARKUP = (".xml", ".rels", ".opf", ".ncx")
_PROLOG = 1 << 20


class Package(NamedTuple):
    """An opened file: its bytes for a library that opens packages itself, and its parts."""

    stream: IO[bytes]
    archive: zipfile.ZipFile


@contextmanager
def open_package(file: SourceFile, what: str, streamed: str = "\0") -> Iterator[Package]:
    """Open a package and turn all that a library says about a bad one into ``DataError``.

    Parts whose names begin with ``streamed`` are read bit by bit and may be larger than ``MAX_PART``.
    """
    with open_regular(file.path) as stream:
        if stream.read(len(_OLE)) == _OLE:
            raise DataError(
                f"is encrypted, or in an older format than {what}. Save a copy without a password."
            )
        stream.seek(0)
        try:
            with zipfile.ZipFile(stream) as archive:
                _check(archive, streamed)
                yield Package(stream, archive)
        except AdjudgeError:
            raise
        # Libraries meet damaged packages with exceptions of many kinds; all mean that it is unreadable.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:200]
            raise DataError(f"is not a readable {what} ({reason}).") from None


def _check(archive: zipfile.ZipFile, streamed: str) -> None:
    """Refuse what would not end well. A part never gives more bytes than its entry says."""
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise DataError(f"has {len(entries):,} parts, expected at most {MAX_ENTRIES:,}.")
    if any(entry.flag_bits & 1 for entry in entries):
        raise DataError("is encrypted. Save a copy without a password.")
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if unpacked > MAX_UNPACKED:
        raise DataError(f"unpacks to {unpacked >> 20:,} MiB, expected at most {MAX_UNPACKED >> 20:,}.")
    if unpacked > _RATIO_FROM and unpacked > MAX_RATIO * packed:
        raise DataError(f"unpacks to more than {MAX_RATIO} times its size (a zip bomb?).")
    for entry in entries:
        if entry.filename.lower().endswith(_MARKUP):
            if entry.file_size > MAX_PART and not entry.filename.startswith(streamed):
                raise DataError(f"{entry.filename[:200]} has more than {MAX_PART >> 20} MiB.")
            _check_prolog(archive, entry)


class _Stop(Exception):
    """The root element has begun: no type declaration can follow."""


def _check_prolog(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Refuse a document type declaration, which can define entities that grow without end."""

    def refuse(*_: object) -> None:
        raise DataError(f"{entry.filename[:200]} declares a document type, which no such file needs.")

    def stop(*_: object) -> None:
        raise _Stop

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, stop
    with archive.open(entry) as stream:
        try:
            while block := stream.read(1 << 12):
                parser.Parse(block, False)
                if stream.tell() > _PROLOG:
                    raise DataError(f"{entry.filename[:200]} has no root element within 1 MiB.")
        except (_Stop, expat.ExpatError):
            pass  # what is not well-formed, the reader will say
