"""The published recipe, written afresh: what the speed of adjudge is measured against.

Every claim has five rows of 130 tokens, padding and empty rows included; text is tokenised in Python, batch by batch;
the head goes through the sentences one after the other and holds all 21 kernels of all pairs of tokens at once. It
computes with the weights of a KGAT of adjudge, and gives the probabilities of its ``released`` variant.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, normalize

from adjudge.data.text import clean_text, page_title
from adjudge.encoders.kernels import kernel_grid
from adjudge.encoders.rows import share_budget
from adjudge.encoders.tokenizing import FastTokenizer
from adjudge.judges.kgat import KGAT
from adjudge.types import Example
from shelf import hugging_face, hugging_face_tokenizer, without_backbone

ROWS, TOKENS = 5, 130


class SlowTokenizer:
    """BERT's word pieces, character by character: the longest piece first."""

    def __init__(self, fast: Any) -> None:
        self.pieces: dict[str, int] = fast.get_vocab()
        self.unknown = fast.unk_token_id

    def __call__(self, text: str) -> list[int]:
        return [piece for word in self._words(text) for piece in self._split(word)]

    def _words(self, text: str) -> list[str]:
        spaced = []
        for character in unicodedata.normalize("NFD", text.lower()):
            kind = unicodedata.category(character)
            if kind == "Mn":
                continue
            plain_sign = character.isascii() and not character.isalnum() and not character.isspace()
            spaced.append(f" {character} " if kind.startswith("P") or plain_sign else character)
        return "".join(spaced).split()

    def _split(self, word: str) -> list[int]:
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self.pieces:
                    found.append(self.pieces[piece])
                    break
            else:
                return [self.unknown]
            start = end
        return found


class Batcher:
    """Examples → ids, masks and segments (B, 5, 130), tokenised anew for every batch."""

    def __init__(self, tokenizer: FastTokenizer) -> None:
        fast = hugging_face_tokenizer(tokenizer)
        self.tokenize = SlowTokenizer(fast)
        self.start, self.end, self.pad = fast.cls_token_id, fast.sep_token_id, fast.pad_token_id

    def __call__(self, examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor]:
        rows = [row for example in examples for row in self._rows(example)]
        shape = (len(examples), ROWS, TOKENS)
        ids, mask, segments = (torch.tensor(part).view(shape) for part in zip(*rows, strict=True))
        return ids, mask, segments

    def _rows(self, example: Example) -> list[tuple[list[int], list[int], list[int]]]:
        rows = []
        for evidence in example.evidence[:ROWS]:
            claim = self.tokenize(clean_text(example.claim))
            title = self.tokenize(clean_text(page_title(evidence.page)))[: TOKENS // 3]
            sentence = self.tokenize(clean_text(evidence.text))
            head = [*title, self.end] if title else []
            a, b = share_budget(len(claim), len(sentence), TOKENS - 3 - len(head))
            first = [self.start, *claim[:a], self.end]
            second = [*head, *sentence[:b], self.end]
            rest = TOKENS - len(first) - len(second)
            rows.append(
                (
                    [*first, *second, *[self.pad] * rest],
                    [1] * (TOKENS - rest) + [0] * rest,
                    [0] * len(first) + [1] * len(second) + [0] * rest,
                )
            )
        empty = ([self.pad] * TOKENS, [0] * TOKENS, [0] * TOKENS)
        return rows + [empty] * (ROWS - len(rows))


class Published(nn.Module):
    """The published forward pass on the weights of ``kgat``."""

    def __init__(self, kgat: KGAT) -> None:
        super().__init__()
        self.encoder, self.kgat = hugging_face(kgat.backbone.encoder), without_backbone(kgat)
        means, sigmas = kernel_grid()
        self.register_buffer("means", torch.tensor(means))
        self.register_buffer("sigmas", torch.tensor(sigmas))

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """(B, 5, 130) each → (B, K) log-probabilities."""
        states, pooled = self.encode(ids, mask, segments)
        return self.decide(states, pooled, mask, segments)

    def encode(self, ids: Tensor, mask: Tensor, segments: Tensor) -> tuple[Tensor, Tensor]:
        flat = mask.flatten(0, 1)
        # As BERT used to: where all is masked, the softmax sees equal summands and attends to all.
        added = (1.0 - flat[:, None, None, :].float()).expand(-1, 1, TOKENS, -1) * -10000.0
        output = self.encoder(
            input_ids=ids.flatten(0, 1), attention_mask=added, token_type_ids=segments.flatten(0, 1)
        )
        return output.last_hidden_state, output.pooler_output

    def decide(self, states: Tensor, pooled: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        b, d = len(mask), states.shape[-1]
        states, sentences = self.kgat.dropout(states), self.kgat.dropout(pooled).view(b, ROWS, d)
        text = mask.flatten(0, 1).float()
        text[:, 0] = 0
        second = segments.flatten(0, 1).float()
        unit = normalize(states, dim=-1)  # (B · 5, 130, d)

        phi = self.pool(unit, unit, text * second)  # claim against evidence of the same row
        claim = (text * (1 - second))[..., None]
        node = self.kgat.node_score((phi * claim).sum(1) / (claim.sum(1) + 1e-10)).view(b, ROWS)

        read = []
        for n in range(ROWS):
            own = unit.view(b, ROWS, TOKENS, d)[:, n : n + 1].repeat(1, ROWS, 1, 1).view_as(unit)
            own_text = text.view(b, ROWS, TOKENS)[:, n : n + 1].repeat(1, ROWS, 1).view_as(text)
            scores = self.kgat.token_score(self.pool(unit, own, own_text)).squeeze(-1)
            weights = scores.masked_fill(text == 0, -1e4).softmax(dim=1)
            summary = (weights[..., None] * states).sum(1).view(b, ROWS, d)
            pairs = torch.cat([sentences[:, n : n + 1].repeat(1, ROWS, 1), summary], dim=-1)
            attention = self.kgat.attention(pairs).softmax(dim=1)
            read.append((attention * summary).sum(1))
        logits = self.kgat.verdict(torch.cat([sentences, torch.stack(read, dim=1)], dim=-1))
        mixed = log_softmax(node, dim=1)[..., None] + log_softmax(logits, dim=-1)
        return mixed.logsumexp(dim=1)

    def pool(self, tokens: Tensor, against: Tensor, mask: Tensor) -> Tensor:
        """(R, 130, d) twice → (R, 130, 21), by way of (R, 130, 130, 21)."""
        similarity = torch.bmm(tokens, against.transpose(1, 2))[..., None]
        kernels = torch.exp(-((similarity - self.means) ** 2) / (self.sigmas**2) / 2)
        return (kernels * mask[:, None, :, None]).sum(dim=2).clamp(min=1e-10).log()
