"""Which files a corpus has: folders walked without leaving them, and without opening what is no document."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from adjudge.errors import DataError

KINDS = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonl.gz": "jsonl",
    ".zip": "zip",
}
"""The type of document that a name's ending promises."""

# Windows has no pipes or links to guard against here, but must be told not to translate line ends.
_READ_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _READ_FLAGS |= getattr(os, _flag, 0)


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read as it should: ``skipped`` when something was left out because of it.

    ``line`` is that of a bad record; its file's other records are kept.
    """

    source: str
    message: str
    skipped: bool = True
    line: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.message}"


Report = Callable[[Problem], None]


@dataclass(frozen=True, slots=True)
class SourceFile:
    r"""A file that holds documents.

    ``name`` is its path from the folder that was asked for, that folder's name first; ``source`` its
    full path. Both are printable: bytes of a name that are not UTF-8 are written ``\xNN``.
    """

    path: Path
    name: str
    source: str
    kind: str
    size: int
    mtime_ns: int

    @property
    def title(self) -> str:
        """What to call a document that does not name itself."""
        base = self.name.rsplit("/", 1)[-1]
        return base[: -len(_suffix(base))].replace("_", " ").strip() or base


def printable(path: str | os.PathLike[str]) -> str:
    """A path as text that can be written anywhere."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def walk(
    root: Path, report: Report, label: str | None = None, exclude: Path | None = None
) -> Iterator[SourceFile]:
    """Yield the document files of a folder, or the file itself, in the order of their names.

    A link that leads out of the folder is reported; one that stays inside is passed over, since its
    target is met anyway. Hidden files and folders, names of other types and ``exclude`` (the index that
    is being written) are no part of a corpus. ``label`` replaces the folder's own name.
    """
    real = Path(os.path.realpath(root))
    label = label or printable(Path(os.path.abspath(root)).name) or "corpus"
    try:
        found = os.stat(real)
    except OSError as error:
        report(Problem(printable(root), f"cannot be read ({error.strerror})."))
        return
    if stat.S_ISDIR(found.st_mode):
        yield from _walk_folder(real, label, report, exclude and Path(os.path.realpath(exclude)))
    elif not stat.S_ISREG(found.st_mode):
        report(Problem(printable(root), "is neither a file nor a folder."))
    elif not _suffix(root.name):
        known = " ".join(KINDS)
        report(Problem(printable(root), f"is of no type that can be read; names must end in one of {known}"))
    else:
        source = printable(os.path.abspath(root))
        yield SourceFile(real, label, source, KINDS[_suffix(root.name)], found.st_size, found.st_mtime_ns)


def open_regular(path: Path) -> IO[bytes]:
    """Open a file that must be an ordinary one: a pipe would wait for ever, a link may lead anywhere."""
    handle = os.open(path, _READ_FLAGS)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DataError("is no ordinary file.")
    return os.fdopen(handle, "rb")


def _walk_folder(root: Path, label: str, report: Report, exclude: Path | None) -> Iterator[SourceFile]:
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        if folder == exclude:
            continue
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            report(Problem(_short(folder), f"cannot be listed ({error.strerror})."))
            continue
        below = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    below.append(Path(entry.path))
                elif file := _entry_file(entry, root, label, report):
                    yield file
            except OSError as error:
                report(Problem(_short(entry.path), f"cannot be read ({error.strerror})."))
        waiting.extend(reversed(below))


def _entry_file(entry: os.DirEntry[str], root: Path, label: str, report: Report) -> SourceFile | None:
    if entry.is_symlink():
        target = Path(os.path.realpath(entry.path))
        if not target.is_relative_to(root):
            report(Problem(_short(entry.path), f"is a link out of the folder, to {_short(target)}."))
        return None
    suffix = _suffix(entry.name)
    if not suffix or (suffix == ".zip" and not fnmatch(entry.name.lower(), "wiki*.zip")):
        return None
    found = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        report(Problem(_short(entry.path), "is no ordinary file."))
        return None
    path = Path(entry.path)
    name = f"{label}/{printable(path.relative_to(root).as_posix())}"
    return SourceFile(path, name, printable(path), KINDS[suffix], found.st_size, found.st_mtime_ns)


def _suffix(name: str) -> str:
    lower = name.lower()
    return next((suffix for suffix in KINDS if lower.endswith(suffix) and len(lower) > len(suffix)), "")


def _short(path: str | os.PathLike[str]) -> str:
    """A path for a message: of one that is thousands of characters long, both ends."""
    text = printable(path)
    return text if len(text) <= 300 else f"{text[:140]} … {text[-140:]}"
