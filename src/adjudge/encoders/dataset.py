"""Claims as arrays of tokens, written once and cut into batches many times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from adjudge.encoders.rows import WHOLE, Cut, RowWriter, TokenRow, cut_of
from adjudge.io.chunks import chunks
from adjudge.types import ClaimId, Example, LabelSet

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from adjudge.encoders.batch import Batch

NO_LABEL = -1
CHUNK = 512


class Ids(Protocol):
    """Claim ids by position: a tuple, or a file of them."""

    def __len__(self) -> int: ...

    def __getitem__(self, claim: int, /) -> ClaimId: ...


@dataclass(frozen=True)
class Dataset:
    """C claims of R rows of T tokens in all, in flat arrays.

    Attributes:
        ids: the claims' ids.
        labels: (C,) class indices, −1 where a claim has none.
        claim_start: (C + 1,) first row of each claim.
        row_start: (R + 1,) first token of each row.
        segment: (R,) tokens of each row's first segment.
        has_text: (R,) false for rows of nothing.
        tokens: (T,)
        pad: the id that fills rows up.
        states: (T, d) cached outputs of the frozen layers, or None.
        cut: what the rows of a claim do not hold whole, by position; claims that they do are left out.
    """

    ids: Ids
    labels: npt.NDArray[np.int64]
    claim_start: npt.NDArray[np.int64]
    row_start: npt.NDArray[np.int64]
    segment: npt.NDArray[np.int64]
    has_text: npt.NDArray[np.bool_]
    tokens: npt.NDArray[np.int32]
    pad: int
    states: npt.NDArray[np.float16] | None = None
    cut: Mapping[int, Cut] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def class_counts(self, classes: int) -> list[int]:
        """How many claims each class has."""
        counts = np.bincount(self.labels[self.labels >= 0], minlength=classes)
        return [int(count) for count in counts]

    def claim_tokens(self) -> npt.NDArray[np.int64]:
        """(C,) tokens of each claim, over all its rows."""
        starts: npt.NDArray[np.int64] = self.row_start[self.claim_start]
        return np.diff(starts)

    def longest_row(self, claim: int) -> int:
        """Tokens of the longest row of a claim."""
        first, end = self.claim_start[claim], self.claim_start[claim + 1]
        return int(np.diff(self.row_start[first : end + 1]).max())

    def fingerprint(self) -> str:
        """A hash of the token rows: equal rows, equal hash."""
        digest = hashlib.sha256()
        for array in (self.row_start, self.segment, self.has_text, self.tokens):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def gold(self, claims: Sequence[int]) -> Tensor:
        """(B,) class indices of some claims."""
        import torch

        return torch.from_numpy(self.labels[np.asarray(claims)])

    def batch(self, claims: Sequence[int], shuffle: torch.Generator | None = None) -> Batch:
        """Some claims as tensors; with ``shuffle`` each claim's rows come in random order."""
        import torch

        from adjudge.encoders.batch import Batch

        rows_of = [self._rows(claim, shuffle) for claim in claims]
        rows = np.concatenate(rows_of)
        starts = self.row_start[rows]
        lengths = self.row_start[rows + 1] - starts
        longest = int(lengths.max())
        inside = np.arange(longest) < lengths[:, None]  # (R, L)
        positions = (starts[:, None] + np.arange(longest))[inside]
        input_ids = np.full(inside.shape, self.pad, dtype=np.int64)
        input_ids[inside] = self.tokens[positions]
        states = None
        if self.states is not None:
            states = torch.zeros((*inside.shape, self.states.shape[1]), dtype=torch.float16)
            states[torch.from_numpy(inside)] = torch.from_numpy(self.states[positions])
        row_of, present = _slots([len(r) for r in rows_of])
        return Batch(
            input_ids=torch.from_numpy(input_ids),
            lengths=torch.from_numpy(lengths),
            segment=torch.from_numpy(self.segment[rows]),
            has_text=torch.from_numpy(self.has_text[rows]),
            row_of=row_of,
            present=present,
            states=states,
        )

    def _rows(self, claim: int, shuffle: torch.Generator | None) -> npt.NDArray[np.int64]:
        rows = np.arange(self.claim_start[claim], self.claim_start[claim + 1])
        if shuffle is None or len(rows) == 1:
            return rows
        import torch

        shuffled: npt.NDArray[np.int64] = rows[torch.randperm(len(rows), generator=shuffle).numpy()]
        return shuffled


def cut_into_batches(
    data: Dataset, claims: Iterable[int], tokens: int, most: int | None = None
) -> Iterator[list[int]]:
    """Consecutive claims in batches of at most ``tokens`` tokens, padding counted, and ``most`` claims.

    What a batch of B claims of at most N rows of L tokens costs grows with B · N · L. A claim that is larger
    by itself still makes a batch.
    """
    batch: list[int] = []
    rows = longest = 0
    for claim in claims:
        own_rows = int(data.claim_start[claim + 1] - data.claim_start[claim])
        wider, longer = max(rows, own_rows), max(longest, data.longest_row(claim))
        if batch and ((len(batch) + 1) * wider * longer > tokens or len(batch) == most):
            yield batch
            batch, wider, longer = [], own_rows, data.longest_row(claim)
        batch.append(claim)
        rows, longest = wider, longer
    if batch:
        yield batch


def batches_by_length(data: Dataset, tokens: int) -> Iterator[list[int]]:
    """All claims in batches of at most ``tokens`` tokens; claims of similar length share a batch."""
    return cut_into_batches(data, np.argsort(data.claim_tokens(), kind="stable").tolist(), tokens)


def shuffle_evidence(
    examples: Iterable[Example], seed: int, max_evidence: int | None = None
) -> Iterator[Example]:
    """The examples, the first ``max_evidence`` sentences of each in random order.

    Where one row holds all sentences of a claim, ``Dataset.batch`` cannot reorder them; gold sentences
    stand first in training files, and a model that reads them in order would learn that.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    for example in examples:
        sentences = example.evidence[:max_evidence]
        order = torch.randperm(len(sentences), generator=generator).tolist()
        yield replace(example, evidence=tuple(sentences[i] for i in order))


def tokenize(examples: Iterable[Example], writer: RowWriter, labels: LabelSet) -> Dataset:
    """Read examples into arrays, a chunk at a time."""
    ids: list[ClaimId] = []
    gold: list[int] = []
    rows_per_claim: list[int] = []
    lengths: list[int] = []
    segment: list[int] = []
    has_text: list[bool] = []
    tokens: list[npt.NDArray[np.int32]] = []
    cut: dict[int, Cut] = {}
    for chunk in chunks(examples, CHUNK):
        for example, rows in zip(chunk, writer.write(chunk), strict=True):
            if (missing := cut_of(example, rows, writer.layout)) != WHOLE:
                cut[len(ids)] = missing
            ids.append(example.id)
            gold.append(NO_LABEL if example.label is None else labels.index(example.label))
            rows_per_claim.append(len(rows))
            lengths += [len(row.ids) for row in rows]
            segment += [row.segment for row in rows]
            has_text += [row.has_text for row in rows]
            tokens.append(_flat(rows))
    return Dataset(
        ids=tuple(ids),
        labels=np.asarray(gold, dtype=np.int64),
        claim_start=_starts(rows_per_claim),
        row_start=_starts(lengths),
        segment=np.asarray(segment, dtype=np.int64),
        has_text=np.asarray(has_text, dtype=np.bool_),
        tokens=np.concatenate(tokens) if tokens else np.empty(0, dtype=np.int32),
        pad=writer.pad,
        cut=cut,
    )


def _flat(rows: list[TokenRow]) -> npt.NDArray[np.int32]:
    return np.concatenate([np.asarray(row.ids, dtype=np.int32) for row in rows])


def _starts(lengths: list[int]) -> npt.NDArray[Any]:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)


def _slots(counts: list[int]) -> tuple[Tensor, Tensor]:
    """(B, N) row of each slot and whether it is present, for rows laid one claim after another."""
    import torch

    count = torch.tensor(counts)
    slot = torch.arange(int(count.max()))
    present = slot < count[:, None]
    first = torch.cumsum(count, dim=0) - count
    return torch.where(present, first[:, None] + slot, torch.zeros(1, dtype=torch.long)), present
