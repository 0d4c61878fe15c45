"""JSONL corpora: ``{"id"?, "title"?, "text"}`` records, SciFact's corpus, or a file of the wiki dump.

Offsets count in a record's ``text``. The first record tells which of the three a file is.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

import msgspec

from adjudge.data.documents.files import Problem, Report, SourceFile, open_regular
from adjudge.data.documents.sentences import split_blocks, to_pages, to_sentences
from adjudge.data.records import Record, describe, missing_field, text_field
from adjudge.errors import DataError
from adjudge.types import Page

MAX_LINE = 1 << 25
"""Bytes of one record (32 MiB); a longer line is reported and passed over."""

MAX_ID = 1000


def read_jsonl_pages(file: SourceFile, report: Report) -> Iterator[Page]:
    """The pages of a JSONL file; a bad text record is reported and skipped, the others are kept."""
    first = next(_records(file, lambda problem: None), (0, {}))[1]
    if "lines" in first:
        yield from read_wiki_pages(file)
    elif "abstract" in first:
        from adjudge.data.scifact import read_pages

        for page in read_pages(file.path):
            yield Page(page.id, page.title, page.sentences, file.source)
    else:
        yield from _text_pages(file, report)


def read_wiki_pages(file: SourceFile) -> Iterator[Page]:
    """The pages of a dump file or of the dump's zip."""
    from adjudge.data.wiki import read_pages

    for page in read_pages(file.path):
        yield Page(page.id, page.title, page.sentences, file.source)


def jsonl_text(file: SourceFile, page: str) -> str | None:
    """The text of the record that gave a page."""
    for number, record in _records(file, lambda problem: None):
        try:
            identity, _, text = _fields(file, number, record)
        except DataError:
            continue
        if page == identity or page.startswith(f"{identity}#"):
            return text
    return None


def _text_pages(file: SourceFile, report: Report) -> Iterator[Page]:
    for number, record in _records(file, report):
        try:
            identity, title, text = _fields(file, number, record)
        except DataError as error:
            report(Problem(file.source, str(error)))
            continue
        yield from to_pages(identity, title, to_sentences(split_blocks([text])), file.source)


def _fields(file: SourceFile, number: int, record: Record) -> tuple[str, str, str]:
    where = f"line {number}"
    text = text_field(record, "text", where) if "text" in record else None
    if text is None:
        raise missing_field(record, "text", where)
    value = record.get("id")
    if value is not None and (isinstance(value, bool) or not isinstance(value, (str, int))):
        raise DataError(f"{where}: field 'id' is {describe(value)}, expected text or a whole number.")
    identity = f"{file.name}:{number}" if value is None or value == "" else str(value)
    if len(identity) > MAX_ID:
        raise DataError(f"{where}: field 'id' has {len(identity):,} characters, expected at most {MAX_ID:,}.")
    title = text_field(record, "title", where) if record.get("title") is not None else ""
    return identity, title.strip() or (identity if value else file.title), text


def _records(file: SourceFile, report: Report) -> Iterator[tuple[int, Record]]:
    """Yield (line number, object); lines that are no objects are reported and passed over."""
    number = 0
    with _opened(file) as stream:
        try:
            while line := stream.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    report(Problem(file.source, f"line {number}: longer than {MAX_LINE >> 20} MiB."))
                    while line and not line.endswith(b"\n"):
                        line = stream.readline(MAX_LINE)
                    continue
                if not line.strip():
                    continue
                try:
                    record = msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"))
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    report(Problem(file.source, f"line {number}: not valid JSON ({error})."))
                    continue
                if isinstance(record, dict):
                    yield number, record
                else:
                    found = describe(record)
                    report(Problem(file.source, f"line {number}: expected a JSON object, found {found}."))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"is a damaged gzip file after line {number} ({error}).") from None


@contextmanager
def _opened(file: SourceFile) -> Iterator[IO[bytes]]:
    with open_regular(file.path) as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if packed:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast(IO[bytes], unpacked)
        else:
            yield raw
