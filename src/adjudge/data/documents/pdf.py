"""PDF: one page of the corpus for each page of the file, named ``file.pdf#page=N``.

Offsets count in the text extracted from that page (``source_text``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from adjudge.data.documents.files import Problem, ProblemReport, SourceFile, open_regular
from adjudge.data.documents.sentences import numbered_part, split_blocks, to_sentences
from adjudge.errors import DataError
from adjudge.types import Page

MAX_PAGE_TEXT = 1_000_000
"""Characters read of one PDF page: a page of print has a few thousand."""


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The pages of a PDF that have text."""
    title = ""
    for page_number, text, document_title in pdf_texts(file, report):
        title = title or document_title or file.title
        sentences = tuple(to_sentences(split_blocks([text]), title))
        if sentences:
            yield Page(f"{file.name}#page={page_number}", title, sentences, file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str | None:
    """The text of the page that ``#page=N`` names."""
    wanted = numbered_part(page, "page")
    return next((text for page_number, text, _ in pdf_texts(file, report) if page_number == wanted), None)


def pdf_texts(file: SourceFile, report: ProblemReport) -> Iterator[tuple[int, str, str]]:
    """Yield (page number from 1, its text, the document's title)."""
    from pypdf import PdfReader

    empty = True
    with open_regular(file.path) as stream, _silence_pypdf():
        # pypdf meets damaged files with exceptions of many kinds; all mean that this file is unreadable.
        try:
            reader = PdfReader(stream)
            if reader.is_encrypted and not reader.decrypt(""):
                raise DataError("is encrypted. Save a copy without a password.")
            count = len(reader.pages)
            title = _title(reader)
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"is not a readable PDF ({_reason(error)}).") from None
        for page_number in range(1, count + 1):
            try:
                text = reader.pages[page_number - 1].extract_text()
            except Exception as error:
                report(Problem(file.source, f"page {page_number} cannot be read ({_reason(error)})."))
                continue
            if len(text) > MAX_PAGE_TEXT:
                report(Problem(file.source, f"page {page_number} is cut after {MAX_PAGE_TEXT:,} characters."))
            # Fonts without a proper map can give lone surrogates, which no encoding takes.
            text = text[:MAX_PAGE_TEXT].encode("utf-8", "replace").decode()
            empty = empty and not text.strip()
            yield page_number, text, title
    if empty:
        report(Problem(file.source, "has no text (a scan?)."))


def _title(reader: object) -> str:
    metadata = getattr(reader, "metadata", None)
    title = getattr(metadata, "title", None)
    return " ".join(title.encode("utf-8", "replace").decode().split())[:300] if isinstance(title, str) else ""


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


@contextmanager
def _silence_pypdf() -> Iterator[None]:
    """Keep pypdf from logging: the report names the problems that matter."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
