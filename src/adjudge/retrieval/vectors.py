"""Sentence vectors of an index: memory-mapped half precision, searched exactly; very many, by their signs first.

    g00000003/vectors/g00000002.numbers   (n,) int64, the number of each row's sentence, ascending; −1: removed
    g00000003/vectors/g00000002.vectors   (n, d) float16, unit rows
    g00000003/vectors/g00000002.keys      (n,) uint64, a hash of each text that was embedded
    g00000003/vectors/g00000002.codes     (n, d / 64) uint64, a bit for each number of a vector: whether it is positive

Plain arrays without a header. A segment's vectors are written once and shared by later generations (hard links); its
numbers are written again when documents are removed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from adjudge.data.text import clean_text, evidence_title
from adjudge.errors import ConfigError
from adjudge.io.cores import available_threads
from adjudge.retrieval.storage import VectorRecord
from adjudge.types import Evidence

FOLDER = "vectors"
SEARCH_ROWS = 16_384
"""Rows compared at a time: single precision in 25 MB for 384 dimensions."""

EXACT_ROWS = 250_000
"""Rows up to which every one is compared; of more, those whose signs are nearest to the query's."""
FEW_QUERIES = 4
"""Queries that are compared one by one; more of them as one product of matrices."""
OVERSAMPLE = 40
"""Rows compared for each one asked for, where signs come first."""

Floats = npt.NDArray[np.float32]


class Hits(NamedTuple):
    """Sentence numbers of the most similar rows with their cosines, best first."""

    numbers: npt.NDArray[np.int64]
    cosines: Floats


NO_HITS = Hits(np.empty(0, np.int64), np.empty(0, np.float32))
PARTS = ("numbers", "vectors", "keys", "codes")


@dataclass(frozen=True)
class Segment:
    """Some rows of an index's vectors."""

    files: tuple[Path, Path, Path, Path]
    name: str
    numbers: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float16]
    keys: npt.NDArray[np.uint64]
    codes: npt.NDArray[np.uint64]

    @classmethod
    def open(cls, folder: Path, name: str, dimension: int) -> Segment:
        """Map the files of a segment."""
        paths = numbers, vectors, keys, codes = segment_files(folder, name)
        segment = cls(
            paths,
            name,
            map_file(numbers, np.int64),
            map_file(vectors, np.float16, dimension),
            map_file(keys, np.uint64),
            map_file(codes, np.uint64, -(-dimension // 64)),
        )
        parts = (segment.vectors, segment.keys, segment.codes)
        if any(len(part) != len(segment.numbers) for part in parts):
            raise ValueError(f"{vectors.name} and its numbers differ in length")
        return segment

    @property
    def live(self) -> npt.NDArray[np.bool_]:
        """(n,) which rows belong to a sentence of the index."""
        live: npt.NDArray[np.bool_] = self.numbers >= 0
        return live

    @cached_property
    def ascending(self) -> npt.NDArray[np.int64]:
        """(n,) the numbers, a removed one replaced by that before it, so that they can be searched."""
        ascending: npt.NDArray[np.int64] = np.maximum.accumulate(self.numbers)
        return ascending

    def rows(self, numbers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(which of ``numbers`` are here, their rows); a removed sentence is nowhere."""
        at = np.minimum(np.searchsorted(self.ascending, numbers), len(self.numbers) - 1)
        here = np.flatnonzero(self.numbers[at] == numbers)
        return here, at[here]


@dataclass(frozen=True)
class SentenceVectors:
    """The vectors of an opened index."""

    record: VectorRecord
    segments: tuple[Segment, ...]

    @classmethod
    def open(cls, generation: Path, record: VectorRecord) -> SentenceVectors:
        """Map the vectors of a generation."""
        folder = generation / FOLDER
        return cls(record, tuple(Segment.open(folder, name, record.dimension) for name in record.segments))

    def __len__(self) -> int:
        return sum(int(segment.live.sum()) for segment in self.segments)

    def check(self, identity: Mapping[str, Any]) -> None:
        """Refuse an embedder other than the one that made the vectors."""
        ours = {name: self.record.embedder.get(name) for name in identity}
        if ours != dict(identity):
            raise ConfigError(
                f"The index's vectors were made by another embedder ({ours}), this one is {dict(identity)}.\n"
                "Index the documents again with the embedder that is to be used (adjudge index --embedder)."
            )

    def search(self, queries: Floats, k: int) -> list[Hits]:
        """The ``k`` sentences most similar to each query (q, d): exactly, or nearly so where there are very many."""
        rows = sum(len(segment.numbers) for segment in self.segments)
        if rows > EXACT_ROWS and has_native():
            return [self.search_signs(query, k) for query in queries]
        return self.search_exactly(queries, k)

    def search_exactly(self, queries: Floats, k: int) -> list[Hits]:
        """The ``k`` sentences most similar to each query (q, d), every one compared."""
        best = [NO_HITS for _ in queries]
        for segment in self.segments:
            for start in range(0, len(segment.numbers), SEARCH_ROWS):
                numbers = np.asarray(segment.numbers[start : start + SEARCH_ROWS])
                cosines = similarities(segment.vectors[start : start + SEARCH_ROWS], queries)  # (rows, q)
                cosines[numbers < 0] = -np.inf
                best = [_merge(hits, numbers, cosines[:, q], k) for q, hits in enumerate(best)]
        return [_sort_hits(hits) for hits in best]

    def search_signs(self, query: Floats, k: int) -> Hits:
        """The ``k`` most similar to a query (d,) of the sentences whose signs differ least from its own."""
        best = NO_HITS
        for segment in self.segments:
            rows = nearest_codes(segment.codes, sign_codes(query[None])[0], OVERSAMPLE * k)
            numbers = segment.numbers[rows]
            cosines = segment.vectors[rows].astype(np.float32) @ query
            best = _merge(best, numbers, np.where(numbers < 0, -np.inf, cosines), k)
        return _sort_hits(best)

    def cosines(self, query: Floats, numbers: Sequence[int]) -> Floats:
        """The similarity of a query (d,) to sentences by number; 0 where there is no vector."""
        wanted = np.asarray(numbers, np.int64)
        result = np.zeros(len(wanted), np.float32)
        for segment in self.segments if len(wanted) else ():
            here, rows = segment.rows(wanted)
            result[here] = segment.vectors[rows].astype(np.float32) @ query
        return result


def segment_files(folder: Path, name: str) -> tuple[Path, Path, Path, Path]:
    """Numbers, vectors, keys and codes of a segment."""
    first, second, third, fourth = (folder / f"{name}.{part}" for part in PARTS)
    return first, second, third, fourth


def map_file(path: Path, kind: Any, width: int | None = None) -> npt.NDArray[Any]:
    """A plain array on disk, of rows of ``width`` numbers; ``ValueError`` where it holds no whole rows."""
    flat = np.memmap(path, kind, "r")
    return flat if width is None else flat.reshape(-1, width)


def has_native() -> bool:
    """Whether the native library can search."""
    from adjudge.encoders.native import native

    library = native().library
    return library is not None and bool(library.adjudge_has_half())


def similarities(rows: npt.NDArray[np.float16], queries: Floats) -> Floats:
    """(n, d), (q, d) → (n, q) products, summed in single precision."""
    from adjudge.encoders.native import native

    if len(queries) > FEW_QUERIES or queries.shape[1] % 16 or not has_native():
        products: Floats = rows.astype(np.float32) @ np.asarray(queries, np.float32).T
        return products
    products = np.empty((len(queries), len(rows)), np.float32)
    for query, result in zip(np.ascontiguousarray(queries), products, strict=True):
        native().library.adjudge_half_products(
            rows.ctypes.data, query.ctypes.data, result.ctypes.data, *rows.shape, available_threads()
        )
    return products.T


def nearest_codes(
    codes: npt.NDArray[np.uint64], query: npt.NDArray[np.uint64], wanted: int
) -> npt.NDArray[np.int64]:
    """The rows of (n, w) that differ from a query (w,) in the fewest bits, about ``wanted`` of them."""
    from adjudge.encoders.native import native

    nearest = np.empty(2 * wanted, np.int64)
    addresses = (codes.ctypes.data, query.ctypes.data, nearest.ctypes.data)
    count = native().library.adjudge_nearest_codes(
        *addresses, *codes.shape, wanted, len(nearest), available_threads()
    )
    return nearest[:count]


def sign_codes(vectors: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """(n, d) → (n, d / 64): a bit for each number, set where it is positive."""
    bits = np.packbits(vectors > 0, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64)


def _merge(hits: Hits, numbers: npt.NDArray[np.int64], cosines: Floats, k: int) -> Hits:
    """The best ``k`` of some hits and some more rows, in no order."""
    cosines = np.concatenate([hits.cosines, cosines])
    numbers = np.concatenate([hits.numbers, numbers])
    if len(cosines) > k:
        nearest = np.argpartition(-cosines, k - 1)[:k]
        numbers, cosines = numbers[nearest], cosines[nearest]
    return Hits(numbers, cosines)


def _sort_hits(hits: Hits) -> Hits:
    """Best first, equal ones by number; removed rows left out."""
    order = np.lexsort((hits.numbers, -hits.cosines))
    order = order[np.isfinite(hits.cosines[order])]
    return Hits(hits.numbers[order], hits.cosines[order])


def embedded_text(sentence: Evidence, context: bool = False) -> str:
    """A sentence as it is embedded: after the title of its page and, if asked for, its context."""
    parts = [clean_text(sentence.context)] if context and sentence.context else []
    text = " ".join([*parts, clean_text(sentence.text)])
    title = evidence_title(sentence)
    return f"{title}. {text}" if title else text


def text_key(text: str) -> int:
    """What a vector is known by when its text is to be embedded again."""
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )
