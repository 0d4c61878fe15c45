"""Token rows on disk: written once as they are read, then memory-mapped, whatever the number of claims."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.encoders.dataset import CHUNK, NO_LABEL, Dataset
from adjudge.encoders.rows import RowWriter
from adjudge.io.chunks import chunks
from adjudge.io.files import sha256, write_json
from adjudge.io.temporary import sweep, temporary_folder
from adjudge.types import ClaimId, Example, LabelSet

ARRAYS: dict[str, Any] = {
    "labels": np.int64,
    "claim_start": np.int64,
    "row_start": np.int64,
    "segment": np.int64,
    "has_text": np.bool_,
    "tokens": np.int32,
    "id_start": np.int64,
}
IDS, SUMS = "ids.json", "sums.json"


class StoredIds:
    """Claim ids in a memory-mapped file of JSON values, read one at a time."""

    def __init__(self, folder: Path) -> None:
        self._starts = _map_array(folder, "id_start")
        self._text = _map_file(folder / IDS, np.uint8)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, claim: int, /) -> ClaimId:
        claim_id: ClaimId = json.loads(self._text[self._starts[claim] : self._starts[claim + 1]].tobytes())
        return claim_id


def store_tokens(
    examples: Iterable[Example], writer: RowWriter, labels: LabelSet, folder: Path, source: str
) -> Dataset:
    """What ``tokenize`` gives, from the cache when it is there, never held in memory as a whole.

    Args:
        examples: read only where the cache does not hold them.
        writer: turns them into rows.
        labels: the classes.
        folder: the cache.
        source: says what the examples are: equal sources must mean equal examples.
    """
    stored = folder / _key(writer, labels, source)
    if not _is_whole(stored):
        shutil.rmtree(stored, ignore_errors=True)
        sweep(folder)
        with temporary_folder(stored) as temporary:
            _write(examples, writer, labels, temporary)
            _move(temporary, stored)
    arrays: dict[str, Any] = {name: _map_array(stored, name) for name in ARRAYS if name != "id_start"}
    return Dataset(ids=StoredIds(stored), pad=writer.pad, **arrays)


def _write(examples: Iterable[Example], writer: RowWriter, labels: LabelSet, folder: Path) -> None:
    with ExitStack() as stack:
        files = {
            name: stack.enter_context(open(folder / name, "wb"))
            for name in (*(f"{a}.bin" for a in ARRAYS), IDS)
        }
        ends = {"claim_start": 0, "row_start": 0, "id_start": 0}

        def put(name: str, values: Any) -> None:
            np.asarray(values, dtype=ARRAYS[name]).tofile(files[f"{name}.bin"])

        def put_ends(name: str, lengths: Iterable[int]) -> None:
            values = ends[name] + np.cumsum(np.fromiter(lengths, dtype=np.int64))
            put(name, values)
            ends[name] = int(values[-1])

        for name in ends:
            put(name, [0])
        for chunk in chunks(examples, CHUNK):
            written = writer.write(chunk)
            rows = [row for of_claim in written for row in of_claim]
            ids = [json.dumps(example.id).encode() for example in chunk]
            put("labels", [NO_LABEL if e.label is None else labels.index(e.label) for e in chunk])
            put("segment", [row.segment for row in rows])
            put("has_text", [row.has_text for row in rows])
            put("tokens", np.concatenate([np.asarray(row.ids, dtype=np.int32) for row in rows]))
            put_ends("claim_start", map(len, written))
            put_ends("row_start", (len(row.ids) for row in rows))
            put_ends("id_start", map(len, ids))
            files[IDS].write(b"".join(ids))
        for stream in files.values():
            stream.flush()
            os.fsync(stream.fileno())

    write_json(folder / SUMS, {path.name: sha256(path) for path in sorted(folder.iterdir())})


def _is_whole(folder: Path) -> bool:
    """Whether a folder holds what was written: what clears caches may take single files, and disks lose bits."""
    try:
        sums = json.loads((folder / SUMS).read_bytes())
        names = {*(f"{name}.bin" for name in ARRAYS), IDS}
        return bool(sums == {name: sha256(folder / name) for name in names})
    except (OSError, ValueError, RecursionError):
        return False


def _move(temporary: Path, stored: Path) -> None:
    try:
        os.replace(temporary, stored)
    except OSError:
        if not stored.is_dir():  # else another process was faster, with the same
            raise


def _map_array(folder: Path, name: str) -> npt.NDArray[Any]:
    return _map_file(folder / f"{name}.bin", ARRAYS[name])


def _map_file(path: Path, dtype: Any) -> npt.NDArray[Any]:
    if not path.stat().st_size:  # which cannot be mapped
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray)


def _key(writer: RowWriter, labels: LabelSet, source: str) -> str:
    digest = hashlib.sha256()
    for part in (source, *labels, *_parts(writer)):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:32]


def _parts(writer: RowWriter) -> Iterator[str]:
    """What decides how a writer writes: its layout, and its tokenizer as it would be saved."""
    yield repr(writer.layout)
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(writer.tokenizer.save_pretrained(folder)):
            if os.path.isfile(name):
                yield sha256(Path(name))
