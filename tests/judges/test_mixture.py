from __future__ import annotations

from typing import Any

import pytest
import torch

from adjudge.encoders.backbone import Backbone
from adjudge.judges.mixture import Mixture


def build(encoder: Any, dropout: float = 0.0) -> Mixture:
    torch.manual_seed(0)
    return Mixture(Backbone(encoder), classes=3, dropout=dropout).eval()


def test_the_verdict_is_a_weighted_mean_of_the_sentences_verdicts(encoder: Any, rows: Any, to_batch: Any):
    claims = [rows(0, (3, 9), (3, 4), (3, 12)), rows(1, (2, 0)), rows(2, (4, 30), (4, 2))]
    model = build(encoder)
    output = model(to_batch(claims))
    assert output.edge_weights is None
    for b, claim in enumerate(claims):
        states = []
        for row in claim:
            segments = torch.tensor([[int(i >= row.segment) for i in range(len(row.ids))]])
            states.append(
                encoder(input_ids=torch.tensor([row.ids]), token_type_ids=segments).pooler_output[0]
            )
        weights = torch.stack([model.node_score(h)[0] for h in states]).softmax(dim=0)
        everything = sum(weight * h for weight, h in zip(weights, states, strict=True))
        expected = torch.zeros(3)
        for weight, h in zip(weights, states, strict=True):
            expected += weight * model.verdict(torch.cat([h, everything])).softmax(dim=0)
        torch.testing.assert_close(output.log_probs[b].exp(), expected, atol=1e-6, rtol=0)
        torch.testing.assert_close(output.node_weights[b, : len(claim)], weights, atol=1e-6, rtol=0)
        assert output.node_weights[b, len(claim) :].sum() == 0


@pytest.mark.parametrize("place", [0, 1])
def test_a_claim_does_not_change_with_its_neighbours(place: int, encoder: Any, rows: Any, to_batch: Any):
    claim, neighbour = rows(0, (3, 9)), rows(1, (5, 60), (5, 3), (5, 8))
    model = build(encoder)
    alone = model(to_batch([claim])).log_probs[0]
    pair = [claim, neighbour] if place == 0 else [neighbour, claim]
    torch.testing.assert_close(model(to_batch(pair)).log_probs[place], alone, atol=1e-6, rtol=0)


def test_the_order_of_the_sentences_does_not_matter(encoder: Any, rows: Any, to_batch: Any):
    claim = rows(0, (3, 9), (3, 4), (3, 12))
    model = build(encoder)
    there, back = (model(to_batch([order])).log_probs for order in (claim, claim[::-1]))
    torch.testing.assert_close(there, back, atol=1e-6, rtol=0)


def test_every_parameter_learns(encoder: Any, rows: Any, to_batch: Any):
    model = build(encoder).train()
    model(to_batch([rows(0, (3, 9), (3, 4))])).log_probs[0, 1].backward()
    for name, parameter in model.named_parameters():
        if not name.startswith("backbone.") and name != "node_score.bias":  # a constant in a softmax
            assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name
