"""Making an index, and keeping it in step with its documents without starting again."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from adjudge.data.documents import (
    Problem,
    ProblemReport,
    SourceFile,
    Unreadable,
    printable,
    read_pages,
    strict_report,
    walk,
)
from adjudge.data.documents.files import MAX_PROBLEMS
from adjudge.errors import DataError
from adjudge.io.files import sha256
from adjudge.io.system import is_limit
from adjudge.retrieval.embedding import (
    VectorBuild,
    Vectors,
    VectorSettings,
    clear_journal,
    vectors_change,
    wanted_vectors,
)
from adjudge.retrieval.index import Writer, compact
from adjudge.retrieval.progress import IndexReport, Meter, ProgressCallback
from adjudge.retrieval.storage import (
    MANIFEST,
    IndexedFile,
    IndexUnusable,
    Manifest,
    next_generation,
    open_for_writing,
    read_manifest,
    read_sources,
    report_damage,
    write_manifest,
    write_sources,
)
from adjudge.types import Page

_RACY_NS = 2_000_000_000
"""A file changed this shortly before it was read may change again within the clock's resolution."""
KEPT_PROBLEMS = MAX_PROBLEMS + 1
"""Problems of a file that are kept with it: all that is said of its records, the last one how many more there are."""


Paths = Iterable[str | os.PathLike[str]]


def build_index(
    paths: Paths,
    out: str | os.PathLike[str],
    progress: ProgressCallback | None = None,
    strict: bool = False,
    remove: Paths = (),
    report: ProblemReport | None = None,
    vectors: Vectors = "keep",
) -> IndexReport:
    """Make the index at ``out``, or bring it in step with the files and folders in ``paths``.

    Files that are new or changed are read; those that have gone from a folder named leave the index. Folders
    indexed earlier and not named now stay, unless they are in ``remove``. Searches see the old state until
    the new one is complete. With ``strict`` the first bad file raises ``DataError`` and changes nothing.
    ``vectors`` says which sentence vectors the index is to have; by default those that it has, or none.
    """
    meter = Meter(time.monotonic(), progress)
    out = Path(out)
    problems: list[Problem] = []

    def record_problem(problem: Problem) -> None:
        problems.append(problem)
        if report:
            report(problem)

    reporter = strict_report(strict, record_problem)
    with open_for_writing(out) as manifest:
        known = read_sources(out / manifest.generation) if manifest.generation else {}
        plan = _plan(list(paths), list(remove), manifest, known, out, reporter)
        sources = known
        if plan.changes(manifest) or vectors_change(vectors, manifest):
            manifest, sources = _carry_out(plan, manifest, known, out, reporter, meter, vectors)
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
        embedded_sentences=meter.new_vectors,
        vectors=manifest.vectors is not None,
        seconds=time.monotonic() - meter.began,
        problems=tuple(problems),
    )


def index_pages(
    pages: Iterable[Page],
    out: str | os.PathLike[str],
    progress: ProgressCallback | None = None,
    vectors: VectorSettings | None = None,
) -> IndexReport:
    """Make an index of pages that come from elsewhere than files; what was at ``out`` is replaced."""
    meter = Meter(time.monotonic(), progress)
    out = Path(out)
    with open_for_writing(out) as manifest:
        with _generation(out, manifest.generation, copy=False) as (folder, writer):
            for page in pages:
                writer.add(page, page.source or "")
                meter.count(page)
            writer.commit()
            record = None
            if vectors is not None:
                build = VectorBuild(out, folder, vectors, meter.report_embedding)
                record = build.run(None, None, (), (0, writer.numbers))
                meter.new_vectors = build.embedded
            write_sources(folder, ())
            new = Manifest(
                generation=folder.name,
                pages=meter.pages,
                sentences=meter.sentences,
                numbers=writer.numbers,
                vectors=record,
            )
            write_manifest(out, new)
            clear_journal(out)
    meter.report()
    return IndexReport(
        path=str(out),
        pages=meter.pages,
        sentences=meter.sentences,
        indexed_sentences=meter.sentences,
        embedded_sentences=meter.new_vectors,
        vectors=record is not None,
        seconds=time.monotonic() - meter.began,
    )


@dataclass
class _BuildPlan:
    """What a build has to do: files to read, sources to drop, sources of which only the date is new."""

    roots: dict[str, str]
    read: list[SourceFile] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    drop: list[str] = field(default_factory=list)
    retimed: list[IndexedFile] = field(default_factory=list)
    unchanged: int = 0

    def changes(self, manifest: Manifest) -> bool:
        """Whether there is anything to do."""
        if self.read or self.drop or self.retimed:
            return True
        return self.roots != manifest.roots or not manifest.generation


def _plan(
    paths: list[str | os.PathLike[str]],
    remove: list[str | os.PathLike[str]],
    manifest: Manifest,
    known: dict[str, IndexedFile],
    out: Path,
    report: ProblemReport,
) -> _BuildPlan:
    roots = dict(manifest.roots)
    swept = {_root_label(path, roots) for path in remove}
    plan = _BuildPlan({label: root for label, root in roots.items() if label not in swept})
    for path in paths:
        label = _new_label(path, plan.roots)
        swept.add(label)
        for file in walk(Path(path), report, label=label, exclude=out):
            if file.source not in plan.labels:  # a folder and a file in it may both be named
                plan.labels[file.source] = label
                if (unchanged := _sort(file, label, known.get(file.source), plan)) is not None:
                    for problem in unchanged.problems:
                        report(problem)
    plan.drop = [name for name, source in known.items() if source.root in swept and name not in plan.labels]
    return plan


def _sort(file: SourceFile, label: str, known: IndexedFile | None, plan: _BuildPlan) -> IndexedFile | None:
    """Decide what to do with a file, by size and date or else by content; gives what is known of one that stays."""
    if known is None or known.root != label or file.size != known.size:
        plan.read.append(file)
        return None
    if _times(file) == _times(known) and max(_times(known)) + _RACY_NS < known.read_ns:
        plan.unchanged += 1
    elif _digest(file) == known.sha256:
        plan.unchanged += 1
        if _times(file) != _times(known) or max(_times(file)) + _RACY_NS < time.time_ns():
            now = time.time_ns()
            plan.retimed.append(replace(known, mtime_ns=file.mtime_ns, ctime_ns=file.ctime_ns, read_ns=now))
    else:
        plan.read.append(file)
        return None
    return known


def _carry_out(
    plan: _BuildPlan,
    manifest: Manifest,
    known: dict[str, IndexedFile],
    out: Path,
    report: ProblemReport,
    meter: Meter,
    vectors: Vectors,
) -> tuple[Manifest, dict[str, IndexedFile]]:
    meter.files_total, meter.bytes_total = len(plan.read), sum(file.size for file in plan.read)
    sources = dict(known)
    sources.update((source.source, source) for source in plan.retimed)
    with _generation(out, manifest.generation, numbers=manifest.numbers) as (folder, writer):
        for name in plan.drop:
            writer.remove(name)
            del sources[name]
        for file in plan.read:
            if sources.pop(file.source, None):
                writer.remove(file.source)
            try:
                sources[file.source] = _read(file, plan.labels[file.source], writer, report, meter)
            except Unreadable as error:
                writer.remove(file.source)  # what was read of it before it failed
                report(error.problem)
            meter.count_file(file.size)
        writer.commit()
        if writer.has_removed:
            compact(folder)
        sentences = sum(source.sentences for source in sources.values())
        record, settings = None, wanted_vectors(vectors, manifest, sentences)
        if settings is not None:
            removed = [(old.first, old.first + old.sentences) for old in _removed_sources(known, sources)]
            build = VectorBuild(out, folder, settings, meter.report_embedding)
            new_numbers = (manifest.numbers, writer.numbers)
            record = build.run(out / manifest.generation, manifest.vectors, removed, new_numbers)
            meter.new_vectors = build.embedded
        write_sources(folder, sources.values())
        new = Manifest(
            generation=folder.name,
            pages=sum(source.pages for source in sources.values()),
            sentences=sentences,
            roots=plan.roots,
            numbers=writer.numbers,
            vectors=record,
        )
        write_manifest(out, new)
        clear_journal(out)
    return new, sources


def _read(file: SourceFile, label: str, writer: Writer, report: ProblemReport, meter: Meter) -> IndexedFile:
    try:
        digest = sha256(file.path)
    except OSError as error:
        if is_limit(error):
            raise
        raise Unreadable(Problem(file.source, f"cannot be read ({error.strerror}).")) from None
    pages = sentences = 0
    first = writer.numbers
    problems: list[Problem] = []

    def record_problem(problem: Problem) -> None:
        if problem.skipped and len(problems) < KEPT_PROBLEMS:
            problems.append(problem)
        report(problem)

    for page in read_pages(file, record_problem):
        writer.add(page, file.source)
        meter.count(page)
        pages, sentences = pages + 1, sentences + len(page.sentences)
    return IndexedFile(
        file.source,
        label,
        file.size,
        file.mtime_ns,
        file.ctime_ns,
        time.time_ns(),
        digest,
        pages,
        sentences,
        first,
        tuple(problems),
    )


def _times(file: SourceFile | IndexedFile) -> tuple[int, int]:
    """When a file was last written, which anyone can set to another time, and last changed, which nobody can."""
    return file.mtime_ns, file.ctime_ns


def _removed_sources(known: dict[str, IndexedFile], sources: dict[str, IndexedFile]) -> Iterator[IndexedFile]:
    """Sources whose sentences are no longer in the index."""
    for name, source in known.items():
        if name not in sources or sources[name].first != source.first:
            yield source


def _digest(file: SourceFile) -> str | None:
    try:
        return sha256(file.path)
    except OSError as error:
        if is_limit(error):
            raise
        return None


@contextmanager
def _generation(
    out: Path, current: str, copy: bool = True, numbers: int = 0
) -> Iterator[tuple[Path, Writer]]:
    """A new generation to write in; removed again when the block fails before it is named, otherwise the old one is."""
    folder = next_generation(out, current, copy)
    writer: Writer | None = None
    try:
        with report_damage(out):
            writer = Writer(folder, numbers)
        yield folder, writer
    except BaseException:
        if writer is not None:
            writer.abandon()
        if not _is_named(out, folder.name):
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if current:
        shutil.rmtree(out / current, ignore_errors=True)  # searches that have it open keep it open


def _is_named(out: Path, generation: str) -> bool:
    """Whether the manifest names a generation: the disk may fail, or the user interrupt, right after that step."""
    try:
        return read_manifest(out).generation == generation
    except IndexUnusable:
        return (out / MANIFEST).exists()  # which cannot be read now; the next build removes what is too much


def _full_path(path: str | os.PathLike[str]) -> str:
    return printable(os.path.abspath(path))


def _root_label(path: str | os.PathLike[str], roots: dict[str, str]) -> str:
    for label, root in roots.items():
        if root == _full_path(path):
            return label
    labels = ", ".join(roots.values()) or "nothing"
    raise DataError(
        f"{printable(path)}: is not a folder or file that was indexed here; the index holds {labels}."
    )


def _new_label(path: str | os.PathLike[str], roots: dict[str, str]) -> str:
    """The name under which a corpus is indexed, its own unless another has it; entered in ``roots``."""
    full = _full_path(path)
    for label, root in roots.items():
        if root == full:
            return label
    base = label = full.rstrip("/").rsplit("/", 1)[-1] or "corpus"
    suffix = 1
    while label in roots:
        suffix += 1
        label = f"{base}~{suffix}"
    roots[label] = full
    return label
