"""A corpus by its path: an index, or documents that are indexed on first use and kept in step."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.documents import Problem, ProblemReport, printable
from adjudge.errors import DataError
from adjudge.io.cache import user_cache
from adjudge.io.jsonl import BAD_JSON
from adjudge.retrieval.build import build_index
from adjudge.retrieval.embedding import Vectors, automatic_vectors
from adjudge.retrieval.index import Index
from adjudge.retrieval.progress import ProgressCallback
from adjudge.retrieval.storage import (
    FORMAT,
    MANIFEST,
    IndexLocked,
    IndexOutdated,
    lock_index,
    read_manifest,
)

CACHE = ".adjudge-index"

_LOCK_SECONDS = 30.0


def open_corpus(
    path: str | os.PathLike[str],
    progress: ProgressCallback | None = None,
    report: ProblemReport | None = None,
    by_meaning: bool = True,
) -> Index:
    """Open an index, or the index of a folder or file of documents.

    Documents are indexed into a hidden folder beside them (:func:`cache_of`) when they are first used, and
    that index is brought up to date whenever they are opened again. ``report`` is called with every problem.
    Documents that are not very many get sentence vectors, unless ``by_meaning`` is False.
    """
    path = Path(path)
    if _is_index(path):
        return Index.open(path)
    if not path.exists():
        raise DataError(f"{printable(path)}: no such index, folder or file.")
    cache = cache_of(path)
    vectors = automatic_vectors() if by_meaning else "keep"
    problems: list[Problem] = []

    def record_problem(problem: Problem) -> None:
        problems.append(problem)
        if report:
            report(problem)

    _bring_up_to_date(path, cache, progress, record_problem, vectors)
    index = Index.open(cache)
    skipped = [problem for problem in problems if problem.skipped]
    if skipped and not index.manifest.sentences:
        more = f" And {len(skipped) - 1:,} more." if len(skipped) > 1 else ""
        raise DataError(f"{printable(path)}: none of its documents can be read. {skipped[0]}{more}")
    return index


def _is_index(path: Path) -> bool:
    """Whether a folder is an index, whole or damaged; a web site's folder may hold a manifest.json too."""
    if not (path / MANIFEST).is_file():
        return False
    try:
        manifest = msgspec.json.decode((path / MANIFEST).read_bytes(), type=dict[str, Any])
    except (OSError, *BAD_JSON):
        manifest = {}
    return manifest.get("format") == FORMAT or (path / ".lock").exists()


def cache_of(path: Path) -> Path:
    """Where the index of documents is kept: beside them, or in the user's cache where that cannot be.

    It cannot be in a place that is read-only, or whose path is not UTF-8, nor where a link of that name leads: to an
    index of other documents, perhaps, which would leave it. Without a home that can be written, the system's place for
    temporary files serves.

    ``documents/`` → ``documents/.adjudge-index``; ``notes.txt`` → ``.notes.txt.adjudge-index``.
    """
    path = Path(os.path.abspath(path))
    beside = path / CACHE if path.is_dir() else path.parent / f".{path.name}{CACHE}"
    usable = printable(beside) == str(beside) and not beside.is_symlink()
    if usable and os.access(beside if beside.exists() else beside.parent, os.W_OK):
        return beside
    return user_cache("indexes") / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def _bring_up_to_date(
    path: Path, cache: Path, progress: ProgressCallback | None, report: ProblemReport | None, vectors: Vectors
) -> None:
    """Index what is new; another process that is just doing so is waited for."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            _drop_outdated(cache)
            others = _other_roots(path, cache)
            build_index([path], cache, progress, remove=others, report=report, vectors=vectors)
            return
        except IndexLocked:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _drop_outdated(cache: Path) -> None:
    """Let an index that another version kept beside the documents be made again: its text stands in them."""
    try:
        read_manifest(cache)
    except IndexOutdated:
        with lock_index(cache):
            try:
                read_manifest(cache)
            except IndexOutdated:
                (cache / MANIFEST).unlink()
    except DataError:
        pass  # there is none yet, or the build says what is wrong with it


def _other_roots(path: Path, cache: Path) -> list[str]:
    """What the index held where it was copied or moved from with its documents: no part of this corpus."""
    if not (cache / MANIFEST).is_file():
        return []
    here = printable(os.path.abspath(path))
    return [root for root in read_manifest(cache).roots.values() if root != here]
