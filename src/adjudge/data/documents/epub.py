"""EPUB: a page for each chapter, named ``file.epub#chapter=N`` in the order of reading.

Offsets count in the text extracted from that chapter, as from HTML.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from adjudge.data.documents.blocks import Block, block_sentences, block_text, one_line
from adjudge.data.documents.files import Problem, ProblemReport, SourceFile
from adjudge.data.documents.html import HtmlText, html_blocks
from adjudge.data.documents.package import MAX_PART, open_package
from adjudge.data.documents.sentences import numbered_part, to_pages
from adjudge.data.documents.text import decode
from adjudge.errors import DataError
from adjudge.types import Page

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html")
_BLOCK = 1 << 16


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The chapters that have text; a chapter's title stands after that of the book."""
    for chapter, book, text, blocks in _chapters(file, report):
        heading = text.heading or text.title
        title = f"{book}: {heading}"[:300] if heading and heading != book else book
        sentences = tuple(block_sentences(blocks, title))
        if sentences:
            yield from to_pages(f"{file.name}#chapter={chapter}", title, sentences, file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str | None:
    """The text of the chapter that ``#chapter=N`` names."""
    wanted = numbered_part(page, "chapter")
    chapters = (blocks for chapter, _, _, blocks in _chapters(file, report) if chapter == wanted)
    return next(map(block_text, chapters), None)


def _chapters(file: SourceFile, report: ProblemReport) -> Iterator[tuple[int, str, HtmlText, list[Block]]]:
    """Yield (number from 1, the book's title, what was read of the chapter's own, its blocks)."""
    with open_package(file, "EPUB") as package:
        archive = package.archive
        container = _parse(archive, _CONTAINER)
        paths = [root.get("full-path") for root in container.iter("{*}rootfile") if root.get("full-path")]
        if not paths:
            raise DataError("names no package document in META-INF/container.xml.")
        contents = _parse(archive, paths[0])
        book = (
            next((one_line(title.text or "") for title in contents.iter("{*}title")), "")[:300] or file.title
        )
        locked = _encrypted_members(archive)
        for chapter, part in enumerate(_spine(contents, posixpath.dirname(paths[0])), start=1):
            if part in locked or part not in archive.NameToInfo:
                reason = "is encrypted" if part in locked else "is missing"
                report(Problem(file.source, f"chapter {chapter} ({part[:200]}) {reason}."))
                continue
            text = HtmlText()
            markup = decode(_read(archive, part))
            pieces = (markup[start : start + _BLOCK] for start in range(0, len(markup), _BLOCK))
            yield chapter, book, text, list(html_blocks(pieces, text))


def _spine(contents: Any, folder: str) -> Iterator[str]:
    """The parts of a book in the order of reading."""
    parts = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))
        for item in contents.iter("{*}item")
        if item.get("media-type") in _PAGES
    }
    for reference in contents.iter("{*}itemref"):
        if reference.get("idref") in parts:
            yield parts[reference.get("idref")]


def _encrypted_members(archive: zipfile.ZipFile) -> set[str]:
    if _ENCRYPTION not in archive.NameToInfo:
        return set()
    references = _parse(archive, _ENCRYPTION).iter("{*}CipherReference")
    return {unquote(reference.get("URI") or "") for reference in references}


def _parse(archive: zipfile.ZipFile, part: str) -> Any:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(_read(archive, part), parser)


def _read(archive: zipfile.ZipFile, part: str) -> bytes:
    if archive.getinfo(part).file_size > MAX_PART:
        raise DataError(f"{part[:200]} has more than {MAX_PART >> 20} MiB.")
    return archive.read(part)
