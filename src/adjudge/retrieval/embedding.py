"""Making the sentence vectors of a new generation: only new texts are embedded, and a killed build goes on.

What is embedded is appended to a journal beside the generations (``.embedding``), text hash and vector; the next
build takes it from there. The vectors of changed documents are looked up the same way: a sentence whose text stayed
the same keeps its vector.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from adjudge.encoders.embedder import Embedder, load_embedder
from adjudge.io.files import write_json
from adjudge.retrieval.index import Index
from adjudge.retrieval.storage import EMBEDDING, Manifest, VectorRecord, link_file
from adjudge.retrieval.vectors import (
    FOLDER,
    Segment,
    embedded_text,
    map_file,
    segment_files,
    sign_codes,
    text_key,
)

CHUNK = 8_192
"""Sentences read from the index together."""
PORTION = 1_024
"""Sentences embedded together, sorted by length, and then safe in the journal."""
SAMPLE = 128
"""Sentences whose rate gives the first estimate of the time."""
MAX_SEGMENTS = 8
"""More segments than these are written together into one."""
AUTOMATIC = 100_000
"""Sentences up to which an index gets vectors without being asked for them."""

Keys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.float16]
Range = tuple[int, int]
EmbeddingProgress = Callable[[int, int, float], None]
"""(sentences embedded, sentences to embed, seconds left)"""


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """Which vectors an index is to have.

    ``limit``: an index of more sentences gets none, unless it has them already; None: whatever the size.
    """

    embedder: str = "minilm"
    context: bool = False
    limit: int | None = None

    def load(self) -> Embedder:
        """The embedder on the CPU, in the precision that is fastest there."""
        return load_embedder(self.embedder)

    def identity(self, embedder: Embedder) -> dict[str, Any]:
        """What decides the vectors of an index."""
        return {**embedder.identity, "context": self.context}


Vectors = VectorSettings | Literal["keep", "drop"]
"""The vectors to make, or ``keep`` (those that the index has, or none) or ``drop``."""


def automatic_vectors() -> Vectors:
    """What an index gets without being asked: vectors if it is not large and MiniLM is at hand."""
    from adjudge.encoders.loading import has_embedded_minilm

    return VectorSettings(limit=AUTOMATIC) if has_embedded_minilm() else "keep"


def wanted_vectors(vectors: Vectors, manifest: Manifest, sentences: int) -> VectorSettings | None:
    """The vectors that an index of ``sentences`` sentences is to have."""
    record = manifest.vectors
    if record is not None and _keeps(vectors):
        return VectorSettings(record.embedder["name"], bool(record.embedder.get("context")))
    if isinstance(vectors, VectorSettings) and (vectors.limit is None or sentences <= vectors.limit):
        return vectors
    return None


def vectors_change(vectors: Vectors, manifest: Manifest) -> bool:
    """Whether an index whose documents are unchanged needs other vectors."""
    settings, record = wanted_vectors(vectors, manifest, manifest.sentences), manifest.vectors
    if settings is None or record is None:
        return (settings is None) != (record is None)
    return not _keeps(vectors) and settings.identity(settings.load()) != record.embedder


def _keeps(vectors: Vectors) -> bool:
    """Whether an index that has vectors is to keep them as they are."""
    return vectors == "keep" or (isinstance(vectors, VectorSettings) and vectors.limit is not None)


def clear_journal(root: Path) -> None:
    """Remove what a finished build no longer needs."""
    _remove(root / EMBEDDING)


@dataclass
class VectorBuild:
    """The vectors of a generation in the making.

    Args:
        root: the index.
        folder: the new generation, its documents committed.
        settings: which vectors.
        progress: called now and then.
    """

    root: Path
    folder: Path
    settings: VectorSettings
    progress: EmbeddingProgress = lambda done, total, seconds: None
    embedded: int = 0

    def run(
        self, old: Path | None, record: VectorRecord | None, removed: Sequence[Range], new: Range
    ) -> VectorRecord:
        """Write the vectors of the generation.

        Args:
            old: the generation before.
            record: its vectors; where they are of another kind, all sentences are embedded.
            removed: (first, end) numbers of sentences that are no longer in the index.
            new: (first, end) numbers of sentences that are new in it.
        """
        embedder = self.settings.load()
        identity = self.settings.identity(embedder)
        dimension = embedder.backbone.hidden_size
        (self.folder / FOLDER).mkdir()
        known = KnownVectors(dimension)
        segments = []
        if old is not None and record is not None and record.embedder == identity:
            for name in record.segments:
                if self._carry(Segment.open(old / FOLDER, name, dimension), removed, known):
                    segments.append(name)
        else:
            new = (0, new[1])
        with open_journal(self.root / EMBEDDING, identity, known) as journal:
            if self._embed(Index.unpublished(self.root, self.folder), new, embedder, known, journal):
                segments.append(self.folder.name)
        if len(segments) > MAX_SEGMENTS:
            segments = [self._merge(segments, dimension)]
        return VectorRecord(identity, dimension, segments)

    def _carry(self, segment: Segment, removed: Sequence[Range], known: KnownVectors) -> bool:
        """Take over a segment without the removed sentences, whose vectors stay known while this build lasts."""
        numbers = np.array(segment.numbers)
        is_removed = np.zeros(len(numbers), np.bool_)
        for bounds in removed:
            first, end = np.searchsorted(segment.ascending, bounds)
            is_removed[first:end] = numbers[first:end] >= 0
        known.add(segment.keys[is_removed], segment.vectors, np.flatnonzero(is_removed))
        numbers[is_removed] = -1
        live = int((numbers >= 0).sum())
        target = self.folder / FOLDER
        if not live:
            return False
        if 2 * live < len(numbers):
            with write_segment(target, segment.name) as writer:
                writer.append_rows(segment, np.flatnonzero(numbers >= 0))
            return True
        for path, copy in zip(segment.files, segment_files(target, segment.name), strict=True):
            if is_removed.any() and path == segment.files[0]:
                copy.write_bytes(numbers.tobytes())
            else:
                link_file(path, copy)
        return True

    def _embed(
        self, index: Index, new: Range, embedder: Embedder, known: KnownVectors, journal: RowFiles
    ) -> bool:
        """Write a segment for the new sentences; False where there are none."""
        total, began, measured, rows = new[1] - new[0], time.monotonic(), 0, 0
        with write_segment(self.folder / FOLDER, self.folder.name) as writer:
            for first in range(*new, CHUNK):
                sentences = index.numbered_sentences(first, min(first + CHUNK, new[1]))
                texts = [embedded_text(s.evidence(0.0), self.settings.context) for s in sentences]
                keys = np.array([text_key(text) for text in texts], np.uint64)
                vectors, missing = known.look_up(keys)
                for part in _portions(missing, small_first=not measured):
                    vectors[part] = embedder.embed([texts[row] for row in part]).astype(np.float16)
                    journal.append(vectors[part], keys[part])
                    measured += len(part)
                    done = first - new[0] + int(part[-1]) + 1
                    rate = measured / max(time.monotonic() - began, 1e-9)
                    self.progress(done, total, (total - done) / rate)
                self.embedded += len(missing)
                rows += len(texts)
                numbers = np.array([s.number for s in sentences], np.int64)
                writer.append(numbers, vectors, keys, sign_codes(vectors))
        return rows > 0

    def _merge(self, names: Sequence[str], dimension: int) -> str:
        """One segment in the place of many."""
        folder = self.folder / FOLDER
        merged = f"{self.folder.name}-merged"
        with write_segment(folder, merged) as writer:
            for name in names:
                segment = Segment.open(folder, name, dimension)
                writer.append_rows(segment, np.flatnonzero(segment.numbers >= 0))
        for name in names:
            for path in segment_files(folder, name):
                path.unlink()
        return merged


class KnownVectors:
    """Vectors by the hash of their text, in files that are mapped."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._sources: list[tuple[Keys, npt.NDArray[np.int64], Rows]] = []

    def add(self, keys: Keys, vectors: Rows, rows: npt.NDArray[np.int64]) -> None:
        """The vectors in these rows are those of texts with these hashes."""
        if len(keys):
            order = np.argsort(keys, kind="stable")
            self._sources.append((keys[order], rows[order], vectors))

    def look_up(self, keys: Keys) -> tuple[Rows, npt.NDArray[np.int64]]:
        """(n, d) vectors, and which of them are not known."""
        vectors = np.zeros((len(keys), self.dimension), np.float16)
        missing = np.ones(len(keys), np.bool_)
        for known, rows, source in self._sources:
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            here = np.flatnonzero(missing & (known[at] == keys))
            vectors[here] = source[rows[at[here]]]
            missing[here] = False
        return vectors, np.flatnonzero(missing)


class RowFiles:
    """Files to which rows are appended together, each a plain array."""

    def __init__(self, streams: Sequence[BinaryIO]) -> None:
        self._streams = streams

    def append(self, *arrays: npt.NDArray[Any]) -> None:
        """Add rows to every file; they are on disk when this returns."""
        for stream, array in zip(self._streams, arrays, strict=True):
            stream.write(np.ascontiguousarray(array).tobytes())
            stream.flush()
            os.fsync(stream.fileno())

    def append_rows(self, segment: Segment, rows: npt.NDArray[np.int64]) -> None:
        """Add rows of another segment."""
        for start in range(0, len(rows), CHUNK):
            part = rows[start : start + CHUNK]
            arrays = (segment.numbers, segment.vectors, segment.keys, segment.codes)
            self.append(*(array[part] for array in arrays))


@contextmanager
def write_segment(folder: Path, name: str) -> Iterator[RowFiles]:
    """The files of a new segment; none are left where no row was written."""
    paths = segment_files(folder, name)
    with ExitStack() as stack:
        yield RowFiles([stack.enter_context(path.open("xb")) for path in paths])
    if not paths[0].stat().st_size:
        for path in paths:
            path.unlink()


@contextmanager
def open_journal(folder: Path, identity: dict[str, Any], known: KnownVectors) -> Iterator[RowFiles]:
    """The journal of a build: what an interrupted one left becomes known, and more is added.

    A vector is written before its key, so that every whole key has its vector.
    """
    header, vectors, keys = folder / "embedder.json", folder / "vectors", folder / "keys"
    if folder.is_symlink() or _read_header(header) != identity:
        _remove(folder)
        folder.mkdir()
        write_json(header, identity)
    width = 2 * known.dimension
    with vectors.open("ab") as vector_stream, keys.open("ab") as key_stream:
        rows = min(vector_stream.tell() // width, key_stream.tell() // 8)
        vector_stream.truncate(rows * width)
        key_stream.truncate(rows * 8)
        if rows:
            left = map_file(vectors, np.float16, known.dimension)
            known.add(np.fromfile(keys, np.uint64), left, np.arange(rows))
        yield RowFiles([vector_stream, key_stream])


def _remove(folder: Path) -> None:
    """Remove a journal; of a link, which builds do not make, only the link."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _read_header(path: Path) -> Any:
    """What made a journal; None where that cannot be told."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _portions(rows: npt.NDArray[np.int64], small_first: bool) -> Iterator[npt.NDArray[np.int64]]:
    """Rows to embed together; a small portion first gives an early estimate."""
    start = 0
    while start < len(rows):
        end = start + (SAMPLE if small_first and not start else PORTION)
        yield rows[start:end]
        start = end
