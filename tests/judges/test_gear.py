"""GEAR against a slow twin that reads one claim at a time, node by node, with no padding anywhere."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from adjudge.config import ModelSettings
from adjudge.encoders.backbone import Backbone
from adjudge.encoders.dataset import tokenize
from adjudge.encoders.frozen import cache_states
from adjudge.errors import ConfigError
from adjudge.judges.folder import load_model, save_model
from adjudge.judges.gear import GEAR
from tiny_run import data_for, examples, make_model

SHAPES = {
    "one sentence": [[(4, 6)]],
    "no evidence": [[(5, 0)]],
    "ragged": [[(4, 1), (4, 12), (4, 3), (4, 30), (4, 7)], [(3, 5), (3, 9)], [(6, 0)]],
    "a claim cut in one of its rows": [[(2, 30), (6, 3)], [(4, 4)]],
}


def build(encoder: Any, **options: Any) -> GEAR:
    """GEAR with weights large enough that no softmax is flat."""
    torch.manual_seed(1)
    model = GEAR(Backbone(encoder), classes=3, dropout=0.0, **options)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not name.startswith("backbone.") and parameter.ndim == 2:
                parameter.normal_(0, 0.5)
    return model.eval()


def state_of(model: GEAR, ids: list[int], segment: int) -> Tensor:
    segments = torch.tensor([[int(i >= segment) for i in range(len(ids))]])
    state: Tensor = model.backbone.encoder(
        input_ids=torch.tensor([ids]), token_type_ids=segments
    ).pooler_output[0]
    return state


def slow(model: GEAR, rows: list[Any]) -> tuple[Tensor, list[float], list[list[float]]]:
    """One claim, Eqs. 2–9 of the paper by loops: (probabilities, node weights, edge weights)."""
    h = [state_of(model, row.ids, row.segment) for row in rows]
    edges = [[float(i == j) for j in range(len(h))] for i in range(len(h))]
    for layer in model.layers:
        edges = []
        for h_i in h:
            edges.append(torch.cat([layer(torch.cat([h_i, h_j])) for h_j in h]).softmax(dim=0).tolist())
        h = [sum(a * h_j for a, h_j in zip(alpha, h, strict=True)) for alpha in edges]
    if model.aggregator == "attention":
        longest = max(rows, key=lambda row: row.segment)
        claim = state_of(model, longest.ids[: longest.segment], longest.segment)
        scores = [model.claim_attention(torch.cat([claim, h_j])) for h_j in h]
        nodes = torch.cat(scores).softmax(dim=0).tolist()
        o = sum(a * h_j for a, h_j in zip(nodes, h, strict=True))
    elif model.aggregator == "mean":
        nodes = [1 / len(h)] * len(h)
        o = sum(h) / len(h)
    else:
        winners = [max(range(len(h)), key=lambda n: h[n][k].item()) for k in range(len(h[0]))]
        nodes = [winners.count(n) / len(winners) for n in range(len(h))]
        o = torch.stack([h[n][k] for k, n in enumerate(winners)])
    scores = model.verdict(o)
    return (scores.relu() if model.relu_scores else scores).softmax(dim=0), nodes, edges


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layers": 0},
        {"layers": 0, "aggregator": "max"},
        {"layers": 3, "aggregator": "mean"},
        {"relu_scores": True, "attention_size": 5},
    ],
    ids=str,
)
def test_it_equals_the_slow_twin(shape: str, options: Any, encoder: Any, rows: Any, to_batch: Any):
    claims = [rows(seed, *lengths) for seed, lengths in enumerate(SHAPES[shape])]
    model = build(encoder, **options)
    output = model(to_batch(claims, longer=3))
    for b, claim in enumerate(claims):
        n = len(claim)
        probabilities, nodes, edges = slow(model, claim)
        torch.testing.assert_close(output.log_probs[b].exp(), probabilities, atol=1e-5, rtol=0)
        torch.testing.assert_close(output.node_weights[b, :n], torch.tensor(nodes), atol=1e-5, rtol=0)
        torch.testing.assert_close(output.edge_weights[b, :n, :n], torch.tensor(edges), atol=1e-5, rtol=0)
        for absent in (
            output.node_weights[b, n:],
            output.edge_weights[b, n:],
            output.edge_weights[b, :, n:],
        ):
            assert not absent.any()


@pytest.mark.parametrize("aggregator", ["attention", "max", "mean"])
def test_the_order_of_the_sentences_does_not_matter(aggregator: Any, encoder: Any, rows: Any, to_batch: Any):
    claim = rows(0, (3, 9), (3, 4), (3, 12))
    model = build(encoder, layers=0 if aggregator == "max" else 2, aggregator=aggregator)  # ties after layers
    there, back = (model(to_batch([order])) for order in (claim, claim[::-1]))
    torch.testing.assert_close(there.log_probs, back.log_probs, atol=1e-6, rtol=0)
    torch.testing.assert_close(there.node_weights, back.node_weights.flip(1), atol=1e-6, rtol=0)


def test_every_parameter_learns(encoder: Any, rows: Any, to_batch: Any):
    model = build(encoder, layers=1).train()  # states grow alike with layers, and gradients small
    model(to_batch([rows(0, (3, 9), (3, 4), (3, 6))])).log_probs[0, 1].backward()
    for name, parameter in model.named_parameters():
        constant = name.endswith("2.bias")  # added to all scores of a softmax
        if not name.startswith("backbone.") and not constant:
            assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("size", [0.0, 300.0])
def test_gradients_are_finite_at_the_extremes(size: float, encoder: Any, rows: Any, to_batch: Any):
    model = build(encoder)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not name.startswith("backbone."):
                parameter.mul_(size)  # 0: every softmax is flat; 300: each is all but one-hot
    log_probs = model(to_batch([rows(0, (3, 9), (3, 4)), rows(1, (2, 0))])).log_probs
    assert torch.isfinite(log_probs).all()
    log_probs.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_cached_states_give_the_same_verdicts(tmp_path: Any):
    model = make_model(kind="gear", freeze_layers=1)
    model.module.eval()
    data = tokenize(examples(6), model.writer, model.labels)
    cached = cache_states(model.module.backbone, data, tmp_path)
    assert cached.states is not None
    plain, quick = (model.module(d.batch(range(6))).log_probs for d in (data, cached))
    torch.testing.assert_close(plain, quick, atol=2e-3, rtol=0)  # the cache is in half precision


def test_its_options_are_checked_kept_and_loaded(tmp_path: Any):
    with pytest.raises(ValueError, match="median"):
        ModelSettings(kind="gear", options={"aggregator": "median"})
    model = make_model(kind="gear", options={"layers": 3, "aggregator": "max"})
    model.module.eval()
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert len(loaded.module.layers) == 3 and loaded.module.aggregator == "max"
    data, _ = data_for(model)
    batch = data.batch(range(4))
    assert torch.equal(loaded.module(batch).log_probs, model.module(batch).log_probs)
    (tmp_path / "model" / "model.safetensors").write_bytes(b"")
    with pytest.raises(ConfigError):
        load_model(tmp_path / "model")
