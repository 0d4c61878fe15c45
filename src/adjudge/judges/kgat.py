"""KGAT (Liu et al., 2020): a graph of evidence sentences joined by kernel attention, read row by row."""

from __future__ import annotations

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn.functional import log_softmax, normalize

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch, ModelOutput
from adjudge.encoders.dropout import Dropout
from adjudge.encoders.kernels import KERNELS, kernel_pooling

ABSENT = -1e30
NO_TOKEN = -1e4


class KGAT(nn.Module):
    """P(y) = Σ_n P(n) P(y | n) over the evidence sentences n of a claim.

    P(n) comes from the node kernel (claim against sentence), P(y | n) from the sentence's own state
    and what it reads of the others through the edge kernel. Absent sentences take part in nothing.
    """

    one_row = False

    class Settings(BaseModel):
        """``[model.options]``."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        attention_size: int = Field(128, ge=1, description="units of the attention between sentences")
        released: bool = Field(False, description="attend to empty rows, as the published code does")

    def __init__(
        self,
        backbone: Backbone,
        classes: int,
        dropout: float = 0.1,
        attention_size: int = 128,
        released: bool = False,
    ) -> None:
        super().__init__()
        self.pads_rows = released
        d = backbone.hidden_size
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.node_score = nn.Linear(KERNELS, 1)
        self.token_score = nn.Linear(KERNELS, 1)
        self.attention = nn.Sequential(
            nn.Linear(2 * d, attention_size), nn.ReLU(), nn.Linear(attention_size, 1)
        )
        self.verdict = nn.Linear(2 * d, classes)

    def forward(self, batch: Batch) -> ModelOutput:
        """Encode every row, weigh sentences, mix their verdicts."""
        encoded = self.backbone(batch)
        # B claims, N sentences, L tokens, d dimensions.
        tokens = self.dropout(encoded.states)[batch.row_of]  # (B, N, L, d)
        sentences = self.dropout(encoded.pooled)[batch.row_of]  # (B, N, d)
        text = (batch.text_mask[batch.row_of]) & batch.present[..., None]  # (B, N, L)
        second = batch.second_segment[batch.row_of]

        similarity = self._similarity(tokens)  # (B, N, L, N, L)
        node_log_weights = self._nodes(similarity, text & ~second, text & second, batch.present)
        read, edge_weights = self._edges(similarity, tokens, sentences, text, batch.present)

        logits = self.verdict(torch.cat([sentences, read], dim=-1)).float()  # (B, N, K)
        log_probs = (node_log_weights[..., None] + log_softmax(logits, dim=-1)).logsumexp(dim=1)  # (B, K)
        return ModelOutput(log_probs, node_log_weights.exp(), edge_weights)

    def _similarity(self, tokens: Tensor) -> Tensor:
        """Cosine of every token with every token of the claim's rows: (B, N, L, d) → (B, N, L, N, L)."""
        b, n, length, _ = tokens.shape
        with torch.autocast(tokens.device.type, enabled=False):
            unit = normalize(tokens.to(torch.promote_types(tokens.dtype, torch.float32)), dim=-1)
            flat = unit.flatten(1, 2)  # (B, N·L, d)
            return torch.bmm(flat, flat.transpose(1, 2)).view(b, n, length, n, length)

    def _nodes(self, similarity: Tensor, claim: Tensor, evidence: Tensor, present: Tensor) -> Tensor:
        """Log P(n): claim tokens against the evidence tokens of the same row. → (B, N)."""
        claim_evidence = similarity.diagonal(dim1=1, dim2=3).movedim(-1, 1)  # (B, N, L, L)
        # Masked on both sides: what is not read need not be computed.
        phi = kernel_pooling(claim_evidence, claim[..., None] & evidence[:, :, None, :])  # (B, N, L, 21)
        weights = claim[..., None].to(phi.dtype)
        mean = (phi * weights).sum(dim=2) / (weights.sum(dim=2) + 1e-10)  # (B, N, 21)
        scores = self.node_score(mean).squeeze(-1).float()
        return log_softmax(scores.masked_fill(~present, ABSENT), dim=1)

    def _edges(
        self, similarity: Tensor, tokens: Tensor, sentences: Tensor, text: Tensor, present: Tensor
    ) -> tuple[Tensor, Tensor]:
        """What each sentence n reads of all sentences m. → (B, N, d), weights (B, N, N)."""
        n = tokens.shape[1]
        pairs_of_tokens = text[..., None, None] & text[:, None, None]  # (B, M, L, N, L): m's against n's
        phi = kernel_pooling(similarity, pairs_of_tokens)  # (B, M, L, N, 21)
        scores = self.token_score(phi).squeeze(-1).float()  # (B, M, L, N)
        over_tokens = scores.masked_fill(~text[..., None], NO_TOKEN).softmax(dim=2)
        summaries = torch.einsum("bmin,bmid->bnmd", over_tokens.to(tokens.dtype), tokens)  # m as seen from n
        pairs = torch.cat([sentences[:, :, None].expand(-1, -1, n, -1), summaries], dim=-1)
        scores = self.attention(pairs).squeeze(-1).float()  # (B, N, M)
        weights = scores.masked_fill(~present[:, None, :], ABSENT).softmax(dim=-1)
        read = torch.einsum("bnm,bnmd->bnd", weights.to(summaries.dtype), summaries)
        return read, weights * present[:, :, None]
