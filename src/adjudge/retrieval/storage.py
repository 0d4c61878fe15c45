"""An index on disk: generations that never change once named, and one small file that names the current.

    manifest.json      format, version, the current generation, counts
    .lock              held while an index is written
    .embedding/        vectors of a build that was interrupted
    g00000003/         pages/ and sentences/ (tantivy), vectors/, and sources.jsonl (what is in them)

A build works on a copy of the current generation (hard links: segment files are never rewritten) and ends
by replacing manifest.json, one atomic step. Whatever interrupts it, the old generation stays as it was.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from adjudge.data.documents import Problem, printable
from adjudge.errors import AdjudgeError, DataError
from adjudge.io.files import write_atomic
from adjudge.io.jsonl import BAD_JSON
from adjudge.io.system import is_disk_full, system_reason, unusable
from adjudge.io.temporary import report_full_disk
from adjudge.retrieval.parts import LISTS, PANIC

FORMAT = "adjudge-index"
VERSION = 4

MANIFEST = "manifest.json"
EMBEDDING = ".embedding"
SOURCES = "sources.jsonl"
_GENERATION = re.compile(r"(g[0-9]{8,12})?")
_SEGMENT = re.compile(r"g[0-9]{8,12}(-merged)?")


class IndexUnusable(DataError):
    """A folder is not an index that can be used."""


class IndexOutdated(IndexUnusable):
    """An index was made by another version of adjudge."""


class IndexLocked(AdjudgeError, RuntimeError):
    """Another process is writing the index."""


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """What an index says about its sentence vectors."""

    embedder: dict[str, Any]
    """Name, hash of the weights, most tokens of a text, and whether pronouns are given context."""
    dimension: int
    segments: list[str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index says about itself."""

    format: str = FORMAT
    version: int = VERSION
    generation: str = ""
    pages: int = 0
    sentences: int = 0
    roots: dict[str, str] = field(default_factory=dict)
    """Name of each corpus → its full path."""
    numbers: int = 0
    """Sentences are numbered as they are added; the number that the next one gets."""
    vectors: VectorRecord | None = None


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file whose pages are in the index, as it was when it was read."""

    source: str
    root: str
    size: int
    mtime_ns: int
    ctime_ns: int
    read_ns: int
    sha256: str
    pages: int
    sentences: int
    first: int
    """The number of its first sentence; the others follow it."""
    problems: tuple[Problem, ...] = ()
    """What was left out of it, the first ones: who opens the index again hears of them too."""


def read_manifest(path: Path) -> Manifest:
    """The manifest of an index; ``DataError`` when the folder is none, or of another version."""
    try:
        if stat.S_ISFIFO((path / MANIFEST).stat().st_mode):
            raise IndexUnusable(f"{path / MANIFEST}: is a pipe, expected a file. Choose another folder.")
        raw = (path / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        state = "is not an index (no manifest.json in it)" if path.exists() else "no such index"
        raise IndexUnusable(f"{path}: {state}. Make one: adjudge index DOCUMENTS --out {path}") from None
    except OSError as error:
        raise IndexUnusable(f"{path}: cannot be read ({error.strerror}).") from None
    try:
        record = msgspec.json.decode(raw)
    except BAD_JSON:
        record = None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise IndexUnusable(f"{path}: manifest.json is not that of an adjudge index. Choose another folder.")
    if record.get("version") != VERSION:
        raise IndexOutdated(
            f"{path}: index format {record.get('version')!r}, this version of adjudge reads {VERSION}.\n"
            f"Delete the folder and index the documents again."
        )
    try:
        return _checked(msgspec.convert(record, Manifest))
    except (msgspec.ValidationError, ValueError) as error:
        raise IndexUnusable(f"{path}: damaged manifest.json ({error}). Index the documents again.") from None


def _checked(manifest: Manifest) -> Manifest:
    """A manifest whose names are such as builds give: others could lead out of the index."""
    if not _GENERATION.fullmatch(manifest.generation):
        raise ValueError(f"generation {manifest.generation[:80]!r}")
    if manifest.vectors is not None:
        wrong = [name for name in manifest.vectors.segments if not _SEGMENT.fullmatch(name)]
        if wrong:
            raise ValueError(f"segment {wrong[0][:80]!r}")
        if not isinstance(manifest.vectors.embedder.get("name"), str):
            raise ValueError("vectors of an embedder without a name")
        if manifest.vectors.dimension < 1:
            raise ValueError(f"vectors of {manifest.vectors.dimension} numbers")
    return manifest


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Name the current generation: the step that makes a build visible."""
    with write_atomic(path / MANIFEST) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(manifest), indent=2))
    _sync_folder(path)


def read_sources(folder: Path) -> dict[str, IndexedFile]:
    """The sources of a generation by path."""
    decode = msgspec.json.Decoder(IndexedFile).decode
    try:
        with open(folder / SOURCES, "rb") as stream:
            return {source.source: source for source in map(decode, stream)}
    except (OSError, *BAD_JSON) as error:
        advice = "" if system_reason(error) else " Index the documents again."
        raise IndexUnusable(f"{folder / SOURCES}: {unusable('', error)}.{advice}") from None


def write_sources(folder: Path, sources: Iterable[IndexedFile]) -> None:
    """Write the sources of a generation that is not yet current."""
    with write_atomic(folder / SOURCES) as stream:
        for source in sources:
            stream.write(msgspec.json.encode(source) + b"\n")


@contextmanager
def open_for_writing(path: Path) -> Iterator[Manifest]:
    """Hold the lock of an index and give its manifest, an empty one for an index to be made."""
    check_name(path)
    if path.exists() and not (path / MANIFEST).exists():
        if not path.is_dir() or any(not _is_ours(entry.name) for entry in path.iterdir()):
            raise IndexUnusable(f"{path}: exists and is not an index. Choose another folder for the index.")
    is_new = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IndexUnusable(f"{path}: cannot be made ({error.strerror}).") from None
    with report_full_disk(path), lock_index(path):
        manifest = read_manifest(path) if (path / MANIFEST).exists() else Manifest()
        remove_stale(path, manifest.generation)
        try:
            yield manifest
        finally:
            if is_new and os.listdir(path) == [".lock"]:  # nothing was made
                shutil.rmtree(path, ignore_errors=True)


@contextmanager
def report_damage(path: Path) -> Iterator[None]:
    """Turn what is raised where the files of an index are not what was written into ``IndexUnusable``.

    Tantivy raises ``ValueError``, or panics, which is no ``Exception``; what it gives back may not be decoded.
    """
    try:
        yield
    except (ValueError, LookupError, RuntimeError, msgspec.MsgspecError) as error:
        if isinstance(error, AdjudgeError) or is_disk_full(error):
            raise
        raise IndexUnusable(damage_message(path, error)) from None
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        raise IndexUnusable(damage_message(path, error)) from None


def damage_message(path: Path, error: BaseException) -> str:
    """What is said of an index that cannot be used: to delete it only where its files are not what was written."""
    if isinstance(error, PermissionError) or "PermissionDenied" in str(error):
        return f"{path}: cannot be read (permission denied). Ask its owner for access."
    if (reason := system_reason(error)) is not None:
        return (
            f"{path}: cannot be read or written ({reason}). It is as it was before, and may well be whole: see to the "
            "disk, or to the limit that was reached, and try again."
        )
    return f"{path}: damaged index ({error}). Delete the folder and index again."


def check_name(path: Path) -> None:
    """Tantivy takes only paths that are UTF-8."""
    if printable(path) != str(path):
        raise IndexUnusable(
            f"{printable(path)}: the path of an index must be UTF-8. Choose another place for it."
        )


def _is_ours(name: str) -> bool:
    """What an interrupted first build leaves behind."""
    return (
        name in (".lock", EMBEDDING)
        or name.startswith(f".{MANIFEST}.")
        or (name[:1] == "g" and name[1:].isdigit())
    )


def remove_stale(path: Path, current: str) -> None:
    """Remove what killed builds left: their generation, or the one before theirs. Vectors they made stay."""
    for stale in path.iterdir():
        if _is_ours(stale.name) and stale.name not in (".lock", EMBEDDING, current):
            shutil.rmtree(stale) if stale.is_dir() and not stale.is_symlink() else stale.unlink()


def next_generation(path: Path, current: str, copy: bool = True) -> Path:
    """A new generation's folder, a copy of the current one or empty."""
    folder = path / f"g{int(current[1:] or 0) + 1:08d}"
    for part in ("pages", "sentences"):
        (folder / part).mkdir(parents=True)
        for file in (path / current / part).iterdir() if current and copy else ():
            if file.name in LISTS:
                shutil.copyfile(file, folder / part / file.name)
            elif not file.name.endswith(".lock"):
                link_file(file, folder / part / file.name)
    return folder


def link_file(file: Path, target: Path) -> None:
    """A second name for a file that is never rewritten; a copy where the file system has no hard links."""
    try:
        os.link(file, target)
    except OSError:
        shutil.copyfile(file, target)


def _sync_folder(path: Path) -> None:
    if sys.platform != "win32":
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def lock_index(path: Path) -> Iterator[None]:
    """Hold the index's lock; the system frees it when the process ends, however it ends."""
    lock = FileLock(path / ".lock", blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise IndexLocked(f"{path}: another process is writing this index. Wait until it is done.") from None
    try:
        yield
    finally:
        lock.release()
