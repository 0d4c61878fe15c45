"""The concat baseline: claim and all evidence in one sequence (Soleimani et al., 2020; BEVERS, 2023)."""

from __future__ import annotations

from torch import nn
from torch.nn.functional import log_softmax

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch, ModelOutput
from adjudge.encoders.dropout import Dropout


class Concatenation(nn.Module):
    """P(y) = softmax(W h), h the state of one sequence that holds the claim and its evidence."""

    one_row = True
    pads_rows = False
    mixes = True

    def __init__(self, backbone: Backbone, classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.verdict = nn.Linear(backbone.hidden_size, classes)

    def forward(self, batch: Batch) -> ModelOutput:
        """One row per claim; sentences are not weighed."""
        pooled = self.dropout(self.backbone(batch).pooled)[batch.row_of[:, 0]]  # (B, d)
        return ModelOutput(log_softmax(self.verdict(batch.mix(pooled)).float(), dim=-1))
