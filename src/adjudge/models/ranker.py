"""The sentence ranker: how much a sentence has to say about a claim."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from adjudge.models.backbone import Backbone
from adjudge.models.batch import Batch
from adjudge.models.dropout import Dropout


class Ranker(nn.Module):
    """s = tanh(w · h + b), h the backbone's state of a row that holds the claim and one sentence."""

    def __init__(self, backbone: Backbone, dropout: float = 0.1) -> None:
        super().__init__()
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.score = nn.Linear(backbone.hidden_size, 1)

    def forward(self, batch: Batch) -> Tensor:
        """(R,) one score per row, between −1 and 1."""
        pooled = self.dropout(self.backbone(batch).pooled)  # (R, d)
        return torch.tanh(self.score(pooled).float().squeeze(-1))


def margin_loss(scores: Tensor, gold: Tensor, present: Tensor, margin: float = 1.0) -> Tensor:
    """Mean over the (gold, other) pairs of each claim: max(0, margin − s_gold + s_other).

    Args:
        scores: (B, N) a score per slot.
        gold: (B, N) which slots are gold.
        present: (B, N) which slots take part.
        margin: how far gold is to lie above the others.

    Returns:
        (B,) 0 for a claim without a pair.
    """
    pairs = pair_mask(gold, present)  # (B, N, N): n gold, m other
    gap = (margin - scores[:, :, None] + scores[:, None, :]).clamp(min=0) * pairs
    return gap.sum(dim=(1, 2)) / pairs.sum(dim=(1, 2)).clamp(min=1)


def pair_mask(gold: Tensor, present: Tensor) -> Tensor:
    """(B, N, N) whether slot n is gold and slot m is another sentence of the claim."""
    return (gold & present)[:, :, None] & (~gold & present)[:, None, :]
