from __future__ import annotations

from typing import Any

import pytest
import torch

from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import ModelOutput
from adjudge.judges.concat import Concatenation
from adjudge.judges.registry import KINDS, import_object


def build(encoder: Any, dropout: float = 0.0, classes: int = 3) -> Concatenation:
    torch.manual_seed(0)
    return Concatenation(Backbone(encoder), classes=classes, dropout=dropout).eval()


def test_the_verdict_is_a_softmax_over_the_rows_state(encoder: Any, rows: Any, to_batch: Any):
    claims = [rows(0, (3, 9)), rows(1, (2, 0)), rows(2, (4, 30))]
    model = build(encoder)
    output = model(to_batch(claims))
    assert isinstance(output, ModelOutput)
    assert output.node_weights is None and output.edge_weights is None
    for b, [row] in enumerate(claims):
        segments = torch.tensor([[int(i >= row.segment) for i in range(len(row.ids))]])
        state = encoder(input_ids=torch.tensor([row.ids]), token_type_ids=segments).pooler_output[0]
        expected = (model.verdict.weight @ state + model.verdict.bias).softmax(dim=0)
        torch.testing.assert_close(output.log_probs[b].exp(), expected, atol=1e-6, rtol=0)


def test_a_claim_does_not_change_with_its_neighbours(encoder: Any, rows: Any, to_batch: Any):
    claim, neighbour = rows(0, (3, 9)), rows(1, (5, 80))
    model = build(encoder)
    alone = model(to_batch([claim])).log_probs[0]
    torch.testing.assert_close(model(to_batch([neighbour, claim])).log_probs[1], alone, atol=1e-6, rtol=0)


def test_dropout_acts_in_training_only(encoder: Any, rows: Any, to_batch: Any):
    batch = to_batch([rows(0, (3, 9))])
    for layer in encoder.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0.0
    model = build(encoder, dropout=0.5)
    assert torch.equal(model(batch).log_probs, model(batch).log_probs)
    model.train()
    assert not torch.equal(model(batch).log_probs, model(batch).log_probs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 4])
def test_any_number_of_classes_will_do(kind: str, classes: int, encoder: Any, rows: Any, to_batch: Any):
    model = import_object(KINDS[kind])(Backbone(encoder), classes=classes).eval()
    log_probs = model(to_batch([rows(0, (3, 9)), rows(1, (2, 4))])).log_probs
    assert log_probs.shape == (2, classes)
    torch.testing.assert_close(log_probs.exp().sum(dim=1), torch.ones(2))
