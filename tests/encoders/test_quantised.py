from __future__ import annotations

import pytest
import torch
from torch import nn

from adjudge.encoders import native, quantised
from adjudge.encoders.quantised import Int16Linear, quantize
from adjudge.errors import ConfigError


def has_int16() -> bool:
    library = native.native().library
    return library is not None and bool(library.adjudge_has_int16())


needs_int16 = pytest.mark.skipif(not has_int16(), reason=f"no int16 here ({native.native().status})")


def naive(linear: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """Both sides rounded to whole numbers, multiplied exactly, scaled back."""
    weight = linear.weight.detach().double()
    largest = min((2**31 - 1) // (weight.shape[1] * 2047), 2**15 - 1)
    weight_scale = weight.abs().amax(dim=1, keepdim=True) / largest
    row_scale = x.double().abs().amax(dim=1, keepdim=True).clamp(min=1e-300) / 2047
    product = (x.double() / row_scale).round() @ (weight / weight_scale).round().T
    bias = 0 if linear.bias is None else linear.bias.detach().double()
    return (product * row_scale * weight_scale.T + bias).float()


@needs_int16
@pytest.mark.parametrize("rows", [1, 3, 4, 97, 200])
@pytest.mark.parametrize(("depth", "outputs"), [(1, 1), (7, 5), (16, 16), (33, 40), (384, 17)])
def test_products_are_those_of_the_rounded_numbers(rows: int, depth: int, outputs: int):
    torch.manual_seed(rows + depth)
    linear = nn.Linear(depth, outputs, bias=outputs % 2 == 1)
    x = torch.randn(rows, depth)
    found = Int16Linear(linear)(x)
    # A value halfway between two whole numbers may fall to either in single precision.
    torch.testing.assert_close(found, naive(linear, x), atol=2e-3, rtol=1e-3)
    torch.testing.assert_close(found, linear(x).detach(), atol=5e-3, rtol=0)


@needs_int16
def test_the_largest_numbers_do_not_overflow_the_sums():
    """Every product at its largest, all of one sign: 4,096 times."""
    linear = nn.Linear(4096, 16)
    with torch.no_grad():
        linear.weight.fill_(-0.5)
        linear.bias.zero_()
    x = torch.full((2, 4096), 3.0)
    torch.testing.assert_close(Int16Linear(linear)(x), torch.full((2, 16), -6144.0), rtol=1e-5, atol=0)


@needs_int16
def test_a_row_does_not_depend_on_the_rows_beside_it_nor_on_threads():
    torch.manual_seed(0)
    layer = Int16Linear(nn.Linear(64, 48))
    x = torch.randn(300, 64) * torch.logspace(-3, 3, 300)[:, None]
    whole = layer(x)
    assert torch.equal(layer(x[117:118]), whole[117:118])
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert torch.equal(layer(x), whole)
    finally:
        torch.set_num_threads(threads)


@needs_int16
def test_rows_of_zeros_no_rows_and_more_dimensions():
    layer = Int16Linear(nn.Linear(6, 4))
    torch.testing.assert_close(layer(torch.zeros(2, 6)), layer.bias.expand(2, 4))
    assert layer(torch.zeros(0, 6)).shape == (0, 4)
    x = torch.randn(2, 3, 6)
    assert torch.equal(layer(x), layer(x.view(6, 6)).view(2, 3, 4))


@needs_int16
def test_only_large_layers_are_replaced():
    model = nn.Sequential(
        nn.Linear(256, 256), nn.Sequential(nn.Linear(256, 300), nn.ReLU()), nn.Linear(300, 3)
    )
    x = torch.randn(5, 256)
    expected = model(x).detach()
    quantize(model)
    assert [type(m) for m in model.modules() if isinstance(m, (nn.Linear, Int16Linear))] == [
        Int16Linear,
        Int16Linear,
        nn.Linear,
    ]
    torch.testing.assert_close(model(x).detach(), expected, atol=2e-3, rtol=0)


def test_without_the_library_it_is_refused_and_not_preferred(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(quantised, "native", lambda: native.Native(None, "plain PyTorch: no C++ compiler"))
    assert not quantised.is_faster()
    with pytest.raises(ConfigError, match=r"int16 is not possible here \(plain PyTorch: no C\+\+ compiler\)"):
        quantize(nn.Linear(2, 2))
