from __future__ import annotations

from types import ModuleType

import torch
from torch import nn

from adjudge.encoders.adapters import SCALE, AdaptedLinear, add_adapters, merge_adapters
from adjudge.encoders.precision import set_precision
from adjudge.judges.predict import log_probabilities


def adapted(rank: int = 3) -> AdaptedLinear:
    torch.manual_seed(0)
    layer = AdaptedLinear(nn.Linear(12, 7), rank)
    nn.init.normal_(layer.up)
    return layer


def test_values_and_gradients_are_those_of_the_formula():
    """y = x (W₀ + SCALE · up · down)ᵀ + b, differentiated by PyTorch."""
    layer = adapted()
    x, weights = torch.randn(4, 5, 12, requires_grad=True), torch.randn(4, 5, 7)
    trained = [x, layer.down, layer.up, layer.bias]
    ours = torch.autograd.grad((layer(x) * weights).sum(), trained)
    y = x @ (layer.weight + SCALE * layer.up @ layer.down).T + layer.bias
    torch.testing.assert_close(layer(x), y, atol=1e-5, rtol=1e-5)
    for mine, theirs in zip(ours, torch.autograd.grad((y * weights).sum(), trained), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=1e-4)


def test_under_autocast_products_are_in_half_precision_and_gradients_in_single():
    layer, x = adapted(), torch.randn(64, 12)
    exact = torch.autograd.grad(layer(x).square().mean(), [layer.down, layer.up, layer.bias])
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x)
    assert y.dtype is torch.bfloat16
    half = torch.autograd.grad(y.float().square().mean(), [layer.down, layer.up, layer.bias])
    for mine, theirs in zip(half, exact, strict=True):  # bfloat16 has eight bits: two to three digits
        assert mine.dtype is torch.float32
        torch.testing.assert_close(mine, theirs, atol=0.03 * float(theirs.abs().max()), rtol=0)


def test_the_first_layer_of_a_model_needs_no_gradient_of_its_input():
    layer = adapted()
    layer(torch.randn(5, 12)).sum().backward()
    assert layer.up.grad is not None and layer.weight.grad is None


def test_a_merged_layer_is_plain_and_gives_the_same():
    layer, x = adapted(), torch.randn(5, 12)
    holder = nn.Sequential(layer)
    merge_adapters(holder)
    assert type(holder[0]) is nn.Linear
    torch.testing.assert_close(holder(x), layer(x), atol=1e-6, rtol=1e-6)


def test_every_linear_layer_inside_gets_an_adapter_of_its_own():
    layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 4)) for _ in range(2))
    add_adapters(layers, rank=2)
    assert sum(isinstance(module, AdaptedLinear) for module in layers.modules()) == 4


def test_a_judge_made_ready_to_predict_has_merged_its_adapters(tiny: ModuleType):
    model = tiny.make_model(adapters=2)
    model.module.eval()
    for module in model.module.modules():
        if isinstance(module, AdaptedLinear):
            nn.init.normal_(module.up, std=0.1)
    data, _ = tiny.data_for(model)
    before = log_probabilities(model, data)
    assert not torch.allclose(before, log_probabilities(tiny.make_model(), data), atol=1e-3)
    set_precision(model.module, "fp32")
    assert not any(isinstance(module, AdaptedLinear) for module in model.module.modules())
    torch.testing.assert_close(log_probabilities(model, data), before, atol=1e-5, rtol=0)
