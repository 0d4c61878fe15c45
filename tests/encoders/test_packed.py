from __future__ import annotations

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from adjudge.encoders.packed import attend, pack, unpack

LENGTHS = [3, 1, 5, 3, 2]


def test_rows_lie_end_to_end_the_shortest_first():
    packing = pack(torch.tensor([3, 1, 3]), longest=4)
    # Row 1 (one token at 4), then row 0 (tokens 0, 1, 2), then row 2 (8, 9, 10).
    assert packing.positions.tolist() == [4, 0, 1, 2, 8, 9, 10]
    assert packing.starts.tolist() == [1, 0, 4]
    assert packing.spans == ((1, 1), (2, 3))


def test_unpacking_puts_every_token_back_and_leaves_zeros():
    packing = pack(torch.tensor(LENGTHS), longest=6)
    padded = torch.randn(5, 6, 2) * (torch.arange(6) < torch.tensor(LENGTHS)[:, None])[..., None]
    packed = padded.flatten(0, 1)[packing.positions]
    assert len(packed) == sum(LENGTHS)
    assert torch.equal(unpack(packed, packing, 5, 6), padded)


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-6), (torch.bfloat16, 0.05)])
def test_attention_stays_inside_each_row(dtype: torch.dtype, atol: float):
    """Values and gradients against one row at a time, in single precision; bfloat16 keeps two to three digits."""
    packing = pack(torch.tensor(LENGTHS), longest=5)
    generator = torch.Generator().manual_seed(0)
    ours = [torch.randn(sum(LENGTHS), 8, generator=generator).requires_grad_() for _ in range(3)]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    attended = attend(*(tensor.to(dtype) for tensor in ours), packing, heads=2)
    assert attended.dtype is dtype
    found = attended.float()
    expected, start = [], 0
    for length in sorted(LENGTHS):
        end = start + length
        q, k, v = (t[start:end].view(1, length, 2, 4).transpose(1, 2) for t in theirs)
        expected.append(scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(length, 8))
        start = end
    torch.testing.assert_close(found, torch.cat(expected), atol=atol, rtol=1e-5)
    weights = torch.randn(found.shape, generator=generator)
    (found * weights).sum().backward()
    (torch.cat(expected) * weights).sum().backward()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=atol, rtol=1e-5)
