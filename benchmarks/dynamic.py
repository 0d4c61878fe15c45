"""What one would write today: Hugging Face's tokenizer and encoder with padding to the longest row of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, normalize

from adjudge.data.text import clean_text, page_title
from adjudge.encoders.kernels import kernel_grid
from adjudge.encoders.tokenizing import FastTokenizer
from adjudge.judges.kgat import KGAT
from adjudge.types import Example
from shelf import hugging_face, hugging_face_tokenizer, without_backbone

ABSENT = -1e30


class Dynamic(nn.Module):
    """KGAT on the weights of ``kgat``: all sentences of a batch in one padded encoder call, all pairs at once."""

    def __init__(self, kgat: KGAT, tokenizer: FastTokenizer) -> None:
        super().__init__()
        self.encoder, self.kgat = hugging_face(kgat.backbone.encoder), without_backbone(kgat)
        self.tokenizer = hugging_face_tokenizer(tokenizer)
        means, sigmas = kernel_grid()
        self.register_buffer("means", torch.tensor(means))
        self.register_buffer("sigmas", torch.tensor(sigmas))

    def forward(self, examples: Sequence[Example]) -> Tensor:
        """(B, K) log-probabilities; every example has evidence."""
        claims = [clean_text(example.claim) for example in examples for _ in example.evidence]
        texts = [self._text(evidence) for example in examples for evidence in example.evidence]
        inputs = self.tokenizer(
            claims, texts, padding=True, truncation=True, max_length=130, return_tensors="pt"
        )
        output = self.encoder(**inputs)
        slots = max(len(example.evidence) for example in examples)
        row_of = torch.zeros(len(examples), slots, dtype=torch.long)
        present = torch.zeros(len(examples), slots, dtype=torch.bool)
        first = 0
        for place, example in enumerate(examples):
            count = len(example.evidence)
            row_of[place, :count] = torch.arange(first, first + count)
            present[place, :count] = True
            first += count
        states = self.kgat.dropout(output.last_hidden_state)[row_of]  # (B, N, L, d)
        sentences = self.kgat.dropout(output.pooler_output)[row_of]
        text = inputs["attention_mask"][row_of].bool() & present[..., None]
        text[..., 0] = False
        return self._decide(states, sentences, text, inputs["token_type_ids"][row_of].bool(), present)

    def _text(self, evidence: Any) -> str:
        title = clean_text(page_title(evidence.page))
        sentence = clean_text(evidence.text)
        return f"{title} {self.tokenizer.sep_token} {sentence}" if title else sentence

    def _decide(
        self, states: Tensor, sentences: Tensor, text: Tensor, second: Tensor, present: Tensor
    ) -> Tensor:
        n = states.shape[1]
        unit = normalize(states, dim=-1)
        similarity = torch.einsum("bmid,bnjd->bminj", unit, unit)
        own = similarity.diagonal(dim1=1, dim2=3).movedim(-1, 1)
        claim = (text & ~second)[..., None].float()
        phi = self._pool(own, (text & second)[:, :, None])
        node = self.kgat.node_score((phi * claim).sum(2) / (claim.sum(2) + 1e-10)).squeeze(-1)
        scores = self.kgat.token_score(self._pool(similarity, text[:, None, None])).squeeze(
            -1
        )  # (B, M, L, N)
        weights = scores.masked_fill(~text[..., None], -1e4).softmax(dim=2)
        summaries = torch.einsum("bmin,bmid->bnmd", weights, states)
        pairs = torch.cat([sentences[:, :, None].expand(-1, -1, n, -1), summaries], dim=-1)
        attention = self.kgat.attention(pairs).squeeze(-1).masked_fill(~present[:, None], ABSENT).softmax(-1)
        read = torch.einsum("bnm,bnmd->bnd", attention, summaries)
        logits = self.kgat.verdict(torch.cat([sentences, read], dim=-1))
        mixed = log_softmax(node.masked_fill(~present, ABSENT), dim=1)[..., None] + log_softmax(
            logits, dim=-1
        )
        return mixed.logsumexp(dim=1)

    def _pool(self, similarity: Tensor, mask: Tensor) -> Tensor:
        kernels = torch.exp(-((similarity[..., None] - self.means) ** 2) / (2 * self.sigmas**2))
        return (kernels * mask[..., None]).sum(dim=-2).clamp(min=1e-10).log()
