"""Several workers on one training: what they add up, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class Workers:
    """This process's place among the workers of a ``torchrun``; alone it is rank 0 of 1."""

    rank: int = 0
    world: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this worker writes files and reports progress."""
        return self.rank == 0

    def share(self, claims: Sequence[int]) -> Sequence[int]:
        """This worker's part of an optimizer step's claims."""
        return claims[self.rank :: self.world]

    def add(self, value: Tensor) -> Tensor:
        """The sum of a tensor over all workers, in place."""
        if self.world > 1:
            dist.all_reduce(value)
        return value

    def add_gradients(self, model: nn.Module) -> None:
        """Sum gradients over all workers: the loss is already divided by the whole step's total."""
        if self.world == 1:
            return
        trained = [p for p in model.parameters() if p.requires_grad]
        for parameter in trained:
            if parameter.grad is None:  # a worker without claims in this step
                parameter.grad = torch.zeros_like(parameter)
        gradients = [p.grad for p in trained if p.grad is not None]
        flat = self.add(torch.cat([g.flatten() for g in gradients]))
        for gradient, summed in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(summed.view_as(gradient))

    def gather(self, value: Tensor) -> list[Tensor]:
        """Every worker's tensor, in rank order."""
        if self.world == 1:
            return [value]
        parts = [torch.empty_like(value) for _ in range(self.world)]
        dist.all_gather(parts, value)
        return parts

    def wait(self) -> None:
        """Until every worker is here."""
        if self.world > 1:
            dist.barrier()


@contextmanager
def workers(device: torch.device) -> Iterator[Workers]:
    """Join the process group that ``torchrun`` set up, or work alone."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Workers()
        return
    # An optimizer imports this module, whose functions have the group of that moment as a default. Imported while
    # there is one, it keeps the group and Gloo's threads beyond the end of Python, which may then abort.
    import torch.distributed.nn.functional  # noqa: F401

    # Random states are gathered as CPU tensors even where gradients are summed on GPUs.
    dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
    try:
        yield Workers(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
