"""BEVERS' verdict against a slow twin that classifies row after row."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from adjudge.config import settings_from
from adjudge.encoders.backbone import Backbone
from adjudge.encoders.dataset import tokenize
from adjudge.judges.bevers import BEVERS
from adjudge.judges.folder import load_model
from adjudge.runs.execute import execute
from adjudge.runs.held_out import split_held_out
from adjudge.types import FEVER_LABELS, Evidence, Example
from tiny_run import make_model
from toy import toy_examples

SHAPES = [
    [(4, 6), (4, 20), (4, 9)],
    [(5, 0)],
    [(3, 5), (3, 5)],
]  # two sentences, none, one; the last row is joined


def build(encoder: Any, **options: Any) -> BEVERS:
    torch.manual_seed(3)
    model = BEVERS(Backbone(encoder), classes=3, dropout=0.0, **options)
    with torch.no_grad():
        model.verdict.weight.normal_(0, 1)
    return model.eval()


def row_probabilities(model: BEVERS, row: Any) -> list[float]:
    segments = torch.tensor([[int(i >= row.segment) for i in range(len(row.ids))]])
    state = model.backbone.encoder(input_ids=torch.tensor([row.ids]), token_type_ids=segments)
    p: list[float] = model.verdict(state.pooler_output[0]).softmax(dim=0).tolist()
    return p


def slow(model: BEVERS, rows: list[Any], neutral: int | None) -> tuple[list[float], list[float]]:
    """(probabilities, weights of the sentences) of a claim."""
    p = [row_probabilities(model, row) for row in rows]
    singles, joined = (p[:-1] or p), p[-1]
    telling = [1.0 if neutral is None else 1 - row[neutral] for row in singles]
    weights = [value / sum(telling) for value in telling]
    alone = [sum(w * row[k] for w, row in zip(weights, singles, strict=True)) for k in range(3)]
    if model.reading != "both":
        return (alone if model.reading == "single" else joined), weights
    mean = [math.sqrt(a * b) for a, b in zip(alone, joined, strict=True)]
    return [value / sum(mean) for value in mean], weights


@pytest.mark.parametrize("reading", ["both", "single", "joined"])
@pytest.mark.parametrize("neutral", [2, 0, -1])
def test_it_equals_the_slow_twin(reading: Any, neutral: int, encoder: Any, rows: Any, to_batch: Any):
    claims = [rows(seed, *lengths) for seed, lengths in enumerate(SHAPES)]
    model = build(encoder, reading=reading, neutral=neutral)
    output = model(to_batch(claims))
    for b, claim in enumerate(claims):
        expected, weights = slow(model, claim, None if neutral < 0 else neutral)
        torch.testing.assert_close(output.log_probs[b].exp(), torch.tensor(expected), atol=1e-5, rtol=0)
        torch.testing.assert_close(
            output.node_weights[b, : len(weights)], torch.tensor(weights), atol=1e-5, rtol=0
        )
        assert not output.node_weights[b, len(weights) :].any()


@pytest.mark.parametrize("reading", ["both", "single", "joined"])
def test_every_parameter_learns(reading: Any, encoder: Any, rows: Any, to_batch: Any):
    model = build(encoder, reading=reading).train()
    model(to_batch([rows(0, (3, 9), (3, 4), (3, 6))])).log_probs[0, 1].backward()
    for name, parameter in model.named_parameters():
        if not name.startswith("backbone."):
            assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("reading", ["both", "single", "joined"])
@pytest.mark.parametrize("sure", [0, 1, 2])
def test_gradients_are_finite_at_the_extremes(
    reading: Any, sure: int, encoder: Any, rows: Any, to_batch: Any
):
    model = build(encoder, reading=reading)
    with torch.no_grad():
        model.verdict.bias[sure] = 300.0  # e^-300 is 0 in float32, of the neutral class 1 - P too
    log_probs = model(to_batch([rows(0, (3, 9), (3, 4), (3, 6)), rows(1, (5, 0))])).log_probs
    assert torch.isfinite(log_probs).all() and log_probs[:, (sure + 1) % 3].max() < -100
    log_probs.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_the_trees_read_the_joined_row_and_then_the_most_telling(encoder: Any, rows: Any, to_batch: Any):
    claims = [rows(seed, *lengths) for seed, lengths in enumerate(SHAPES)]
    model = build(encoder, trees=True)
    features = model.features(to_batch(claims))
    assert features.shape == (3, 6 * 3)
    for b, claim in enumerate(claims):
        p = [row_probabilities(model, row) for row in claim]
        singles = sorted(p[:-1] or p, key=lambda row: row[2])
        expected = [*p[-1], *(value for row in singles for value in row)]
        torch.testing.assert_close(features[b, : len(expected)], torch.tensor(expected), atol=1e-5, rtol=0)
        assert features[b, len(expected) :].isnan().all()


def test_a_claim_has_a_row_of_each_sentence_and_one_of_all():
    model = make_model(kind="bevers", max_length=64)
    sentences = (Evidence("a b", "Page", 0), Evidence("c", "Page", 1))
    with_two, with_none = model.writer.write([Example(1, "it is", sentences), Example(2, "it is", ())])
    assert len(with_two) == 3 and len(with_none) == 1
    joined = make_model(kind="concat", max_length=64).writer.write([Example(1, "it is", sentences)])[0]
    assert with_two[-1] == joined[0]
    mixture = make_model(kind="mixture", max_length=64).writer.write([Example(1, "it is", sentences)])[0]
    assert with_two[:-1] == mixture


def test_held_out_claims_stay_together_and_the_rest_is_trained_on():
    examples = [replace(example, id=i) for i, example in enumerate(toy_examples(300) * 2)]
    training, held_out = split_held_out(examples, 0.2)
    training = list(training)
    assert len(training) + len(held_out) == 600 and 70 < len(held_out) < 170
    assert not {example.claim for example in training} & {example.claim for example in held_out}
    assert split_held_out(examples, 0.0) == (examples, [])


def test_a_run_fits_the_trees_on_held_out_claims_and_keeps_them(tmp_path: Path, monkeypatch: Any):
    pytest.importorskip("sklearn")
    from adjudge.data.kgat import write_examples

    fitted = []
    fit = BEVERS.fit_held_out

    def note(self: BEVERS, features: Any, gold: Any, seed: int) -> Any:
        fitted.append((features, gold, seed))
        return fit(self, features, gold, seed)

    monkeypatch.setattr(BEVERS, "fit_held_out", note)
    for name, count in (("train", 90), ("dev", 12), ("test", 12)):
        write_examples(tmp_path / f"{name}.jsonl", toy_examples(count, f"{name} claim"))
    settings = settings_from(
        {
            "data": {name: tmp_path / f"{name}.jsonl" for name in ("train", "dev", "test")},
            "model": {
                "kind": "bevers",
                "backbone": "tiny",
                "max_length": 48,
                "options": {"trees": True, "held_out": 0.3},
            },
            "training": {"epochs": 2, "batch_size": 8, "accumulation": 1, "lr": 1e-3, "seed": 7},
        }
    )
    assert execute(settings, tmp_path / "run", cache=tmp_path / "cache") is not None
    [(features, gold, seed)] = fitted
    _, held_out = split_held_out(toy_examples(90, "train claim"), 0.3)
    assert seed == 7 and len(features) == len(held_out)
    labels = [FEVER_LABELS.index(example.label or "") for example in held_out]
    assert gold.tolist() == labels
    model = load_model(tmp_path / "run")
    assert bool(model.module.trees.fitted)
    test = tokenize(toy_examples(12, "test claim"), model.writer, model.labels).batch(range(12))
    with torch.inference_mode():
        by_trees = model.module(test).log_probs
        model.module.trees.fitted.zero_()
        by_rows = model.module(test).log_probs
    assert not torch.allclose(by_trees, by_rows)
    assert np.isfinite(by_trees.numpy()).all()
