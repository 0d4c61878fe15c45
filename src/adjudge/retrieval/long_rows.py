"""Rankers that read many sentences in one row: a whole page (Stammbach, 2021), or all candidates of a claim (a list).

A row is ``[CLS] claim [SEP] sentence [SEP] sentence [SEP] …``; sentences that do not fit go to further rows with the
same claim. Every token is scored by a linear map of its state; a sentence scores the mean over its tokens. One pass
reads a page or a list, where the pairwise ranker needs one a sentence. In a second hop the sentence that the first one
chose stands after the claim: ``[CLS] claim [SEP] first [SEP] sentence [SEP] …``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from adjudge.data.text import clean_text, evidence_title
from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch
from adjudge.encoders.dropout import Dropout
from adjudge.encoders.rows import TITLE_SHARE, RowWriter
from adjudge.encoders.tensors import device_of
from adjudge.io.chunks import chunks
from adjudge.retrieval.ranker import RankerSettings, ranker_identity
from adjudge.types import Evidence

CLAIM_SHARE = 3
"""A claim may take a third of a row."""
SENTENCES_SHARE = 4
"""The sentence after it in a second hop leaves a quarter of the row to those that are scored."""
ROWS_TOGETHER = 8
NOBODY = -1


class LongRow(NamedTuple):
    """Tokens, how many of them are the first segment, and which sentence each belongs to (−1: none).

    The first segment is ``[CLS] claim [SEP]``, and in a second hop the sentence after the claim.
    """

    ids: list[int]
    segment: int
    owners: list[int]


class LongRowWriter:
    """Writes a claim with sentences as few long rows.

    Args:
        writer: the tokenizer and layout; its ``max_length`` is that of a row.
        by_page: sentences of one page share rows, its title before them; else all share, each after its title.
    """

    def __init__(self, writer: RowWriter, by_page: bool) -> None:
        self.writer, self.by_page = writer, by_page
        self._start, self._end = writer.tokenizer.cls_token_id, writer.tokenizer.sep_token_id

    def write(
        self, claim: str, sentences: Sequence[Evidence], first: Evidence | None = None
    ) -> list[LongRow]:
        """The rows of a claim; the owners count the sentences as they were given.

        Args:
            claim: what all rows begin with.
            sentences: what is scored.
            first: in a second hop, the sentence that stands after the claim, its title before it.
        """
        groups: dict[str, list[int]] = {}
        for number, sentence in enumerate(sentences):
            groups.setdefault(sentence.page if self.by_page else "", []).append(number)
        [head, *texts] = self._tokenize(claim, sentences)
        query = [self._start, *head, self._end]
        titles = [self._title(sentences[numbers[0]]) if self.by_page else [] for numbers in groups.values()]
        if first is not None:
            query += self._after_claim(first, taken=len(query) + max(map(len, titles), default=0))
        rows: list[LongRow] = []
        for numbers, title in zip(groups.values(), titles, strict=True):
            rows += self._fill([*query, *title], len(query), [(n, texts[n]) for n in numbers])
        return rows

    def _after_claim(self, first: Evidence, taken: int) -> list[int]:
        """``title [SEP] sentence [SEP]`` of a first hop, cut to what the row has left."""
        most = self.writer.layout.max_length
        room = most - most // SENTENCES_SHARE - taken
        ids = [*self._title(first), *self._ids([clean_text(first.text)])[0]][: max(room - 1, 0)]
        return [*ids, self._end] if ids else []

    def _fill(self, head: list[int], segment: int, texts: list[tuple[int, list[int]]]) -> list[LongRow]:
        budget = self.writer.layout.max_length - len(head)
        rows = [LongRow(list(head), segment, [NOBODY] * len(head))]
        for number, ids in texts:
            piece = [*ids[: budget - 1], self._end]
            if len(rows[-1].ids) + len(piece) > self.writer.layout.max_length:
                rows.append(LongRow(list(head), segment, [NOBODY] * len(head)))
            rows[-1].ids.extend(piece)
            rows[-1].owners.extend([number] * len(piece))
        return rows

    def _tokenize(self, claim: str, sentences: Sequence[Evidence]) -> list[list[int]]:
        most = self.writer.layout.max_length
        ids = self._ids([clean_text(claim), *(clean_text(sentence.text) for sentence in sentences)])
        claim_ids, texts = ids[0][: most // CLAIM_SHARE], ids[1:]
        if not self.by_page:
            titles = [self._title(sentence) for sentence in sentences]
            texts = [[*title, *text] for title, text in zip(titles, texts, strict=True)]
        return [claim_ids, *texts]

    def _title(self, sentence: Evidence) -> list[int]:
        title = evidence_title(sentence) if self.writer.layout.titles else ""
        ids = self._ids([title])[0][: self.writer.layout.max_length // TITLE_SHARE] if title else []
        return [*ids, self._end] if ids else []

    def _ids(self, texts: list[str]) -> list[list[int]]:
        encoded = self.writer.tokenizer(
            texts,
            add_special_tokens=False,
            split_special_tokens=True,
            return_attention_mask=False,
            verbose=False,
        )
        ids: list[list[int]] = encoded["input_ids"]
        return ids


class LongRanker(nn.Module):
    """A score of every token: w · h + b, h its state."""

    def __init__(self, backbone: Backbone, dropout: float = 0.1) -> None:
        super().__init__()
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        self.score = nn.Linear(backbone.hidden_size, 1)

    def forward(self, batch: Batch) -> Tensor:
        """(R, L) scores of tokens."""
        scores: Tensor = self.score(self.dropout(self.backbone(batch).states))
        return scores.squeeze(-1).float()


def long_batch(rows: Sequence[LongRow], pad: int) -> tuple[Batch, Tensor]:
    """Rows as a batch, and the owner of every token (R, L), −1 for padding too."""
    longest = max(len(row.ids) for row in rows)
    ids = torch.full((len(rows), longest), pad)
    owners = torch.full((len(rows), longest), NOBODY)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = torch.tensor(row.ids)
        owners[number, : len(row.ids)] = torch.tensor(row.owners)
    slots = torch.arange(len(rows))[:, None]
    batch = Batch(
        input_ids=ids,
        lengths=torch.tensor([len(row.ids) for row in rows]),
        segment=torch.tensor([row.segment for row in rows]),
        has_text=torch.ones(len(rows), dtype=torch.bool),
        row_of=slots,
        present=torch.ones_like(slots, dtype=torch.bool),
    )
    return batch, owners


def sentence_scores(tokens: Tensor, owners: Tensor, sentences: int) -> Tensor:
    """The mean of each sentence's tokens: (R, L) → (sentences,)."""
    owned = owners >= 0
    sums = tokens.new_zeros(sentences).index_add(0, owners[owned], tokens[owned])
    counts = tokens.new_zeros(sentences).index_add(0, owners[owned], torch.ones_like(tokens[owned]))
    return sums / counts.clamp(min=1)


def page_loss(tokens: Tensor, owners: Tensor, gold: Tensor) -> Tensor:
    """Stammbach's: every token carries its sentence's label; the first token says whether its page holds evidence.

    Args:
        tokens: (R, L) scores.
        owners: (R, L) whose token it is.
        gold: (sentences,) which are gold.
    """
    owned = owners >= 0
    labels = gold.to(tokens.dtype)
    of_tokens = binary_cross_entropy_with_logits(tokens[owned], labels[owners[owned]])
    holds = (labels[owners.clamp(min=0)] * owned).amax(dim=1)  # (R,) whether a row has gold
    return of_tokens + binary_cross_entropy_with_logits(tokens[:, 0], holds)


def list_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """−log of the share that gold sentences get of a softmax over the list: (sentences,) → ()."""
    return scores.logsumexp(dim=0) - scores[gold].logsumexp(dim=0)


@dataclass(frozen=True)
class TrainedLongRanker:
    """A long ranker with what it takes to use it; ``weight`` is its share against the retriever's score."""

    module: LongRanker
    writer: LongRowWriter
    settings: RankerSettings
    weight: float = 1.0

    @property
    def identity(self) -> Mapping[str, Any]:
        """Settings and weights."""
        return ranker_identity(self.settings, self.module)

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        """σ of each sentence's score, between 0 and 1."""
        return self.score_after(claims, [None] * len(claims), candidates)

    def score_after(
        self,
        claims: Sequence[str],
        firsts: Sequence[Evidence | None],
        candidates: Sequence[Sequence[Evidence]],
    ) -> list[list[float]]:
        """As :meth:`score_many`, each claim with a sentence after it (a second hop), or none."""
        self.module.eval()
        with torch.inference_mode():
            return [
                self.scores(self.writer.write(claim, sentences, first), len(sentences)).sigmoid().tolist()
                if sentences
                else []
                for claim, first, sentences in zip(claims, firsts, candidates, strict=True)
            ]

    def scores(self, rows: Sequence[LongRow], sentences: int) -> Tensor:
        """(sentences,) from all rows of a claim."""
        device = device_of(self.module)
        total = torch.zeros(sentences, device=device)
        for part in chunks(rows, ROWS_TOGETHER):  # a sentence stands in one row only
            batch, owners = long_batch(part, self.writer.writer.pad)
            tokens = self.module(batch.to(device))
            total = total + sentence_scores(tokens, owners.to(device), sentences)
        return total
