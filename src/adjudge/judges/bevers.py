"""BEVERS' verdict (DeHaven and Scott, 2023): one classifier on each sentence alone and on all of them joined."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch, ModelOutput
from adjudge.encoders.dropout import Dropout
from adjudge.judges.kgat import ABSENT
from adjudge.judges.trees import Trees, TreeShape
from adjudge.objectives.loss import log_one_minus

SENTENCES = 5
"""Rows of single sentences that the trees read, beside the joined one."""

Reading = Literal["both", "single", "joined"]


class BEVERS(nn.Module):
    """P(y | row) = softmax(W h_row) for the row of each sentence and for the row of all of them.

    - ``single``: P(y) = Σ_n P(n) P(y | n), P(n) ∝ 1 − P(neutral | n): a sentence that says nothing decides nothing;
    - ``joined``: P(y | joined);
    - ``both``: their geometric mean, normalised.

    With ``trees``, gradient-boosted trees over the probabilities of the joined row and of five single rows, the most
    telling first and absent ones missing, give the verdict instead; they are fitted when the rest is trained, on
    training claims that were held out from that.
    """

    one_row = False
    pads_rows = False
    joins_rows = True
    mixes = True

    class Settings(BaseModel):
        """``[model.options]``."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        reading: Reading = Field("both", description="rows that the verdict is from: both, single or joined")
        trees: bool = Field(False, description="gradient-boosted trees over all rows give the verdict")
        held_out: float = Field(
            0.1, gt=0, lt=1, description="with trees: share of the training claims they are fitted on"
        )
        neutral: int = Field(2, ge=-1, description="class that says nothing, counted from 0; −1: none")

    def __init__(
        self,
        backbone: Backbone,
        classes: int,
        dropout: float = 0.1,
        reading: Reading = "both",
        trees: bool = False,
        held_out: float = 0.1,
        neutral: int = 2,
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.verdict = nn.Linear(backbone.hidden_size, classes)
        self.reading = reading
        self.trees = Trees(classes) if trees else None
        self.held_out = held_out if trees else 0.0
        self.neutral = neutral if 0 <= neutral < classes else None

    def forward(self, batch: Batch) -> ModelOutput:
        """Classify every row, then weigh and join the rows of each claim."""
        rows, single = self._rows(batch)
        if self.trees is not None and bool(self.trees.fitted) and not self.training:
            log_probs = log_softmax(self.trees(self._features(rows, batch.present, single)), dim=-1)
        else:
            log_probs = self._joint(rows, batch.present, single)
        return ModelOutput(log_probs, self._weights(rows, single).exp() * single)

    def features(self, batch: Batch) -> Tensor:
        """What the trees read of each claim: (B, F)."""
        rows, single = self._rows(batch)
        return self._features(rows, batch.present, single)

    def fit_held_out(
        self, features: npt.NDArray[np.float64], gold: npt.NDArray[np.int64], seed: int
    ) -> TreeShape | None:
        """Fit the trees on claims that nothing else was trained on; None without trees."""
        return None if self.trees is None else self.trees.fit(features, gold, seed)

    def _rows(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Log P(y | row), (B, N, K), and which rows are of single sentences, (B, N): all but a claim's last."""
        states = self.dropout(self.backbone(batch).pooled)[batch.row_of]  # (B, N, d)
        rows = log_softmax(self.verdict(batch.mix(states)).float(), dim=-1)
        last = batch.present.sum(dim=1) - 1
        slot = torch.arange(rows.shape[1], device=rows.device)
        # A claim without evidence has one row, which is both.
        return rows, batch.present & ((slot < last[:, None]) | (last[:, None] == 0))

    def _weights(self, rows: Tensor, single: Tensor) -> Tensor:
        """Log P(n) over the single sentences: (B, N)."""
        telling = torch.zeros_like(rows[..., 0])
        if self.neutral is not None:
            telling = log_one_minus(rows)[..., self.neutral]
        return log_softmax(telling.masked_fill(~single, ABSENT), dim=1)

    def _joint(self, rows: Tensor, present: Tensor, single: Tensor) -> Tensor:
        weighted = (self._weights(rows, single)[..., None] + rows).masked_fill(~single[..., None], ABSENT)
        alone = weighted.logsumexp(dim=1)
        joined = rows[torch.arange(len(rows), device=rows.device), present.sum(dim=1) - 1]
        if self.reading == "both":
            return log_softmax((alone + joined) / 2, dim=-1)
        return alone if self.reading == "single" else joined

    def _features(self, rows: Tensor, present: Tensor, single: Tensor) -> Tensor:
        """Probabilities of the joined row, then of the single ones by falling P(n): (B, (1 + SENTENCES) · K)."""
        order = self._weights(rows, single).argsort(dim=1, descending=True, stable=True)
        order = order[:, :SENTENCES]
        ordered = rows.exp().gather(1, order[..., None].expand(-1, -1, rows.shape[-1]))
        ordered = ordered.masked_fill(~single.gather(1, order)[..., None], torch.nan)
        missing = SENTENCES - ordered.shape[1]
        ordered = nn.functional.pad(ordered, (0, 0, 0, missing), value=torch.nan)
        joined = rows.exp()[torch.arange(len(rows), device=rows.device), present.sum(dim=1) - 1]
        return torch.cat([joined, ordered.flatten(1)], dim=1)
