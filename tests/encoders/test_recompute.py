"""Layers computed again in the backward pass give the gradient that kept ones give, dropout and all."""

from __future__ import annotations

import pytest
import torch

from adjudge.encoders import native
from adjudge.encoders.backbone import Backbone
from adjudge.encoders.loading import tiny_encoder
from batches import LENGTHS, batch_of


def gradients(recompute: bool) -> tuple[dict[str, torch.Tensor], int]:
    """Gradients of a sum of squares under dropout, and how many numbers the graph keeps."""
    backbone = Backbone(tiny_encoder()[0], pooling="mean").train()
    backbone.set_dropout(0.3)
    backbone.recompute = recompute
    kept = 0

    def count(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal kept
        kept += tensor.numel() if not isinstance(tensor, torch.nn.Parameter) else 0
        return tensor

    torch.manual_seed(7)
    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        loss = backbone(batch_of(LENGTHS, pad=0)).pooled.square().sum()
    forward = kept
    loss.backward()
    return {n: p.grad for n, p in backbone.named_parameters() if p.grad is not None}, forward


@pytest.mark.parametrize("is_native", [True, False])
def test_the_gradient_is_the_same_and_less_is_kept(is_native: bool, monkeypatch: pytest.MonkeyPatch):
    if not is_native:
        monkeypatch.setattr(native, "is_usable_on", lambda tensor: False)
    plain, kept = gradients(recompute=False)
    again, kept_again = gradients(recompute=True)
    assert plain.keys() == again.keys() and len(plain) > 30
    for name, gradient in plain.items():
        assert torch.equal(gradient, again[name]), name
    assert kept_again < 0.5 * kept
