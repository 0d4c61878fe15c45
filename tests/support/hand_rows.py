"""Rows and batches made by hand, so that the models are tested without the code that writes rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch

from adjudge.encoders.batch import Batch
from hf_tiny import load_tiny


class HandRow(NamedTuple):
    """A row of token ids; the first ``segment`` of them are [CLS] claim [SEP]."""

    ids: list[int]
    segment: int
    has_text: bool = True


@pytest.fixture
def encoder() -> Any:
    """A fresh two-layer random BERT, in eval mode."""
    return load_tiny()[0]


@pytest.fixture
def rows() -> Callable[..., list[HandRow]]:
    """``rows(seed, (claim, evidence), …)``: a claim's rows of random tokens, with these many words each.

    All rows repeat the same claim; two of three evidence words are taken from it, so that the
    exact-match kernel has work to do.
    """

    def make(seed: int, *lengths: tuple[int, int]) -> list[HandRow]:
        generator = torch.Generator().manual_seed(seed)

        def words(count: int) -> list[int]:
            return torch.randint(5, 800, (count,), generator=generator).tolist()

        claim = words(max(length for length, _ in lengths))
        made = []
        for claim_length, evidence_length in lengths:
            first = [2, *claim[:claim_length], 3]
            evidence = words(evidence_length)
            evidence[::3] = (claim * evidence_length)[: len(evidence[::3])]
            made.append(HandRow([*first, *evidence, 3] if evidence_length else first, len(first)))
        return made

    return make


@pytest.fixture
def to_batch() -> Callable[..., Batch]:
    """``to_batch([rows of claim, …])``: pads by loops; ``longer`` adds columns of padding."""

    def make(claims: list[list[HandRow]], pad: int = 0, longer: int = 0) -> Batch:
        flat = [row for claim in claims for row in claim]
        longest = max(len(row.ids) for row in flat) + longer
        slots = max(len(claim) for claim in claims)
        row_of = torch.zeros(len(claims), slots, dtype=torch.long)
        present = torch.zeros(len(claims), slots, dtype=torch.bool)
        number = 0
        for b, claim in enumerate(claims):
            for n in range(len(claim)):
                row_of[b, n], present[b, n] = number, True
                number += 1
        return Batch(
            input_ids=torch.tensor([[*row.ids, *[pad] * (longest - len(row.ids))] for row in flat]),
            lengths=torch.tensor([len(row.ids) for row in flat]),
            segment=torch.tensor([row.segment for row in flat]),
            has_text=torch.tensor([row.has_text for row in flat]),
            row_of=row_of,
            present=present,
        )

    return make
