"""Dropout by the native library: as many zeros as asked for, anywhere, the same in both directions."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from adjudge.encoders import native
from adjudge.encoders.dropout import Dropout, dropout, use_fast_dropout

needs_library = pytest.mark.skipif(native.native().library is None, reason=native.native().status)


def draws(share: float, *shape: int, seed: int = 0) -> torch.Tensor:
    """True where a number was dropped."""
    torch.manual_seed(seed)
    return dropout(torch.ones(shape), share) == 0


@needs_library
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_share_is_dropped_and_the_rest_keeps_the_mean(share: float):
    torch.manual_seed(1)
    x = torch.randn(300, 1000)
    found = dropout(x, share)
    zero = found == 0
    # Five standard deviations of a binomial count.
    assert abs(int(zero.sum()) - share * x.numel()) < 5 * math.sqrt(x.numel() * share * (1 - share))
    torch.testing.assert_close(found[~zero], x[~zero] / (1 - share))


@needs_library
def test_what_is_dropped_has_nothing_to_do_with_its_place_or_with_another_draw():
    share, rows = 0.5, draws(0.5, 64, 4096).double()
    for pattern in (
        rows[:, 1:] * rows[:, :-1],  # neighbours
        rows[:, 16:] * rows[:, :-16],
        rows[1:] * rows[:-1],  # the place below
        rows * draws(0.5, 64, 4096, seed=1),  # another seed
    ):
        expected = share**2
        sd = math.sqrt(expected * (1 - expected) / pattern.numel())
        assert abs(float(pattern.mean()) - expected) < 5 * sd
    for count in (rows.sum(0), rows.view(-1, 32).sum(0)):  # by place in the row, and by bits of the place
        n = rows.numel() / len(count)
        chi_square = float(((count - n * share) ** 2 / (n * share * (1 - share))).sum())
        assert abs(chi_square - len(count)) < 5 * math.sqrt(2 * len(count))


@needs_library
def test_the_gradient_passes_where_the_number_did():
    x = torch.randn(7, 33, requires_grad=True)
    found = dropout(x, 0.3)
    found.backward(torch.ones_like(found))
    assert x.grad is not None
    torch.testing.assert_close(x.grad, torch.where(found == 0, 0.0, 1 / 0.7))


@needs_library
def test_the_generator_decides_and_the_number_of_threads_does_not():
    one = draws(0.2, 1000, 400)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert torch.equal(draws(0.2, 1000, 400), one)
    finally:
        torch.set_num_threads(threads)
    assert not torch.equal(draws(0.2, 1000, 400, seed=2), one)
    torch.manual_seed(0)
    first, second = (dropout(torch.ones(50), 0.5) for _ in range(2))
    assert not torch.equal(first, second)


@needs_library
def test_a_transposed_tensor_is_read_in_its_own_order():
    x = torch.arange(1.0, 13).view(3, 4).t()
    found = dropout(x, 0.5)
    assert torch.equal(found[found != 0], (2 * x)[found != 0])


def test_double_precision_is_left_to_pytorch():
    assert dropout(torch.ones(1000, dtype=torch.float64), 0.5).dtype == torch.float64


def test_nothing_is_dropped_in_evaluation_or_with_a_share_of_zero():
    x = torch.randn(5, 5)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    assert torch.equal(Dropout(0.0)(x), x)


def test_every_dropout_of_a_module_is_replaced():
    module = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(0.3), nn.ReLU())).eval()
    use_fast_dropout(module)
    inner = module[1][0]
    assert type(inner) is Dropout and inner.p == 0.3 and not inner.training
