"""GEAR (Zhou et al., 2019): evidence sentences as a fully connected graph, read by several layers of attention."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn.functional import log_softmax, one_hot

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch, ModelOutput
from adjudge.encoders.dropout import Dropout
from adjudge.judges.kgat import ABSENT

Aggregator = Literal["attention", "max", "mean"]


class GEAR(nn.Module):
    """P(y) = softmax(W o), o an aggregate of the sentences' states after T layers of reasoning.

    A layer lets sentence i read every sentence j, itself included:

        h_i ← Σ_j α_ij h_j,   α_i = softmax over j of MLP([h_i ; h_j]),   MLP: 2d → 64 → 1, ReLU.

    The aggregate is Σ_j α_j h_j with α = softmax over j of MLP'([c ; h_j]), c the claim encoded alone; or the maximum
    of each dimension; or the mean. Absent sentences take part in nothing, and the order does not matter.
    """

    one_row = False
    pads_rows = False

    class Settings(BaseModel):
        """``[model.options]``."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        layers: int = Field(2, ge=0, le=8, description="layers of reasoning, T; 0: sentences read no others")
        aggregator: Aggregator = Field("attention", description="attention, max or mean")
        attention_size: int = Field(64, ge=1, description="units of the attention between sentences")
        relu_scores: bool = Field(False, description="ReLU on the class scores, as the published code has it")

    def __init__(
        self,
        backbone: Backbone,
        classes: int,
        dropout: float = 0.1,
        layers: int = 2,
        aggregator: Aggregator = "attention",
        attention_size: int = 64,
        relu_scores: bool = False,
    ) -> None:
        super().__init__()
        d = backbone.hidden_size
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(_attention(d, attention_size) for _ in range(layers))
        self.aggregator = aggregator
        self.claim_attention = _attention(d, attention_size) if aggregator == "attention" else None
        self.relu_scores = relu_scores
        self.verdict = nn.Linear(d, classes)

    def forward(self, batch: Batch) -> ModelOutput:
        """Encode every row, let sentences read each other, aggregate them, classify."""
        nodes = self.dropout(self.backbone(batch).pooled)[batch.row_of]  # (B, N, d)
        edges = torch.diag_embed(batch.present.float())  # without layers each sentence reads itself
        for layer in self.layers:
            edges = _weights(layer, nodes, nodes, batch.present)  # (B, N, N)
            nodes = torch.einsum("bij,bjd->bid", edges.to(nodes.dtype), nodes)
        aggregate, node_weights = self._aggregate(nodes, batch)
        scores = self.verdict(aggregate).float()  # (B, K)
        if self.relu_scores:
            scores = scores.relu()
        return ModelOutput(log_softmax(scores, dim=-1), node_weights, edges * batch.present[..., None])

    def _aggregate(self, nodes: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """One state for the claim, (B, d), and the share of each sentence in it, (B, N)."""
        present = batch.present
        if self.aggregator == "max":
            highest, winner = nodes.masked_fill(~present[..., None], ABSENT).max(dim=1)  # (B, d)
            return highest, one_hot(winner, present.shape[1]).float().mean(dim=1)
        if self.claim_attention is None:
            weights = present / present.sum(dim=1, keepdim=True)
        else:
            claims = self.dropout(self.backbone(_claims_alone(batch)).pooled)  # (B, d)
            weights = _weights(self.claim_attention, claims[:, None], nodes, present)[:, 0]
        return torch.einsum("bn,bnd->bd", weights.to(nodes.dtype), nodes), weights


def _attention(d: int, units: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(2 * d, units), nn.ReLU(), nn.Linear(units, 1))


def _weights(attention: nn.Module, of: Tensor, over: Tensor, present: Tensor) -> Tensor:
    """Softmax over the present nodes of the MLP's score: (B, I, d), (B, J, d) → (B, I, J)."""
    i, j = of.shape[1], over.shape[1]
    pairs = torch.cat(
        [of[:, :, None].expand(-1, -1, j, -1), over[:, None].expand(-1, i, -1, -1)], dim=-1
    )  # (B, I, J, 2d)
    scores: Tensor = attention(pairs).squeeze(-1).float()
    return scores.masked_fill(~present[:, None], ABSENT).softmax(dim=-1)


def _claims_alone(batch: Batch) -> Batch:
    """One row a claim, its text alone: the first segment of the row that shows most of it.

    Cached states are of whole rows, so the frozen layers are computed anew for these short ones.
    """
    shown = batch.segment[batch.row_of].masked_fill(~batch.present, 0)  # (B, N)
    rows = batch.row_of.gather(1, shown.argmax(dim=1, keepdim=True))[:, 0]
    lengths = batch.segment[rows]
    slots = torch.arange(len(rows), device=rows.device)[:, None]
    return replace(
        batch,
        input_ids=batch.input_ids[rows, : int(lengths.max())],
        lengths=lengths,
        segment=lengths,
        has_text=batch.has_text[rows],
        row_of=slots,
        present=torch.ones_like(slots, dtype=torch.bool),
        states=None,
    )
