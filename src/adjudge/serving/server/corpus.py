"""A corpus of a server: where it is, what state it is in, and how it is shown to others."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from adjudge.data.documents import printable
from adjudge.errors import AdjudgeError
from adjudge.retrieval.corpus import CACHE
from adjudge.retrieval.index import Index
from adjudge.retrieval.pipeline import EvidencePipeline
from adjudge.retrieval.progress import IndexProgress
from adjudge.retrieval.storage import MANIFEST, IndexedFile, IndexUnusable, read_sources
from adjudge.serving.server.logs import LOGGER

State = Literal["loading", "ready", "indexing", "failed"]


@dataclass
class Corpus:
    """A corpus of the server.

    Attributes:
        name: what requests call it.
        path: an index, or a folder or file of documents.
        uploaded: whether its documents came through the server, which may then change them.
        state: ``loading`` before it was first opened, ``indexing`` while it is opened again, ``failed`` with a problem.
        index: as it was last opened.
        pipeline: what finds evidence in it.
        progress: of the indexing that goes on.
        problem: why it could not be opened.
        problems: documents that could not be read, the first ones.
    """

    name: str
    path: Path
    uploaded: bool = False
    state: State = "loading"
    index: Index | None = None
    pipeline: EvidencePipeline | None = None
    progress: IndexProgress | None = None
    problem: str | None = None
    problems: list[str] = field(default_factory=list)
    stamp: str = ""
    next_look: float = 0.0

    def relative(self, source: str) -> str:
        """A source as it is shown to others: its path from the corpus, not where the server keeps it."""
        root = os.path.realpath(self.path if self.path.is_dir() else self.path.parent)  # as sources name it
        relative = os.path.relpath(source, root) if os.path.isabs(source) else source
        return os.path.basename(source) if relative.startswith("..") else relative

    def fail(self, error: Exception) -> None:
        """Say that it cannot be opened; its last state answers on, unless there is nothing left of it."""
        is_known = isinstance(error, (AdjudgeError, OSError))
        problem = self.without_path(str(error) if is_known else f"{type(error).__name__}: {error}")
        if problem != self.problem:
            fields = {"corpus": self.name, "problem": problem}
            log = logging.getLogger(LOGGER)
            log.error("corpus failed", exc_info=None if is_known else error, extra={"fields": fields})
        self.state, self.problem = "failed", problem
        if not os.path.exists(self.path) or (self.index and not self.index.manifest.sentences):
            self.index = self.pipeline = None

    def without_path(self, text: str) -> str:
        """What is said of it as it is shown to others: the corpus's name stands for its path."""
        for path in (os.path.realpath(self.path), os.path.abspath(self.path), self.path):
            end = r"[:/\\'\"\s]|\.?(\s|$)" if os.path.isabs(path) else r"[:/\\'\"]"
            pattern = rf"(?<![\w./\\-]){re.escape(printable(path))}(?={end})"
            text = re.sub(pattern, lambda _: self.name, text)
        return text

    def documents(self) -> list[IndexedFile]:
        """The files that its index holds, by name."""
        if (index := self.index) is None:
            return []
        try:
            sources = read_sources(index.path / index.manifest.generation)
        except IndexUnusable:  # replaced just now; the next look opens it
            return []
        return sorted(sources.values(), key=lambda file: file.source)


def stamp_of(path: Path) -> str:
    """What changes when a corpus on disk does: names, sizes and times of its files; links in it are not followed."""
    digest = hashlib.sha256()
    is_index = os.path.isfile(path / MANIFEST) and not os.path.exists(path / CACHE)
    roots = [path / MANIFEST if is_index else path]
    follow = True  # the corpus itself may be a link
    while roots:
        entry = roots.pop()
        try:
            status = entry.stat(follow_symlinks=follow)
            follow = False
            if stat.S_ISDIR(status.st_mode):
                roots += sorted(child for child in entry.iterdir() if not child.name.startswith("."))
                continue
            times = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        except OSError:
            times = (0, 0, 0)
        digest.update(f"{printable(entry)}\0{times}\n".encode())
    return digest.hexdigest()
