"""JSONL corpora: ``{"id"?, "title"?, "text"}`` records, SciFact's corpus, or a file of the wiki dump.

Offsets count in a record's ``text``. The first record tells which of the three a file is.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, cast

import msgspec

from adjudge.data import scifact, wiki
from adjudge.data.documents.files import Problem, ProblemReport, SourceFile, limit_reports, open_regular
from adjudge.data.documents.sentences import split_blocks, to_pages, to_sentences
from adjudge.data.records import Record, describe, text_field
from adjudge.errors import DataError
from adjudge.io.jsonl import MAX_LINE
from adjudge.types import Page

MAX_ID = 1000


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The pages of a JSONL file; a bad record is reported and skipped, the others are kept."""
    with _open_lines(file) as stream:
        first = next(_records(stream, file.source, lambda problem: None), (0, {}))[1]
    with _open_lines(file) as stream, limit_reports(file, report, "records") as report:
        if "lines" in first:
            yield from record_pages(file, file.source, stream, wiki.page_of, report)
        elif "abstract" in first:
            yield from record_pages(file, file.source, stream, scifact.page_of, report)
        else:
            yield from _text_pages(file, stream, report)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str | None:
    """The text of the record that gave a page."""
    with _open_lines(file) as stream:
        for line_number, record in _records(stream, file.source, lambda problem: None):
            try:
                identity, _, text = _fields(file, line_number, record)
            except DataError:
                continue
            if page == identity or page.startswith(f"{identity}#"):
                return text
    return None


def record_pages(
    file: SourceFile,
    name: str,
    stream: IO[bytes],
    page_of: Callable[[Record, str], Page | None],
    report: ProblemReport,
) -> Iterator[Page]:
    """A page for each record of one file of a dump or corpus, each id once."""
    seen: dict[str, int] = {}
    for line_number, record in _records(stream, name, report):
        location = f"{name}:{line_number}"
        try:
            page = page_of(record, location)
        except DataError as error:
            report(Problem(name, str(error).removeprefix(f"{location}: "), line=line_number))
            continue
        if page is None:
            continue
        if page.id in seen:
            given = f"page {describe(page.id)} was already given in line {seen[page.id]}."
            report(Problem(name, given, line=line_number))
        elif len(page.id) > MAX_ID:
            report(Problem(name, _too_long(page.id), line=line_number))
        else:
            seen[page.id] = line_number
            yield Page(page.id, page.title, page.sentences, file.source)


def _text_pages(file: SourceFile, stream: IO[bytes], report: ProblemReport) -> Iterator[Page]:
    for line_number, record in _records(stream, file.source, report):
        try:
            identity, title, text = _fields(file, line_number, record)
        except DataError as error:
            message = str(error).removeprefix(f"{file.source}:{line_number}: ")
            report(Problem(file.source, message, line=line_number))
            continue
        yield from to_pages(identity, title, to_sentences(split_blocks([text]), title), file.source)


def _fields(file: SourceFile, line_number: int, record: Record) -> tuple[str, str, str]:
    location = f"{file.source}:{line_number}"
    text = text_field(record, "text", location)
    value = record.get("id")
    if value is not None and (isinstance(value, bool) or not isinstance(value, (str, int))):
        raise DataError(f"{location}: field 'id' is {describe(value)}, expected text or a whole number.")
    identity = f"{file.name}:{line_number}" if value is None or value == "" else str(value)
    if len(identity) > MAX_ID:
        raise DataError(f"{location}: {_too_long(identity)}")
    title = text_field(record, "title", location) if record.get("title") is not None else ""
    return identity, title.strip() or (identity if value else file.title), text


def _too_long(identity: str) -> str:
    return f"the id has {len(identity):,} characters, expected at most {MAX_ID:,}."


def _records(stream: IO[bytes], name: str, report: ProblemReport) -> Iterator[tuple[int, Record]]:
    """Yield (line number, object); lines that are not objects, or too long, are reported and passed over."""
    line_number = 0
    try:
        while line := stream.readline(MAX_LINE):
            line_number += 1
            if len(line) == MAX_LINE and not line.endswith(b"\n"):
                report(Problem(name, f"longer than {MAX_LINE >> 20} MiB.", line=line_number))
                while line and not line.endswith(b"\n"):
                    line = stream.readline(MAX_LINE)
                continue
            if not line.strip():
                continue
            try:
                record = msgspec.json.decode(line.removeprefix(b"\xef\xbb\xbf"))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                report(Problem(name, f"not valid JSON ({error}).", line=line_number))
                continue
            if isinstance(record, dict):
                yield line_number, record
            else:
                description = describe(record)
                report(Problem(name, f"expected a JSON object, found {description}.", line=line_number))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"is damaged after line {line_number} ({error}).") from None


@contextmanager
def _open_lines(file: SourceFile) -> Iterator[IO[bytes]]:
    with open_regular(file.path) as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if packed:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast(IO[bytes], unpacked)
        else:
            yield raw
