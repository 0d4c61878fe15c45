"""Which files a corpus has: folders walked without leaving them, and without opening what is not a document."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from adjudge.data.documents.kinds import SUFFIXES, DocumentType, suffix_of
from adjudge.errors import DataError
from adjudge.io.system import is_limit

MAX_PROBLEMS = 100
"""Bad records of one file that are named; the others are counted."""

NAMED_OTHERS = 5
"""Files of types that are not read, of which a report gives the names."""

# Windows has no pipes or links to guard against here, but must be told not to translate line ends.
_READ_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _READ_FLAGS |= getattr(os, _flag, 0)


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read as it should: ``skipped`` when something that should be read was left out.

    ``line`` is that of a bad record; its file's other records are kept.
    """

    source: str
    message: str
    skipped: bool = True
    line: int | None = None

    def __str__(self) -> str:
        location = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{location}: {self.message}"


ProblemReport = Callable[[Problem], None]


@dataclass(frozen=True, slots=True)
class SourceFile:
    r"""A file that holds documents.

    ``name`` is its path from the folder that was asked for, that folder's name first; ``source`` its
    full path. Both are printable: bytes of a name that are not UTF-8 are written ``\xNN``.
    """

    path: Path
    name: str
    source: str
    kind: DocumentType
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def title(self) -> str:
        """What to call a document that does not name itself."""
        base = self.name.rsplit("/", 1)[-1]
        return base[: -len(suffix_of(base))].replace("_", " ").strip() or base


def printable(path: str | os.PathLike[str]) -> str:
    """A path as text that can be written anywhere."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def walk(
    root: Path, report: ProblemReport, label: str | None = None, exclude: Path | None = None
) -> Iterator[SourceFile]:
    """Yield the document files of a folder, or the file itself, in the order of their names.

    A link that leads out of the folder is reported; one that stays inside is passed over, since its
    target is met anyway. Hidden files and folders and ``exclude`` (the index that is being written) are no
    part of a corpus; files of other types are counted and the first named. ``label`` replaces the folder's
    own name.
    """
    real = Path(os.path.realpath(root))
    label = label or printable(Path(os.path.abspath(root)).name) or "corpus"
    try:
        status = os.stat(real)
    except OSError as error:
        report(Problem(printable(root), f"cannot be read ({error.strerror})."))
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _walk_folder(real, label, report, exclude and Path(os.path.realpath(exclude)))
    elif not stat.S_ISREG(status.st_mode):
        report(Problem(printable(root), "is neither a file nor a folder."))
    elif not suffix_of(root.name):
        known = " ".join(SUFFIXES)
        report(
            Problem(printable(root), f"is not of a type that can be read; names must end in one of {known}")
        )
    else:
        source = printable(os.path.abspath(root))
        yield _source_file(real, label, source, suffix_of(root.name), status)


def open_regular(path: Path) -> IO[bytes]:
    """Open a file that must be an ordinary one: a pipe would wait for ever, a link may lead anywhere."""
    handle = os.open(path, _READ_FLAGS)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DataError("is not an ordinary file.")
    return os.fdopen(handle, "rb")


@contextmanager
def limit_reports(file: SourceFile, report: ProblemReport, what: str) -> Iterator[ProblemReport]:
    """A report that names the first problems of a file and counts the others, which may be millions."""
    count = 0

    def tell(problem: Problem) -> None:
        nonlocal count
        count += 1
        if count <= MAX_PROBLEMS:
            report(problem)

    yield tell
    if count > MAX_PROBLEMS:
        report(Problem(file.source, f"has {count - MAX_PROBLEMS:,} more bad {what}."))


@dataclass
class _OtherTypes:
    """Files of a folder whose types are not read."""

    names: list[str] = field(default_factory=list)
    endings: Counter[str] = field(default_factory=Counter)

    def add(self, name: str) -> None:
        ending = os.path.splitext(name)[1].lower()[:20]
        self.endings[printable(ending) or "no ending"] += 1
        if len(self.names) < NAMED_OTHERS:
            self.names.append(_short(name))

    def report(self, root: Path, report: ProblemReport) -> None:
        count = self.endings.total()
        if not count:
            return
        endings = ", ".join(
            f"{files_of_ending:,} {ending}"
            for ending, files_of_ending in self.endings.most_common(NAMED_OTHERS)
        )
        more = ", …" if count > len(self.names) else ""
        files = "1 file" if count == 1 else f"{count:,} files"
        message = f"{files} of other types not read ({endings}): {', '.join(self.names)}{more}"
        report(Problem(_short(root), message, skipped=False))


def _walk_folder(root: Path, label: str, report: ProblemReport, exclude: Path | None) -> Iterator[SourceFile]:
    others = _OtherTypes()
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        if folder == exclude:
            continue
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            if is_limit(error):
                raise
            report(Problem(_short(folder), f"cannot be listed ({error.strerror})."))
            continue
        below = []
        for entry in entries:
            if entry.name.startswith((".", "~$")):  # the latter beside a file that an office program has open
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    below.append(Path(entry.path))
                elif file := _entry_file(entry, root, label, report, others):
                    yield file
            except OSError as error:
                report(Problem(_short(entry.path), f"cannot be read ({error.strerror})."))
        waiting.extend(reversed(below))
    others.report(root, report)


def _entry_file(
    entry: os.DirEntry[str], root: Path, label: str, report: ProblemReport, others: _OtherTypes
) -> SourceFile | None:
    if entry.is_symlink():
        target = Path(os.path.realpath(entry.path))
        if not target.is_relative_to(root):
            report(Problem(_short(entry.path), f"is a link out of the folder, to {_short(target)}."))
        return None
    suffix = suffix_of(entry.name)
    if not suffix or (suffix == ".zip" and not fnmatch(entry.name.lower(), "wiki*.zip")):
        others.add(entry.name)
        return None
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        report(Problem(_short(entry.path), "is not an ordinary file."))
        return None
    path = Path(entry.path)
    name = f"{label}/{printable(path.relative_to(root).as_posix())}"
    return _source_file(path, name, printable(path), suffix, status)


def _source_file(path: Path, name: str, source: str, suffix: str, status: os.stat_result) -> SourceFile:
    times = status.st_mtime_ns, status.st_ctime_ns
    return SourceFile(path, name, source, SUFFIXES[suffix], status.st_size, *times)


def _short(path: str | os.PathLike[str]) -> str:
    """A path for a message: of one that is thousands of characters long, both ends."""
    text = printable(path)
    return text if len(text) <= 300 else f"{text[:140]} … {text[-140:]}"
