"""The corpora of a server by name: opened in the background, opened again when they change on disk."""

from __future__ import annotations

import errno
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from adjudge.data.documents import SUFFIXES, Problem, printable
from adjudge.data.documents.kinds import suffix_of
from adjudge.errors import DiskFull
from adjudge.io.temporary import discarding, report_full_disk, sweep, temporary_file, temporary_folder
from adjudge.retrieval.index import Index
from adjudge.retrieval.pipeline import EvidencePipeline
from adjudge.retrieval.progress import IndexProgress, ProgressCallback
from adjudge.serving.server.corpus import Corpus, stamp_of
from adjudge.serving.server.faults import Conflict, Fault, NoRoom, NotFound, NotReady, TooLarge

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MAX_NAME_BYTES = 200
MAX_PROBLEMS = 20
PATIENCE = 20.0
"""A corpus is looked at again after this many times the seconds that the look took."""

OpenCorpus = Callable[[Path, ProgressCallback, Callable[[Problem], None]], tuple[Index, EvidencePipeline]]


class Corpora:
    """The corpora by name, kept in step with the disk by a thread of their own.

    Args:
        paths: those that the server was started with; each is called like its folder or file.
        data_dir: where uploaded ones live, a folder of documents each.
        open_corpus: path, progress and report → index and pipeline.
        refresh: seconds between looks at the disk.
    """

    def __init__(
        self, paths: tuple[Path, ...], data_dir: Path, open_corpus: OpenCorpus, refresh: float
    ) -> None:
        self._open_corpus = open_corpus
        self._refresh = refresh
        self._data_dir = data_dir
        self._corpora: dict[str, Corpus] = {}
        self._changed = threading.Condition()
        self._opening = threading.Lock()
        self._closing = False
        for path in paths:
            self._add(Corpus(free_name(path, self._corpora), path))
        if data_dir.is_dir():  # what a killed server was writing
            for folder in (data_dir, *filter(Path.is_dir, data_dir.iterdir())):
                sweep(folder)
        self._scan()
        self._first = list(self)
        self._thread = threading.Thread(target=self._keep, name="adjudge-corpora", daemon=True)

    def start(self) -> None:
        """Open them, and keep looking whether they changed."""
        self._thread.start()

    def close(self) -> None:
        """Stop looking; an index that is being written is finished first, for a while."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def __iter__(self) -> Iterator[Corpus]:
        return iter(list(self._corpora.values()))

    @property
    def are_open(self) -> bool:
        """Whether each that was there at the start has been opened, or has failed to be."""
        present = (corpus for corpus in self._first if self._corpora.get(corpus.name) is corpus)
        return all(corpus.state != "loading" for corpus in present)

    def get(self, name: str | None = None) -> Corpus:
        """A corpus by name; the first without one."""
        if name is None:
            if not self._corpora:
                raise NotFound(
                    "This server has no corpus. Start it with --corpus, create one, or send evidence with the claim."
                )
            return next(iter(self._corpora.values()))
        if name not in self._corpora and NAME.fullmatch(name) and (self._data_dir / name).is_dir():
            with self._changed:
                self._scan()
                self._changed.notify()
        if name not in self._corpora:
            names = ", ".join(self._corpora) or "none"
            raise NotFound(f"No corpus is called {name!r}; there are: {names}.")
        return self._corpora[name]

    def pipeline(self, name: str | None = None) -> tuple[Corpus, EvidencePipeline]:
        """A corpus that can be searched now."""
        corpus = self.get(name)
        if (pipeline := corpus.pipeline) is not None:
            return corpus, pipeline
        if corpus.state == "failed":
            raise Fault(f"Corpus {corpus.name!r} cannot be opened: {corpus.problem}")
        raise NotReady(f"Corpus {corpus.name!r} is being indexed. Try again in a moment.")

    def create(self, name: str) -> Corpus:
        """A new, empty corpus for uploads."""
        check_name(name)
        with self._changed:
            if name.lower() in {other.lower() for other in self._corpora}:
                raise Conflict(f"A corpus called {name!r} exists already. Choose another name.")
            folder = self._data_dir / name
            with _needing_room(name):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            corpus = self._add(Corpus(name, folder, uploaded=True))
            self._changed.notify()
        return corpus

    def delete(self, name: str) -> None:
        """Remove an uploaded corpus with its documents, all of them or none."""
        corpus = self._own(name)
        # Not while it is being indexed, which would make its folder anew; and at once for all who look for it.
        with discarding(corpus.path) as remove, self._opening, self._changed:
            try:
                remove()
            except OSError as error:
                if error.errno not in (errno.EBUSY, errno.EXDEV):
                    raise
                raise Conflict(
                    f"Corpus {name!r} is a file system of its own on the server: remove it there."
                ) from None
            self._corpora.pop(name, None)

    def expect_documents(self, name: str, documents: Sequence[str]) -> None:
        """A fault unless an uploaded corpus can take documents of these names, all of them."""
        self._own(name)
        for document in documents:
            check_document(document)
        if len(set(documents)) < len(documents):
            raise Fault("Two files of the form have the same name: expected each name once.")

    def add_document(self, name: str, document: str, stream: BinaryIO, limit: int) -> Corpus:
        """Keep a document of an uploaded corpus, whole or not at all, and have it indexed."""
        corpus = self._own(name)
        check_document(document)
        size = 0
        # Beside it: a corpus that goes is not made anew.
        with _needing_room(document), temporary_folder(corpus.path) as folder:
            with temporary_file(folder / document) as temporary, open(temporary, "wb") as out:
                while chunk := stream.read(1 << 20):
                    size += len(chunk)
                    if size > limit:
                        raise TooLarge(
                            f"{document}: more than {limit:,} bytes, which is this server's limit."
                        )
                    out.write(chunk)
            with self._changed:
                if self._corpora.get(name) is not corpus or not corpus.path.is_dir():
                    raise NotFound(f"Corpus {name!r} was deleted before {document!r} was there.")
                _move_document(folder / document, corpus.path / document)
        self._request(corpus)
        return corpus

    def remove_document(self, name: str, document: str) -> Corpus:
        """Remove a document of an uploaded corpus."""
        corpus = self._own(name)
        check_document(document)
        try:
            (corpus.path / document).unlink()
        except FileNotFoundError:
            raise NotFound(f"Corpus {name!r} has no document {document!r}.") from None
        self._request(corpus)
        return corpus

    def _scan(self) -> None:
        """Take note of corpora that another process made in the data folder, or removed from it."""
        folders = sorted(self._data_dir.iterdir()) if self._data_dir.is_dir() else []
        for folder in folders:
            if folder.is_dir() and NAME.fullmatch(folder.name) and folder.name not in self._corpora:
                self._add(Corpus(folder.name, folder, uploaded=True))
        for corpus in self:
            if corpus.uploaded and not corpus.path.is_dir():
                self._corpora.pop(corpus.name, None)

    def _own(self, name: str) -> Corpus:
        corpus = self.get(name)
        if not corpus.uploaded:
            raise Conflict(
                f"Corpus {name!r} was given by path when the server started: change its files there."
            )
        return corpus

    def _add(self, corpus: Corpus) -> Corpus:
        self._corpora[corpus.name] = corpus
        return corpus

    def _request(self, corpus: Corpus) -> None:
        """Have a corpus looked at now."""
        with self._changed:
            corpus.state = "indexing" if corpus.pipeline else corpus.state
            corpus.next_look = 0.0
            self._changed.notify()

    def _keep(self) -> None:
        while not self._closing:
            with suppress(OSError), self._changed:  # the data folder cannot be read for a while
                self._scan()
            for corpus in self:
                if corpus.next_look <= time.monotonic() and not self._closing:
                    with self._opening:
                        self._look_at(corpus)
            with self._changed:
                looks = [corpus.next_look for corpus in self]
                wait = min([*looks, time.monotonic() + self._refresh]) - time.monotonic()
                if wait > 0 and not self._closing:
                    self._changed.wait(wait)

    def _look_at(self, corpus: Corpus) -> None:
        corpus.next_look = float("inf")
        began = time.monotonic()
        stamp = stamp_of(corpus.path)
        took = time.monotonic() - began
        if corpus.uploaded and not corpus.path.is_dir():  # removed: indexing it would make it anew
            return
        if stamp != corpus.stamp or corpus.state == "indexing":
            self._open(corpus)
            corpus.stamp = stamp
            if corpus.uploaded and corpus.name not in self._corpora:  # removed while it was indexed
                self._remove_again(corpus)
        # An upload that came in the meantime has asked for another look.
        corpus.next_look = min(corpus.next_look, time.monotonic() + max(self._refresh, PATIENCE * took))

    def _remove_again(self, corpus: Corpus) -> None:
        """Remove what indexing wrote into the folder of a corpus that is gone."""
        with discarding(corpus.path) as remove, self._changed:
            if corpus.name not in self._corpora:
                remove()

    def _open(self, corpus: Corpus) -> None:
        corpus.state = "indexing" if corpus.pipeline else "loading"
        problems: list[str] = []

        def report_progress(progress: IndexProgress) -> None:
            corpus.progress = progress

        def record_problem(problem: Problem) -> None:
            if len(problems) < MAX_PROBLEMS:
                problems.append(f"{corpus.relative(problem.source)}: {problem.message}")

        try:
            corpus.index, corpus.pipeline = self._open_corpus(corpus.path, report_progress, record_problem)
            with self._changed:  # what an upload asked for meanwhile is not in this index yet
                corpus.state, corpus.problem = "indexing" if corpus.next_look == 0.0 else "ready", None
        except Exception as error:  # whatever it is, the thread goes on with the other corpora
            corpus.fail(error)
        corpus.problems, corpus.progress = problems, None


@contextmanager
def _needing_room(what: str) -> Iterator[None]:
    """Say of a full disk what was not kept, and not where the server keeps it."""
    try:
        with report_full_disk(Path(what)):
            yield
    except DiskFull:
        raise NoRoom(f"{what}: not kept, since the server's disk is full.") from None


def _move_document(document: Path, target: Path) -> None:
    """Give a whole document its place, which a link or a mount may have put on another file system."""
    try:
        os.replace(document, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with temporary_file(target) as temporary:
            shutil.copyfile(document, temporary)


def free_name(path: Path, names: dict[str, Corpus]) -> str:
    """What to call a corpus that was given by its path: letters and digits of its last part, and none twice."""
    base = re.sub(r"[^A-Za-z0-9_-]+", "-", path.resolve().stem).strip("-_")[:60] or "corpus"
    name, suffix = base, 1
    while name in names:
        suffix += 1
        name = f"{base}-{suffix}"
    return name


def check_name(name: str) -> None:
    """A corpus's name is a folder's name too: letters, digits, hyphen and underscore."""
    if not NAME.fullmatch(name):
        raise Fault(
            f"Corpus name {printable(name)[:80]!r}: expected 1 to 64 letters, digits, hyphens or underscores, "
            "the first a letter or digit."
        )


def check_document(name: str) -> None:
    """A document's name is that of a file in the corpus's folder, of a type that can be read."""
    if name != os.path.basename(name) or "\\" in name or name.startswith(".") or not name.isprintable():
        raise Fault(f"Document name {name[:80]!r}: expected the name of a file, without folders.")
    if len(os.fsencode(name)) > MAX_NAME_BYTES:
        raise Fault(f"Document name {name[:40]!r}…: expected at most {MAX_NAME_BYTES} bytes.")
    if not suffix_of(name):
        raise Fault(f"Document {name!r}: expected a name that ends in one of {' '.join(SUFFIXES)}.")
