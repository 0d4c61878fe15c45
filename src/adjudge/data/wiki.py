"""FEVER's wiki dump: pages from a file, a folder of files, or the zip as it is downloaded."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO, Any

from adjudge.data.records import PathLike, Record, describe, text_field
from adjudge.data.text import page_id, page_title
from adjudge.errors import DataError
from adjudge.io.jsonl import decode_object, read_json_lines, write_json_lines
from adjudge.types import Page, Sentence

_DUMP_NAMES = ("wiki-*.jsonl", "wiki-*.jsonl.gz")
_BREAKS = re.compile(r"[\t\n\r]")


def read_pages(path: PathLike) -> Iterator[Page]:
    """Yield the pages of a dump: one JSONL file, a folder of ``wiki-*.jsonl``, or a zip, none unpacked.

    Blank sentences are left out, so line numbers may skip; links are the ids of the pages linked to.
    Page ids are unique within each file.
    """
    path = Path(path)
    if path.is_dir():
        for file in _dump_files(path):
            yield from _pages(str(file), read_json_lines(file))
    elif _is_zip(path):
        yield from _zipped_pages(path)
    else:
        yield from _pages(str(path), read_json_lines(path))


def write_pages(path: PathLike, pages: Iterable[Page]) -> int:
    """Write pages in the dump's format, atomically; the number written.

    A title that the id does not give is kept in a field ``title``, which the official dump lacks.
    """
    return write_json_lines(path, map(_page_record, pages))


def _dump_files(folder: Path) -> list[Path]:
    # Unpacking the official zip nests a folder of the same name.
    for parent in (folder, folder / "wiki-pages"):
        files = sorted({file for name in _DUMP_NAMES for file in parent.glob(name)})
        if files:
            return files
    raise DataError(f"{folder}: no wiki pages here, expected files named {' or '.join(_DUMP_NAMES)}.")


def _is_zip(path: Path) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(4) == b"PK\x03\x04"
    except OSError:
        return False  # the reader of plain files says what is wrong


def _zipped_pages(path: Path) -> Iterator[Page]:
    try:
        for member, stream in dump_members(path):
            yield from _pages(f"{path}!{member}", _member_records(f"{path}!{member}", stream))
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path}: damaged zip file ({error}). Fetch it again.") from None


def dump_members(archive_file: Path | IO[bytes]) -> Iterator[tuple[str, IO[bytes]]]:
    """The names and contents of a zip's dump files, in order; each is to be read before the next."""
    with zipfile.ZipFile(archive_file) as archive:
        members = sorted(name for name in archive.namelist() if _is_dump_member(name))
        if not members:
            prefix = f"{archive_file}: " if isinstance(archive_file, Path) else ""
            raise DataError(f"{prefix}no wiki pages inside, expected files named wiki-*.jsonl.")
        for member in members:
            with archive.open(member) as stream:
                yield member, stream


def _is_dump_member(name: str) -> bool:
    parts = PurePosixPath(name)
    return "__MACOSX" not in parts.parts and any(fnmatch(parts.name, pattern) for pattern in _DUMP_NAMES)


def _member_records(name: str, stream: IO[bytes]) -> Iterator[tuple[int, Record]]:
    lines: Iterable[bytes] = gzip.open(stream) if name.endswith(".gz") else stream
    for line_number, line in enumerate(lines, start=1):
        if line.strip():
            yield line_number, decode_object(line, f"{name}:{line_number}")


def _pages(name: str, records: Iterable[tuple[int, Record]]) -> Iterator[Page]:
    seen: dict[str, int] = {}
    for line_number, record in records:
        location = f"{name}:{line_number}"
        page = page_of(record, location)
        if page is None:
            continue
        if page.id in seen:
            raise DataError(f"{location}: page {page.id!r} was already given in line {seen[page.id]}.")
        seen[page.id] = line_number
        yield page


def page_of(record: Record, location: str) -> Page | None:
    """The page of one record, None for the empty one that begins every file of the official dump."""
    identity = text_field(record, "id", location)
    sentences = _sentences(record, location)
    if not identity.strip():
        if sentences:
            raise DataError(f"{location}: the page has sentences but no id.")
        return None
    title = text_field(record, "title", location) if "title" in record else page_title(identity)
    return Page(identity, title, sentences)


def _sentences(record: Record, location: str) -> tuple[Sentence, ...]:
    if record.get("lines") is None:
        return ()
    lines = text_field(record, "lines", location)
    sentences = []
    numbered = not lines.strip()
    for line in lines.split("\n"):
        line_number, _, rest = line.partition("\t")
        if not (line_number.isascii() and line_number.isdigit() and len(line_number) < 10):
            continue  # rare slips of the dump: the rest of a sentence with a line break in it
        numbered = True
        text, *links = rest.split("\t")
        if text.strip():
            # After the sentence, anchor text and link target take turns.
            sentences.append(
                Sentence(text, int(line_number), tuple(page_id(link) for link in links[1::2] if link))
            )
    if not numbered:
        raise DataError(
            f"{location}: field 'lines' is {describe(lines)}, expected numbered sentences, "
            'each "number<tab>sentence", separated by line breaks.'
        )
    return tuple(sentences)


def _page_record(page: Page) -> dict[str, Any]:
    by_line = {sentence.line: sentence for sentence in page.sentences}
    lines = []
    for line_number in range(max(by_line, default=-1) + 1):
        fields = [str(line_number), ""]
        if line_number in by_line:
            sentence = by_line[line_number]
            links = [page_title(link) for link in sentence.links]
            fields[1:] = [sentence.text, *(link for target in links for link in (target, target))]
        lines.append("\t".join(_BREAKS.sub(" ", field) for field in fields))
    text = " ".join(sentence.text for sentence in page.sentences)
    title = {} if page.title == page_title(page.id) else {"title": page.title}
    return {"id": page.id, **title, "text": text, "lines": "\n".join(lines)}
