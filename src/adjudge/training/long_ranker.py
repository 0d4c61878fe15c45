"""Training of rankers that read long rows: pages under token labels, lists under a softmax over the list."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from adjudge.config import TrainingSettings
from adjudge.retrieval.long_rows import (
    LongRow,
    LongRowWriter,
    TrainedLongRanker,
    list_loss,
    long_batch,
    page_loss,
    sentence_scores,
)
from adjudge.retrieval.pipeline import RankingExample
from adjudge.retrieval.ranker import save_ranker
from adjudge.training.distributed import Workers
from adjudge.training.loop import Quality, mixed_precision

KEPT_PAGES = 0.25
"""Share of the pages without evidence that are trained on."""


class LongClaim(NamedTuple):
    """Rows of a claim, and which of its sentences are gold."""

    rows: list[LongRow]
    gold: Tensor


def long_claims(
    examples: Iterable[RankingExample], writer: LongRowWriter, seed: int, thin: bool
) -> list[LongClaim]:
    """Gold and other sentences of each claim in random order, or page by page in the page's.

    With ``thin``, most pages without evidence are left out; one is kept for claims that would have no other sentence.
    """
    rng = random.Random(seed)
    made = []
    for example in examples:
        refs = {id(sentence) for sentence in example.gold}
        sentences = [*example.gold, *example.others]
        if writer.by_page:
            pages = {sentence.page for sentence in example.gold}
            others = list(dict.fromkeys(s.page for s in example.others if s.page not in pages))
            kept = {page for page in others if not thin or rng.random() < KEPT_PAGES} or set(others[:1])
            sentences = sorted(
                (s for s in sentences if s.page in pages | kept), key=lambda s: (s.page, s.line)
            )
        else:
            rng.shuffle(sentences)
        gold = torch.tensor([id(sentence) in refs for sentence in sentences])
        made.append(LongClaim(writer.write(example.claim, sentences), gold))
    return made


@dataclass(frozen=True)
class LongTask:
    """A long ranker under its loss, for the loop; its accuracy is the share of pairs in which gold comes first."""

    ranker: TrainedLongRanker
    data: Sequence[LongClaim]
    held_out: Sequence[LongClaim]

    @property
    def module(self) -> nn.Module:
        """The ranker's."""
        return self.ranker.module

    @property
    def claims(self) -> int:
        """How many there are to train on."""
        return len(self.data)

    @property
    def dev_claims(self) -> int:
        """How many choose the checkpoint."""
        return len(self.held_out)

    def backward(self, claims: Sequence[int], shuffle: torch.Generator, workers: Workers) -> Quality:
        """Gradients of one optimizer step, claim by claim: the mean over its claims."""
        values = torch.zeros(3, device=self.ranker.device)  # loss, pairs right, pairs
        for number in workers.share(claims):
            with mixed_precision(self.ranker.device):
                sums = self._sums(self.data[number])
            (sums[0] / len(claims)).backward()
            values += sums.detach()
        loss, right, pairs = workers.add(values).tolist()
        return Quality(loss / len(claims), right / max(pairs, 1))

    def evaluate(self) -> Quality:
        """Loss and pair accuracy on the held-out claims."""
        with torch.inference_mode():
            sums = torch.stack([self._sums(claim) for claim in self.held_out]).sum(dim=0)
        loss, right, pairs = sums.tolist()
        return Quality(loss / max(len(self.held_out), 1), right / max(pairs, 1))

    def save(self, folder: Path) -> None:
        """Into the ranker's folder itself."""
        save_ranker(self.ranker, folder)

    def _sums(self, claim: LongClaim) -> Tensor:
        """(3,) the loss of a claim, its pairs with gold first, its pairs."""
        device = self.ranker.device
        batch, owners = long_batch(claim.rows, self.ranker.writer.writer.pad)
        tokens, owners = self.ranker.module(batch.to(device)), owners.to(device)
        gold = claim.gold.to(device)
        scores = sentence_scores(tokens, owners, len(gold))
        by_page = self.ranker.writer.by_page
        loss = page_loss(tokens, owners, gold) if by_page else list_loss(scores, gold)
        right = scores[gold][:, None] > scores[~gold][None]
        return torch.stack([loss, right.sum(), torch.tensor(float(right.numel()), device=device)])


def long_task(
    ranker: TrainedLongRanker,
    examples: Iterable[RankingExample],
    held_out: Iterable[RankingExample],
    training: TrainingSettings,
) -> LongTask:
    """What the loop trains, of claims with gold and other sentences."""
    return LongTask(
        ranker,
        long_claims(examples, ranker.writer, training.seed, thin=True),
        long_claims(held_out, ranker.writer, training.seed, thin=False),
    )
