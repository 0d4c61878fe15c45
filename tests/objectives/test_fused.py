"""The fused loss against naive loops in Python's floats, by the native library and by PyTorch."""

from __future__ import annotations

import math

import pytest
import torch

from adjudge.encoders import native
from adjudge.errors import ConfigError
from adjudge.objectives.fused import loss_and_slope, native_loss_and_slope
from adjudge.objectives.loss import SLACK, Objective

ENGINES = {
    "torch": loss_and_slope,
    "native": lambda *inputs: native_loss_and_slope(*inputs, SLACK),
}
needs_native = pytest.mark.skipif(native.native().library is None, reason=native.native().status)
BOTH = ["torch", pytest.param("native", marks=needs_native)]


def naive(log_probs: list[float], gold: int, weights: list[float], factors: list[float]) -> list[float]:
    """L and ∂L / ∂ log p_k, term by term: −a log p_y − Σ_i C_i log Σ_{k ≠ i} p_k."""
    probabilities = [math.exp(value) for value in log_probs]
    value, slope = -weights[gold] * log_probs[gold], [0.0] * len(log_probs)
    slope[gold] -= weights[gold]
    for i, factor in enumerate(factors):
        others = math.fsum(p for k, p in enumerate(probabilities) if k != i)
        value -= factor * math.log(others)
        for k, p in enumerate(probabilities):
            slope[k] -= factor * p / others if k != i else 0.0
    return [value, *slope]


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_values_and_slopes_are_those_of_the_formula(engine: str, classes: int):
    torch.manual_seed(classes)
    log_probs = torch.log_softmax(torch.randn(50, classes) * 3, dim=-1)
    gold = torch.randint(0, classes, (50,))
    weights, factors = (
        torch.rand(classes),
        torch.rand(classes, classes) * (torch.rand(classes, classes) > 0.4),
    )
    result = ENGINES[engine](log_probs, gold, weights, factors)
    assert result is not None
    values, slope = result
    for row in range(50):
        y = int(gold[row])
        expected = naive(log_probs[row].tolist(), y, weights.tolist(), factors[y].tolist())
        assert [float(values[row]), *slope[row].tolist()] == pytest.approx(expected, rel=2e-4, abs=2e-5)


@pytest.mark.parametrize("engine", BOTH)
def test_at_the_extremes_values_and_slopes_are_finite(engine: str):
    """log p = (0, −500, −∞): log(1 − p₀) = −500, and where all others are impossible the lowest number."""
    low = -math.inf
    log_probs = torch.tensor([[0.0, -500.0, low], [0.0, low, low]])
    factors = torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    result = ENGINES[engine](log_probs, torch.tensor([1, 0]), torch.ones(3), factors)
    assert result is not None
    values, slope = result
    assert values.tolist() == pytest.approx([1000.0, 0.0])  # 500 of the gold class, 500 of the complement
    assert slope[0].tolist() == pytest.approx([0.0, -2.0, 0.0]) and slope[1].tolist() == [-1.0, 0.0, 0.0]
    certain = ENGINES[engine](log_probs[1:].clone(), torch.tensor([0]), torch.ones(3), torch.ones(3, 3))
    assert certain is not None and bool(torch.isfinite(certain[1]).all())


@needs_native
def test_what_cannot_be_is_refused_by_the_native_library_too():
    objective = Objective("sr", lam=0.5)
    with pytest.raises(ConfigError, match="add up to"):
        objective(torch.zeros(2, 3), torch.tensor([0, 1]))
    log_probs = torch.full((2, 3), -math.log(3))
    for outside in (-1, 3):
        with pytest.raises(ConfigError, match=f"gold holds {outside}"):
            objective(log_probs, torch.tensor([0, outside]))


@needs_native
@pytest.mark.parametrize("weighting", ["gold", "complement"])
def test_both_engines_give_the_objective_the_same_gradient(weighting: str, monkeypatch: pytest.MonkeyPatch):
    torch.manual_seed(0)
    gold = torch.randint(0, 3, (40,))
    objective = Objective("srn", lam=0.3, weights=[0.5, 2.0, 1.0], weighting=weighting)
    gradients = []
    for is_native in (True, False):
        if not is_native:
            monkeypatch.setattr(native, "is_usable_on", lambda tensor: False)
        logits = torch.linspace(-9, 9, 120).reshape(40, 3).requires_grad_()
        objective(torch.log_softmax(logits, dim=-1), gold).backward()
        gradients.append(logits.grad)
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-6, rtol=1e-5)
    assert gradients[0] is not None and bool(gradients[0].abs().sum() > 0)
