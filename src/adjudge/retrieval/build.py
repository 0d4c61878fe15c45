"""Making an index, and keeping it in step with its documents without starting again."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adjudge.data.documents import (
    Problem,
    Report,
    SourceFile,
    Unreadable,
    printable,
    read_pages,
    strict_report,
    walk,
)
from adjudge.data.files import sha256
from adjudge.errors import DataError
from adjudge.retrieval.index import Writer
from adjudge.retrieval.storage import (
    Manifest,
    Source,
    next_generation,
    open_for_writing,
    read_sources,
    write_manifest,
    write_sources,
)
from adjudge.types import Page

_PROGRESS_SECONDS = 0.2
_RACY_NS = 2_000_000_000
"""A file changed this shortly before it was read may change again within the clock's resolution."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build has come; totals are 0 where they are not known."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int
    pages: int
    sentences: int
    seconds: float

    @property
    def rate(self) -> float:
        """Sentences a second."""
        return self.sentences / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta(self) -> float | None:
        """Seconds left, from the bytes of the files done; None before the first is."""
        if not self.bytes or not self.bytes_total:
            return None
        return self.seconds * (self.bytes_total - self.bytes) / self.bytes


ProgressCallback = Callable[[Progress], None]
Paths = Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a build did: files by what happened to them, the index as it is now, and all problems."""

    path: str
    added: int
    changed: int
    removed: int
    unchanged: int
    pages: int
    sentences: int
    indexed_sentences: int
    seconds: float
    problems: tuple[Problem, ...]

    @property
    def rate(self) -> float:
        """Sentences indexed a second."""
        return self.indexed_sentences / self.seconds if self.seconds > 0 else 0.0


def build_index(
    paths: Paths,
    out: str | os.PathLike[str],
    progress: ProgressCallback | None = None,
    strict: bool = False,
    remove: Paths = (),
    report: Report | None = None,
) -> IndexReport:
    """Make the index at ``out``, or bring it in step with the files and folders in ``paths``.

    Files that are new or changed are read; those that have gone from a folder named leave the index. Folders
    indexed earlier and not named now stay, unless they are in ``remove``. Searches see the old state until
    the new one is complete. With ``strict`` the first bad file raises ``DataError`` and changes nothing.
    """
    meter = _Meter(time.monotonic(), progress)
    out = Path(out)
    problems: list[Problem] = []

    def note(problem: Problem) -> None:
        problems.append(problem)
        if report:
            report(problem)

    tell = strict_report(strict, note)
    with open_for_writing(out) as manifest:
        known = read_sources(out / manifest.generation) if manifest.generation else {}
        plan = _plan(list(paths), list(remove), manifest, known, out, tell)
        sources = known
        if plan.read or plan.drop or plan.retimed or plan.roots != manifest.roots or not manifest.generation:
            manifest, sources = _carry_out(plan, manifest, known, out, tell, meter)
    read = {file.source for file in plan.read} & sources.keys()
    return IndexReport(
        path=str(out),
        added=len(read - known.keys()),
        changed=len(read & known.keys()),
        removed=len(known.keys() - sources.keys()),
        unchanged=plan.unchanged,
        pages=manifest.pages,
        sentences=manifest.sentences,
        indexed_sentences=sum(sources[name].sentences for name in read),
        seconds=time.monotonic() - meter.began,
        problems=tuple(problems),
    )


def index_pages(
    pages: Iterable[Page], out: str | os.PathLike[str], progress: ProgressCallback | None = None
) -> IndexReport:
    """Make an index of pages that come from elsewhere than files; what was at ``out`` is replaced."""
    meter = _Meter(time.monotonic(), progress)
    out = Path(out)
    with open_for_writing(out) as manifest:
        with _generation(out, manifest.generation, copy=False) as (folder, writer):
            for page in pages:
                writer.add(page, page.source or "")
                meter.count(page)
            writer.commit()
            write_sources(folder, ())
            write_manifest(
                out, Manifest(generation=folder.name, pages=meter.pages, sentences=meter.sentences)
            )
    meter.tell()
    seconds = time.monotonic() - meter.began
    return IndexReport(str(out), 0, 0, 0, 0, meter.pages, meter.sentences, meter.sentences, seconds, ())


@dataclass
class _Meter:
    """Counts what is written and speaks now and then."""

    began: float
    callback: ProgressCallback | None
    files_total: int = 0
    bytes_total: int = 0
    files: int = 0
    bytes: int = 0
    pages: int = 0
    sentences: int = 0
    spoke: float = 0.0

    def count(self, page: Page) -> None:
        self.pages += 1
        self.sentences += len(page.sentences)
        if self.callback and time.monotonic() - self.spoke > _PROGRESS_SECONDS:
            self.tell()

    def tell(self) -> None:
        self.spoke = time.monotonic()
        if self.callback:
            done = (self.files, self.files_total, self.bytes, self.bytes_total, self.pages, self.sentences)
            self.callback(Progress(*done, seconds=self.spoke - self.began))


@dataclass
class _Plan:
    """What a build has to do: files to read, sources to drop, sources of which only the date is new."""

    roots: dict[str, str]
    read: list[SourceFile] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    drop: list[str] = field(default_factory=list)
    retimed: list[Source] = field(default_factory=list)
    unchanged: int = 0


def _plan(
    paths: list[str | os.PathLike[str]],
    remove: list[str | os.PathLike[str]],
    manifest: Manifest,
    known: dict[str, Source],
    out: Path,
    tell: Report,
) -> _Plan:
    roots = dict(manifest.roots)
    swept = {_root_label(path, roots) for path in remove}
    plan = _Plan({label: root for label, root in roots.items() if label not in swept})
    for path in paths:
        label = _new_label(path, plan.roots)
        swept.add(label)
        for file in walk(Path(path), tell, label=label, exclude=out):
            if file.source not in plan.labels:  # a folder and a file in it may both be named
                plan.labels[file.source] = label
                _sort(file, label, known.get(file.source), plan)
    plan.drop = [name for name, source in known.items() if source.root in swept and name not in plan.labels]
    return plan


def _sort(file: SourceFile, label: str, known: Source | None, plan: _Plan) -> None:
    """Decide what to do with a file: its size and date tell, or else its content."""
    if known is None or known.root != label or file.size != known.size:
        plan.read.append(file)
    elif file.mtime_ns == known.mtime_ns and known.mtime_ns + _RACY_NS < known.read_ns:
        plan.unchanged += 1
    elif _digest(file) == known.sha256:
        plan.retimed.append(_source(file, label, known.sha256, known.pages, known.sentences))
        plan.unchanged += 1
    else:
        plan.read.append(file)


def _carry_out(
    plan: _Plan, manifest: Manifest, known: dict[str, Source], out: Path, tell: Report, meter: _Meter
) -> tuple[Manifest, dict[str, Source]]:
    meter.files_total, meter.bytes_total = len(plan.read), sum(file.size for file in plan.read)
    sources = dict(known)
    sources.update((source.source, source) for source in plan.retimed)
    with _generation(out, manifest.generation) as (folder, writer):
        for name in plan.drop:
            writer.remove(name)
            del sources[name]
        for file in plan.read:
            if sources.pop(file.source, None):
                writer.remove(file.source)
            try:
                sources[file.source] = _read(file, plan.labels[file.source], writer, tell, meter)
            except Unreadable as error:
                writer.remove(file.source)  # what was read of it before it failed
                tell(error.problem)
            meter.files, meter.bytes = meter.files + 1, meter.bytes + file.size
            meter.tell()
        writer.commit()
        write_sources(folder, sources.values())
        made = Manifest(
            generation=folder.name,
            pages=sum(source.pages for source in sources.values()),
            sentences=sum(source.sentences for source in sources.values()),
            roots=plan.roots,
        )
        write_manifest(out, made)
    return made, sources


def _read(file: SourceFile, label: str, writer: Writer, tell: Report, meter: _Meter) -> Source:
    digest = _digest(file)
    if digest is None:
        raise Unreadable(Problem(file.source, "cannot be read."))
    pages = sentences = 0
    for page in read_pages(file, tell):
        writer.add(page, file.source)
        meter.count(page)
        pages, sentences = pages + 1, sentences + len(page.sentences)
    return _source(file, label, digest, pages, sentences)


def _source(file: SourceFile, label: str, digest: str, pages: int, sentences: int) -> Source:
    return Source(file.source, label, file.size, file.mtime_ns, time.time_ns(), digest, pages, sentences)


def _digest(file: SourceFile) -> str | None:
    try:
        return sha256(file.path)
    except OSError:
        return None


@contextmanager
def _generation(out: Path, current: str, copy: bool = True) -> Iterator[tuple[Path, Writer]]:
    """A new generation to write in; removed again when the block fails, otherwise the old one is."""
    folder = next_generation(out, current, copy)
    writer = Writer(folder)
    try:
        yield folder, writer
    except BaseException:
        writer.abandon()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if current:
        shutil.rmtree(out / current, ignore_errors=True)  # searches that have it open keep it open


def _full(path: str | os.PathLike[str]) -> str:
    return printable(os.path.abspath(path))


def _root_label(path: str | os.PathLike[str], roots: dict[str, str]) -> str:
    for label, root in roots.items():
        if root == _full(path):
            return label
    held = ", ".join(roots.values()) or "nothing"
    raise DataError(f"{printable(path)}: is no folder or file that was indexed here; the index holds {held}.")


def _new_label(path: str | os.PathLike[str], roots: dict[str, str]) -> str:
    """The name under which a corpus is indexed, its own unless another has it; entered in ``roots``."""
    full = _full(path)
    for label, root in roots.items():
        if root == full:
            return label
    base = label = full.rstrip("/").rsplit("/", 1)[-1] or "corpus"
    number = 1
    while label in roots:
        number += 1
        label = f"{base}~{number}"
    roots[label] = full
    return label
