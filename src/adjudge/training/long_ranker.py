"""Training of rankers that read long rows: pages under token labels, lists under a softmax over the list."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from adjudge.config import TrainingSettings
from adjudge.encoders.tensors import device_of
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
from adjudge.training.ranker_task import RankerTask
from adjudge.types import Evidence

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
    Where rows are pages, each second hop of a claim is one more: a gold sentence stands after the claim, and the
    sentences of its group that it leads to are gold.
    """
    rng = random.Random(seed)
    made = []
    for example in examples:
        hops = example.hops if writer.by_page else ()
        for first, gold in [(None, example.gold), *hops]:
            refs = {id(sentence) for sentence in gold}
            sentences = [*gold, *example.others]
            if writer.by_page:
                sentences = _page_by_page(sentences, {s.page for s in gold}, rng, thin)
            else:
                rng.shuffle(sentences)
            labels = torch.tensor([id(sentence) in refs for sentence in sentences])
            made.append(LongClaim(writer.write(example.claim, sentences, first), labels))
    return made


def _page_by_page(
    sentences: Sequence[Evidence], pages: set[str], rng: random.Random, thin: bool
) -> list[Evidence]:
    """The sentences of pages with evidence and of some of the others, in the order of the pages."""
    others = list(dict.fromkeys(s.page for s in sentences if s.page not in pages))
    kept = {page for page in others if not thin or rng.random() < KEPT_PAGES} or set(others[:1])
    return sorted((s for s in sentences if s.page in pages | kept), key=lambda s: (s.page, s.line))


def long_sums(ranker: TrainedLongRanker, data: Sequence[LongClaim], claims: Sequence[int]) -> Tensor:
    """(3,) sums over claims, which are read one by one: the loss, pairs with gold first, pairs."""
    return torch.stack([_claim_sums(ranker, data[number]) for number in claims]).sum(dim=0)


def _claim_sums(ranker: TrainedLongRanker, claim: LongClaim) -> Tensor:
    device = device_of(ranker.module)
    batch, owners = long_batch(claim.rows, ranker.writer.writer.pad)
    tokens, owners = ranker.module(batch.to(device)), owners.to(device)
    gold = claim.gold.to(device)
    scores = sentence_scores(tokens, owners, len(gold))
    loss = page_loss(tokens, owners, gold) if ranker.writer.by_page else list_loss(scores, gold)
    right = scores[gold][:, None] > scores[~gold][None]
    return torch.stack([loss, right.sum(), torch.tensor(float(right.numel()), device=device)])


def long_task(
    ranker: TrainedLongRanker,
    examples: Iterable[RankingExample],
    held_out: Iterable[RankingExample],
    training: TrainingSettings,
) -> RankerTask[Sequence[LongClaim]]:
    """What the loop trains, of claims with gold and other sentences."""
    return RankerTask(
        ranker,
        long_claims(examples, ranker.writer, training.seed, thin=True),
        long_claims(held_out, ranker.writer, training.seed, thin=False),
        partial(long_sums, ranker),
        precision=training.precision,
    )
