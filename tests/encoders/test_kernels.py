from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from adjudge.encoders.kernels import KERNELS, kernel_grid, kernel_pooling

# fmt: off
MU = [1.0, 0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15, 0.05,
      -0.05, -0.15, -0.25, -0.35, -0.45, -0.55, -0.65, -0.75, -0.85, -0.95]
# fmt: on
SIGMA = [0.001] + [0.1] * 20


def dense(similarity: Tensor, mask: Tensor) -> Tensor:
    """All kernels of all pairs at once, straight from the formula."""
    mu, sigma = torch.tensor(MU, dtype=similarity.dtype), torch.tensor(SIGMA, dtype=similarity.dtype)
    kernels = torch.exp(-((similarity.unsqueeze(-1) - mu) ** 2) / (2 * sigma**2))  # (…, J, 21)
    pooled = (kernels * mask.to(similarity.dtype).unsqueeze(-1)).sum(dim=-2)
    return torch.log(torch.clamp(pooled, min=1e-10))


def cosines(*shape: int, seed: int = 0) -> Tensor:
    values = 2 * torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 1
    values[..., 0] = 1.0  # an exact match
    return values


def test_the_grid_is_exact_match_then_twenty_soft_kernels():
    mu, sigma = kernel_grid()
    assert KERNELS == 21
    assert mu == pytest.approx(MU)
    assert sigma == pytest.approx(SIGMA)


@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 10_000))
@settings(deadline=None, max_examples=30)
def test_pooling_equals_the_dense_formula(rows: int, columns: int, seed: int):
    similarity = cosines(rows, columns, seed=seed)
    mask = torch.rand(rows, columns, generator=torch.Generator().manual_seed(seed + 1)) < 0.7
    torch.testing.assert_close(
        kernel_pooling(similarity, mask), dense(similarity, mask), atol=1e-10, rtol=1e-10
    )


def test_gradients_agree_with_finite_differences():
    similarity = cosines(2, 3, 4)
    # Finite differences cannot see a kernel of width 1e-3 from a step of 1e-6 unless the points lie near it.
    similarity[..., 0] = 0.9995
    similarity.requires_grad_()
    mask = torch.tensor([[1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 1]]).bool()
    assert torch.autograd.gradcheck(
        lambda s: kernel_pooling(s, mask).tanh(), (similarity,), eps=1e-7, atol=1e-4
    )


def test_gradients_equal_those_of_the_dense_formula():
    mask = torch.rand(3, 5, generator=torch.Generator().manual_seed(3)) < 0.6
    weights = torch.randn(3, 21, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    ours, theirs = (cosines(3, 5).requires_grad_() for _ in range(2))
    (kernel_pooling(ours, mask) * weights).sum().backward()
    (dense(theirs, mask) * weights).sum().backward()
    assert ours.grad is not None and theirs.grad is not None
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-9, rtol=1e-9)
    assert not ours.grad[~mask].any()


def test_an_exact_match_fills_its_kernel_and_a_near_match_does_not():
    exact, near = kernel_pooling(torch.tensor([[1.0], [0.99]]), torch.tensor([True]))
    assert exact[0] == pytest.approx(0.0, abs=1e-6)  # log 1
    assert near[0] == pytest.approx(math.log(1e-10))  # e^{-50} is under the floor
    # At M = 1 the kernel at 0.95 gives −0.05² / 0.02 = −0.125.
    assert exact[1] == pytest.approx(-0.125, abs=1e-5)


def test_two_equal_tokens_add_up():
    once = kernel_pooling(torch.tensor([0.3]), torch.tensor([True]))
    twice = kernel_pooling(torch.tensor([0.3, 0.3]), torch.tensor([True, True]))
    above = once > -20
    torch.testing.assert_close((twice - once)[above], torch.full((int(above.sum()),), math.log(2)))


def test_without_tokens_every_kernel_is_at_the_floor_and_has_no_gradient():
    similarity = torch.rand(2, 3, requires_grad=True)
    phi = kernel_pooling(similarity, torch.zeros(3, dtype=torch.bool))
    torch.testing.assert_close(phi, torch.full((2, 21), math.log(1e-10)))
    phi.sum().backward()
    assert similarity.grad is not None
    assert not similarity.grad.any()


def test_masked_values_do_not_matter_even_when_wild():
    mask = torch.tensor([True, False])
    calm = kernel_pooling(torch.tensor([0.2, 0.0]), mask)
    wild = kernel_pooling(torch.tensor([0.2, 1.0]), mask)
    assert torch.equal(calm, wild)


def test_kernels_stay_in_float32_under_autocast():
    similarity = cosines(4, 6).float().requires_grad_()
    mask = torch.ones(6, dtype=torch.bool)
    plain = kernel_pooling(similarity, mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = kernel_pooling(similarity, mask)
    assert inside.dtype == torch.float32
    assert torch.equal(inside, plain)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_similarities_are_widened_first(dtype: torch.dtype):
    similarity = cosines(3, 4).to(dtype)
    phi = kernel_pooling(similarity, torch.ones(4, dtype=torch.bool))
    assert phi.dtype == torch.float32
    torch.testing.assert_close(phi, kernel_pooling(similarity.float(), torch.ones(4, dtype=torch.bool)))
