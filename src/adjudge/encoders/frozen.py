"""Frozen lower layers: computed once, kept in a memory-mapped file, shared by every run on the same data."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.dataset import Dataset, batches_by_length
from adjudge.encoders.tensors import device_of
from adjudge.io.digests import digest_of
from adjudge.io.files import sha256
from adjudge.io.temporary import allocate, sweep, temporary_file

BATCH_TOKENS = 4096
"""Tokens of a forward pass without gradients, some 20 claims of five FEVER sentences. With more of them the allocator
of the C library would give every large matrix back to the system, to be cleared before its next use."""


def cache_states(
    backbone: Backbone,
    data: Dataset,
    folder: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Dataset:
    """The dataset with the frozen layers' output (T, d) in half precision, from the cache when it is there.

    Without frozen layers, or without claims, there is nothing to cache and the dataset comes back as it is.

    Args:
        backbone: its ``frozen`` says how many layers.
        data: token rows.
        folder: the cache.
        progress: called with (tokens done, tokens in all).
    """
    if not backbone.frozen or not len(data):
        return data
    shape = (len(data.tokens), backbone.hidden_size)
    key = _key(backbone, data)
    path = _stored_file(folder, key) or _store(backbone, data, folder, key, shape, progress)
    return replace(data, states=np.memmap(path, dtype=np.float16, mode="c", shape=shape))


def _stored_file(folder: Path, key: str) -> Path | None:
    """The file of a key; one whose content is not what was written is removed."""
    for path in sorted(folder.glob(f"{key}-*.f16")):
        if path.stem == f"{key}-{digest_of(path)[:32]}":
            return path
        path.unlink(missing_ok=True)
    return None


def _store(
    backbone: Backbone,
    data: Dataset,
    folder: Path,
    key: str,
    shape: tuple[int, int],
    progress: Callable[[int, int], None],
) -> Path:
    """Write the states to a file that is called by its key and by the hash of its content."""
    sweep(folder)
    draft = folder / f"{key}.{secrets.token_hex(4)}.f16"  # several processes may write the same
    with temporary_file(draft) as temporary:
        allocate(temporary, shape[0] * shape[1] * 2)
        out = np.memmap(temporary, dtype=np.float16, mode="r+", shape=shape)
        _compute(backbone, data, out, progress)
        out.flush()
        digest = sha256(temporary)
    path = folder / f"{key}-{digest[:32]}.f16"
    os.replace(draft, path)
    return path


def _compute(
    backbone: Backbone,
    data: Dataset,
    out: npt.NDArray[np.float16],
    progress: Callable[[int, int], None],
) -> None:
    device = device_of(backbone)
    backbone.eval()
    done = 0
    for claims in batches_by_length(data, BATCH_TOKENS):  # each row is written to its own place
        batch = data.batch(claims)
        states = backbone.lower(batch.to(device)).to("cpu", torch.float16).numpy()
        rows = np.concatenate([np.arange(data.claim_start[c], data.claim_start[c + 1]) for c in claims])
        for row, state in zip(rows, states, strict=True):
            start, end = data.row_start[row], data.row_start[row + 1]
            out[start:end] = state[: end - start]
            done += int(end - start)
        progress(done, len(data.tokens))


def _key(backbone: Backbone, data: Dataset) -> str:
    digest = hashlib.sha256(f"{backbone.frozen} {data.fingerprint()}".encode())
    for name, parameter in backbone.named_parameters():
        if not parameter.requires_grad:
            digest.update(name.encode())
            digest.update(parameter.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:32]
