"""The mixture: sentences judged one by one in the light of all, without KGAT's kernels."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import log_softmax

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch, ModelOutput
from adjudge.encoders.dropout import Dropout
from adjudge.judges.kgat import ABSENT


class Mixture(nn.Module):
    """P(y) = Σ_n P(n) P(y | n), as KGAT has it, from the rows' states alone.

    P(n) = softmax over n of w · h^n; P(y | n) = softmax(W [h^n ; Σ_m P(m) h^m]). Much cheaper than the
    kernels, which compare every token with every other, and quicker to learn from few claims.
    """

    one_row = False
    pads_rows = False

    def __init__(self, backbone: Backbone, classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        d = backbone.hidden_size
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.node_score = nn.Linear(d, 1)
        self.verdict = nn.Linear(2 * d, classes)

    def forward(self, batch: Batch) -> ModelOutput:
        """Encode every row, weigh sentences, mix their verdicts. Absent sentences take part in nothing."""
        sentences = self.dropout(self.backbone(batch).pooled)[batch.row_of]  # (B, N, d)
        scores = self.node_score(sentences).squeeze(-1).float()  # (B, N)
        node_log_weights = log_softmax(scores.masked_fill(~batch.present, ABSENT), dim=1)
        weights = node_log_weights.exp()
        everything = (weights[..., None].to(sentences.dtype) * sentences).sum(dim=1, keepdim=True)
        logits = self.verdict(torch.cat([sentences, everything.expand_as(sentences)], dim=-1)).float()
        log_probs = (node_log_weights[..., None] + log_softmax(logits, dim=-1)).logsumexp(dim=1)  # (B, K)
        return ModelOutput(log_probs, weights)
