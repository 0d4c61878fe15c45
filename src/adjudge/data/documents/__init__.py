"""A user's own documents as pages with sentences; ``kinds.TYPES`` has the types of file that are read.

Bad files are reported and skipped, or raise with ``strict``. Memory does not grow with the size of a file
beyond the limits of its type, nothing outside the folders named is read, and nothing in a document is run or
fetched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from adjudge.data.documents.files import Problem, ProblemReport, SourceFile, printable, walk
from adjudge.data.documents.kinds import SUFFIXES, TYPES, DocumentType, load_reader
from adjudge.errors import AdjudgeError, DataError, MissingExtra
from adjudge.io.system import is_limit
from adjudge.types import Page

__all__ = [
    "SUFFIXES",
    "TYPES",
    "DocumentType",
    "Problem",
    "ProblemReport",
    "SourceDocument",
    "SourceFile",
    "Unreadable",
    "iter_documents",
    "printable",
    "read_pages",
    "source_text",
    "strict_report",
    "walk",
]

MAX_GROWTH = 100
"""Characters that a file may give for each of its bytes, beyond :data:`FREE_TEXT`."""
FREE_TEXT = 1 << 24


class Unreadable(DataError):
    """A file of which nothing more is read; carries what ``iter_documents`` reports."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A page and the file it came from; a file gives one page or many."""

    page: Page
    file: SourceFile


def iter_documents(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    strict: bool = False,
    report: ProblemReport | None = None,
) -> Iterator[SourceDocument]:
    """Yield the pages of all documents in the file or folder named, or in several, one at a time.

    ``report`` hears of everything that was left out or guessed; with ``strict``, what is left out raises
    ``DataError`` instead.
    """
    tell = strict_report(strict, report)
    for root in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        for file in walk(Path(root), tell):
            try:
                for page in read_pages(file, tell):
                    yield SourceDocument(page, file)
            except Unreadable as error:
                tell(error.problem)


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The pages of one file; ``Unreadable`` when it cannot be read (further)."""
    try:
        yield from _bounded(load_reader(file.kind).read_pages(file, report), file.size)
    except OSError as error:
        if is_limit(error):  # which is not the document's fault, and would leave out any other as well
            raise
        reason = "has gone" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise Unreadable(Problem(file.source, f"{reason}.")) from None
    except Unreadable:
        raise
    except AdjudgeError as error:
        message = str(error).removeprefix(f"{file.path}").lstrip(": ")
        raise Unreadable(Problem(file.source, message)) from None


def _bounded(pages: Iterator[Page], size: int) -> Iterator[Page]:
    """The pages of a file, as long as they do not give far more text than it has bytes.

    Parts may be packed, and may be named many times: chapters of a book, strings of a sheet, slides, cells over rows.
    """
    room = FREE_TEXT + MAX_GROWTH * size
    for page in pages:
        room -= sum(len(sentence.text) for sentence in page.sentences)
        if room < 0:
            raise DataError(f"gives more than {MAX_GROWTH} times its size in text (a bomb?).")
        yield page


def strict_report(strict: bool, report: ProblemReport | None) -> ProblemReport:
    """A report that raises when strict and something is skipped, and does nothing when ``report`` is None."""

    def tell(problem: Problem) -> None:
        if strict and problem.skipped:
            raise Unreadable(problem)
        if report:
            report(problem)

    return tell


def source_text(path: str | os.PathLike[str], page: str = "") -> str:
    """The text in which the offsets of a page's sentences count.

    For text, Markdown and CSV the decoded file, for JSONL the ``text`` of the record with that id, for other
    types the text extracted from the file, or from the part of it (``#page=N``, ``#sheet=N``, ``#slide=N``,
    ``#chapter=N``) that ``page`` names.
    """
    problems: list[Problem] = []
    files = list(walk(Path(path), problems.append))
    if len(files) != 1:
        reason = str(problems[0]) if problems else f"{printable(path)}: expected one file."
        raise DataError(reason)
    file = files[0]
    try:
        text: str | None = load_reader(file.kind).read_source(file, page, problems.append)
    except OSError as error:
        raise DataError(f"{file.source}: cannot be read ({error.strerror}).") from None
    except MissingExtra:
        raise
    except AdjudgeError as error:
        message = str(error).removeprefix(f"{file.path}").lstrip(": ")
        raise DataError(f"{file.source}: {message}") from None
    if text is None:
        raise DataError(f"{file.source}: has no page {page!r} with a text of its own.")
    return text
