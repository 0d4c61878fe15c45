"""How a build reports what it is doing, and what it did."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from adjudge.data.documents import Problem
from adjudge.types import Page

_PROGRESS_SECONDS = 0.2
MIN_SHARE = 0.02
"""Of the bytes to read, what must be done before there is an estimate."""


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far a build has come; totals are 0 where they are not known."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int
    pages: int
    sentences: int
    seconds: float
    embedded: int = 0
    """Sentences that have their vectors; they are made when all files have been read."""
    to_embed: int = 0
    embedding_eta: float | None = None
    """Seconds left of embedding."""
    files_seconds: float = 0.0
    """Seconds when the last file was done."""

    @property
    def rate(self) -> float:
        """Sentences a second."""
        return self.sentences / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta(self) -> float | None:
        """Seconds left, from the bytes of the files done; None before they are enough to tell.

        A file counts when it is done: while a large one is read, the time that it has taken is no longer ahead.
        """
        if not self.bytes or self.bytes < MIN_SHARE * self.bytes_total:
            return None
        left = self.files_seconds * (self.bytes_total - self.bytes) / self.bytes
        return max(0.0, left - (self.seconds - self.files_seconds))


ProgressCallback = Callable[[IndexProgress], None]


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a build did: files by what happened to them, the index as it is now, and all problems."""

    path: str
    pages: int
    sentences: int
    indexed_sentences: int
    embedded_sentences: int
    vectors: bool
    seconds: float
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def rate(self) -> float:
        """Sentences indexed a second."""
        return self.indexed_sentences / self.seconds if self.seconds > 0 else 0.0


@dataclass
class Meter:
    """Counts what is written and calls back now and then."""

    began: float
    callback: ProgressCallback | None
    files_total: int = 0
    bytes_total: int = 0
    files: int = 0
    bytes: int = 0
    pages: int = 0
    sentences: int = 0
    embedding: tuple[int, int, float | None] = (0, 0, None)
    new_vectors: int = 0
    files_seconds: float = 0.0
    reported: float = 0.0

    def count(self, page: Page) -> None:
        """A page has been written."""
        self.pages += 1
        self.sentences += len(page.sentences)
        if self.callback and time.monotonic() - self.reported > _PROGRESS_SECONDS:
            self.report()

    def count_file(self, size: int) -> None:
        """A file of so many bytes has been read."""
        self.files, self.bytes = self.files + 1, self.bytes + size
        self.files_seconds = time.monotonic() - self.began
        self.report()

    def report(self) -> None:
        """Call back."""
        self.reported = time.monotonic()
        if self.callback:
            counts = (self.files, self.files_total, self.bytes, self.bytes_total, self.pages, self.sentences)
            self.callback(
                IndexProgress(*counts, self.reported - self.began, *self.embedding, self.files_seconds)
            )

    def report_embedding(self, done: int, total: int, seconds: float) -> None:
        """Call back from embedding, with the seconds left."""
        self.embedding = (done, total, seconds)
        self.report()
