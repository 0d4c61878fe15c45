"""Learning from another judge: its probabilities on the training claims as soft targets (Hinton et al., 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from adjudge.data.verdicts import read_verdicts
from adjudge.encoders.dataset import Ids
from adjudge.errors import DataError
from adjudge.types import LabelSet, Verdict


@dataclass(frozen=True)
class Teacher:
    """(1 − share) · L(y, p) − share · Σ_k q_k log p_k, where q is the teacher's distribution.

    Attributes:
        probabilities: (C, K) of the training claims, in their order.
        share: the teacher's part of the loss.
    """

    probabilities: Tensor
    share: float

    def mix(self, loss: Tensor, log_probs: Tensor, claims: Sequence[int], step_claims: int) -> Tensor:
        """The loss of some claims of a step: to their gold labels and to the teacher, a mean over the step.

        Args:
            loss: to gold.
            log_probs: (B, K) of these claims.
            claims: their positions among the training claims.
            step_claims: how many claims the optimizer step has.
        """
        targets = self.probabilities[list(claims)].to(log_probs)
        to_teacher = -(targets * log_probs).sum() / step_claims
        return (1 - self.share) * loss + self.share * to_teacher


def read_teacher(path: Path, ids: Ids, labels: LabelSet, share: float) -> Teacher:
    """A teacher's verdicts, joined with the training claims by id.

    Raises:
        DataError: a claim has no verdict with a probability for every label.
    """
    probabilities = {verdict.id: _distribution(verdict, labels, path) for verdict in read_verdicts(path)}
    missing = [ids[claim] for claim in range(len(ids)) if ids[claim] not in probabilities]
    if missing:
        raise DataError(
            f"{path}: no verdict for {len(missing):,} of {len(ids):,} training claims, such as "
            f"{', '.join(map(str, missing[:3]))}. Let the teacher judge the training file: "
            "adjudge predict TEACHER TRAIN --out VERDICTS."
        )
    return Teacher(torch.tensor([probabilities[ids[claim]] for claim in range(len(ids))]), share)


def _distribution(verdict: Verdict, labels: LabelSet, path: Path) -> list[float]:
    values = [verdict.probabilities.get(label, 0.0) for label in labels]
    if not abs(sum(values) - 1) < 1e-3:
        raise DataError(
            f"{path}: claim {verdict.id}: the probabilities of {', '.join(labels)} add up to {sum(values):.4g}, "
            "expected 1. The teacher must know the same labels."
        )
    return values
