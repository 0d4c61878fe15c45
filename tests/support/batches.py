"""Batches of random tokens, one row a claim."""

from __future__ import annotations

import torch

from adjudge.encoders.batch import Batch

LENGTHS = [7, 30, 8, 16, 3, 17, 64]  # of one group, of several, and alone in theirs


def batch_of(lengths: list[int], pad: int) -> Batch:
    generator = torch.Generator().manual_seed(0)
    ids = torch.full((len(lengths), max(lengths)), pad)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.randint(5, 200, (length,), generator=generator)
    return Batch(
        input_ids=ids,
        lengths=torch.tensor(lengths),
        segment=torch.tensor([max(2, length // 3) for length in lengths]),
        has_text=torch.ones(len(lengths), dtype=torch.bool),
        row_of=torch.arange(len(lengths))[:, None],
        present=torch.ones(len(lengths), 1, dtype=torch.bool),
    )
