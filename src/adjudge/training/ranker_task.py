"""What the loop trains of a ranker of any kind: claims in parts, under the sums that its loss gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from adjudge.encoders.tensors import device_of
from adjudge.errors import DataError
from adjudge.io.chunks import chunks
from adjudge.retrieval.ranker import AnyRanker, save_ranker
from adjudge.training.distributed import Workers
from adjudge.training.loop import Quality, mixed_precision

Claims = TypeVar("Claims", bound=Sized)
Sums = Callable[[Claims, Sequence[int]], Tensor]
"""Claims and the numbers of some of them → (3,) sums over these: the loss, pairs with gold first, pairs."""


@dataclass(frozen=True)
class RankerTask(Generic[Claims]):
    """A ranker under its loss; its accuracy is the share of (gold, other) pairs in which gold comes first.

    Attributes:
        ranker: trained in place.
        data: claims to train on.
        held_out: claims that choose the checkpoint.
        sums: what its loss makes of some claims.
        batch_size: claims of a forward pass.
        precision: of matrix products, as ``TrainingSettings`` has it.
    """

    ranker: AnyRanker
    data: Claims
    held_out: Claims
    sums: Sums[Claims]
    batch_size: int = 1
    precision: str = "auto"

    def __post_init__(self) -> None:
        for what, data in (("training", self.data), ("held-out", self.held_out)):
            if not len(data):
                raise DataError(
                    f"No {what} claim has gold text in the corpus and another sentence beside it; "
                    "expected claims with gold evidence, and the corpus that it names."
                )

    @property
    def module(self) -> nn.Module:
        """The ranker's."""
        return self.ranker.module

    @property
    def claims(self) -> int:
        """How many there are to train on."""
        return len(self.data)

    @property
    def dev_claims(self) -> int:
        """How many choose the checkpoint."""
        return len(self.held_out)

    def backward(self, claims: Sequence[int], shuffle: torch.Generator, workers: Workers) -> Quality:
        """Gradients of one optimizer step: the mean over its claims, however they are cut up."""
        device = device_of(self.module)
        values = torch.zeros(3, device=device)  # loss, pairs right, pairs
        for part in chunks(workers.share(claims), self.batch_size):
            with mixed_precision(device, self.precision):
                sums = self.sums(self.data, part)
            (sums[0] / len(claims)).backward()
            values += sums.detach()
        return _quality(workers.add(values), len(claims))

    def evaluate(self) -> Quality:
        """Loss and pair accuracy on the held-out claims."""
        return pair_quality(self.module, self.sums, self.held_out)

    def save(self, folder: Path) -> None:
        """Into the ranker's folder itself."""
        save_ranker(self.ranker, folder)


def pair_quality(module: nn.Module, sums: Sums[Claims], data: Claims) -> Quality:
    """Mean loss, and of all (gold, other) pairs the share in which gold scores higher; a tie is not."""
    module.eval()
    with torch.inference_mode():
        parts = [sums(data, claims) for claims in chunks(range(len(data)), 16)]
    return _quality(torch.stack(parts).sum(dim=0), len(data))


def _quality(sums: Tensor, claims: int) -> Quality:
    loss, right, pairs = sums.tolist()
    return Quality(loss / max(claims, 1), right / max(pairs, 1))
