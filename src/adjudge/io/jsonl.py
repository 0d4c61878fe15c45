"""JSON lines, plain or gzip: read one at a time, written atomically."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import DataError
from adjudge.io.files import DAMAGED_GZIP, open_bytes, write_atomic

MAX_LINE = 1 << 25
"""Bytes of one record (32 MiB): what a few packed bytes may hold is not all held in memory."""

ONE_LIST = " Of a file that is one JSON list, jq -c '.[]' makes such lines."

BAD_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding raises of bytes that are not the JSON they should be."""


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line) for every line that is not blank; without a byte order mark."""
    with open_bytes(path) as stream:
        line_number = 0
        try:
            while line := stream.readline(MAX_LINE + 1):
                line_number += 1
                if len(line) > MAX_LINE:
                    raise DataError(
                        f"{path}:{line_number}: longer than {MAX_LINE >> 20} MiB, expected a record on each line."
                    )
                if line_number == 1:
                    line = _without_mark(line, path)
                if line.strip():
                    yield line_number, line
        except DAMAGED_GZIP as error:
            raise DataError(f"{path}: damaged gzip file after line {line_number} ({error}).") from None


def _without_mark(line: bytes, path: Path) -> bytes:
    """The first line of a file without the mark that Windows puts before UTF-8."""
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{path}: is UTF-16, expected UTF-8. Save it as UTF-8.")
    return line.removeprefix(codecs.BOM_UTF8)


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) for every line of a JSONL file."""
    for line_number, line in read_lines(path):
        yield line_number, decode_object(line, f"{path}:{line_number}")


def decode_object(line: bytes, location: str) -> dict[str, Any]:
    """The JSON object of a line."""
    try:
        record = msgspec.json.decode(line)
    except BAD_JSON as error:
        begins_list = line.lstrip().startswith(b"[")
        raise DataError(
            f"{location}: not valid JSON ({error}), expected an object on each line.{ONE_LIST * begins_list}"
        ) from None
    if not isinstance(record, dict):
        hint = ONE_LIST if isinstance(record, list) else ""
        raise DataError(
            f"{location}: expected a JSON object on each line, found {type(record).__name__}.{hint}"
        )
    return record


def write_json_lines(path: str | PathLike[str], records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON object per line, atomically; the number written."""
    count = 0
    with write_atomic(Path(path)) as stream:
        for record in records:
            stream.write(msgspec.json.encode(record) + b"\n")
            count += 1
    return count
