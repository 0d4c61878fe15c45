"""The ranker's score and its loss."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch
from adjudge.encoders.loading import tiny_encoder
from adjudge.retrieval.ranker import Ranker, margin_loss, pair_mask


@pytest.fixture
def ranker() -> Ranker:
    torch.manual_seed(0)
    return Ranker(Backbone(tiny_encoder()[0])).eval()


def test_the_score_is_the_tanh_of_a_linear_map_of_the_pooled_state(
    ranker: Ranker, rows: Callable[..., list], to_batch: Callable[..., Batch]
) -> None:
    batch = to_batch([rows(1, (3, 5), (3, 4)), rows(2, (4, 7))])
    with torch.no_grad():
        pooled = ranker.backbone(batch).pooled
        scores = ranker(batch)
    weight, bias = ranker.score.weight[0].tolist(), ranker.score.bias.item()
    by_hand = [
        math.tanh(sum(w * h for w, h in zip(weight, row, strict=True)) + bias) for row in pooled.tolist()
    ]
    assert scores.tolist() == pytest.approx(by_hand, abs=1e-6)


def test_the_loss_is_the_mean_over_pairs_of_what_is_missing_to_the_margin() -> None:
    # Slots: gold .5, gold −.5, other .2; the fourth is absent.
    scores = torch.tensor([[0.5, -0.5, 0.2, 0.9]])
    gold = torch.tensor([[True, True, False, False]])
    present = torch.tensor([[True, True, True, False]])
    # 1 − .5 + .2 = .7;  1 + .5 + .2 = 1.7
    torch.testing.assert_close(margin_loss(scores, gold, present), torch.tensor([1.2]))


def test_a_pair_beyond_the_margin_costs_nothing() -> None:
    scores = torch.tensor([[0.9, -0.4]], requires_grad=True)
    loss = margin_loss(scores, torch.tensor([[True, False]]), torch.ones(1, 2, dtype=torch.bool))
    loss.sum().backward()
    assert loss.item() == 0.0
    assert scores.grad is not None and scores.grad.tolist() == [[0.0, 0.0]]


def test_the_loss_agrees_with_naive_loops() -> None:
    torch.manual_seed(1)
    scores = torch.rand(6, 5) * 2 - 1
    gold = torch.rand(6, 5) < 0.4
    present = torch.rand(6, 5) < 0.8
    for margin in (0.5, 1.0, 2.0):
        for b, found in enumerate(margin_loss(scores, gold, present, margin).tolist()):
            pairs = [
                max(0.0, margin - float(scores[b, n]) + float(scores[b, m]))
                for n in range(5)
                for m in range(5)
                if gold[b, n] and present[b, n] and not gold[b, m] and present[b, m]
            ]
            assert found == pytest.approx(sum(pairs) / len(pairs) if pairs else 0.0, abs=1e-6)


def test_gradients_raise_gold_and_lower_the_others() -> None:
    scores = torch.zeros(1, 3, requires_grad=True)
    gold = torch.tensor([[True, False, False]])
    margin_loss(scores, gold, torch.ones(1, 3, dtype=torch.bool)).sum().backward()
    assert scores.grad is not None and scores.grad.tolist() == [[-1.0, 0.5, 0.5]]


def test_a_claim_without_a_pair_has_loss_zero() -> None:
    everything = torch.ones(1, 2, dtype=torch.bool)
    for gold in (everything, ~everything):
        assert margin_loss(torch.tensor([[0.1, 0.2]]), gold, everything).tolist() == [0.0]


def test_pairs_are_gold_against_others_that_are_there() -> None:
    mask = pair_mask(torch.tensor([[True, False, False]]), torch.tensor([[True, True, False]]))
    assert mask.nonzero().tolist() == [[0, 0, 1]]
