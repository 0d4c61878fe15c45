"""A corpus by its path: an index, or documents that are indexed on first use and kept in step."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.documents import Report, printable
from adjudge.errors import ConfigError, DataError
from adjudge.retrieval.build import ProgressCallback, build_index
from adjudge.retrieval.index import Index
from adjudge.retrieval.storage import (
    FORMAT,
    MANIFEST,
    IndexLocked,
    IndexUnusable,
    read_manifest,
    read_sources,
)

CACHE = ".adjudge-index"

_LOCK_SECONDS = 30.0


def open_corpus(
    path: str | os.PathLike[str], progress: ProgressCallback | None = None, report: Report | None = None
) -> Index:
    """Open an index, or the index of a folder or file of documents.

    Documents are indexed into a hidden folder beside them (:func:`cache_of`) when they are first used, and
    that index is brought up to date whenever they are opened again. ``report`` hears of what was skipped.
    """
    path = Path(path)
    if _is_index(path):
        return Index.open(path)
    if not path.exists():
        raise DataError(f"{printable(path)}: no such index, folder or file.")
    cache = cache_of(path)
    _bring_up_to_date(path, cache, progress, report)
    return Index.open(cache)


def _is_index(path: Path) -> bool:
    """Whether a folder is an index, whole or damaged; a web site's folder may hold a manifest.json too."""
    if not (path / MANIFEST).is_file():
        return False
    try:
        found = msgspec.json.decode((path / MANIFEST).read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        found = {}
    return found.get("format") == FORMAT or (path / ".lock").exists()


def cache_of(path: Path) -> Path:
    """Where the index of documents is kept: beside them, or in the user's cache where that cannot be.

    It cannot be in a place that is read-only, or whose path is not UTF-8.

    ``documents/`` → ``documents/.adjudge-index``; ``notes.txt`` → ``.notes.txt.adjudge-index``.
    """
    path = Path(os.path.abspath(path))
    beside = path / CACHE if path.is_dir() else path.parent / f".{path.name}{CACHE}"
    spelt = printable(beside) == str(beside)
    if spelt and os.access(beside if beside.exists() else beside.parent, os.W_OK):
        return beside
    from platformdirs import user_cache_path

    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return user_cache_path("adjudge") / "indexes" / name


def fingerprint(index: Index) -> str:
    """A hash of what an index holds: the same documents, the same hash, whenever they were indexed.

    To be asked for when the index is opened: a build may remove the list of documents later.
    """
    try:
        sources = read_sources(index.path / index.manifest.generation)
    except IndexUnusable:
        if read_manifest(index.path).generation == index.manifest.generation:
            raise
        raise ConfigError(f"{index.path}: another process has just changed the index. Try again.") from None
    digest = hashlib.sha256(f"{index.manifest.pages} {index.manifest.sentences}".encode())
    for name in sorted(sources):
        digest.update(f"\n{name}\0{sources[name].sha256}".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _bring_up_to_date(
    path: Path, cache: Path, progress: ProgressCallback | None, report: Report | None
) -> None:
    """Index what is new; another process that is just doing so is waited for."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            build_index([path], cache, progress=progress, remove=_other_roots(path, cache), report=report)
            return
        except IndexLocked:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _other_roots(path: Path, cache: Path) -> list[str]:
    """What the index held where it was copied or moved from with its documents: no part of this corpus."""
    if not (cache / MANIFEST).is_file():
        return []
    here = printable(os.path.abspath(path))
    return [root for root in read_manifest(cache).roots.values() if root != here]
