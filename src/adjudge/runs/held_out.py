"""Training claims kept from the gradient, for what a head fits when its encoder is trained (BEVERS' trees)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.training.entities import is_in_share
from adjudge.types import Example

if TYPE_CHECKING:
    import torch

    from adjudge.encoders.dataset import Dataset


def split_held_out(claims: Iterable[Example], share: float) -> tuple[Iterable[Example], list[Example]]:
    """(claims to train on, claims held out). A claim's text decides, so that its examples stay together."""
    if not share:
        return claims, []
    training: list[Example] = []
    held_out: list[Example] = []
    for example in claims:
        (held_out if is_in_share(example.claim, share) else training).append(example)
    return training, held_out


def fit_held_out(
    run: Path,
    held_out: Iterable[Example],
    dev: Dataset | None,
    freeze_layers: int,
    seed: int,
    device: torch.device,
) -> float | None:
    """Fit what the head of a run's checkpoint fits by itself, and save it; returns its accuracy on the dev claims."""
    import numpy as np
    import torch

    from adjudge.encoders.dataset import cut_into_batches, tokenize
    from adjudge.judges.folder import load_model, save_model
    from adjudge.judges.predict import log_probabilities

    model = load_model(run, freeze_layers)
    model.module.to(device)
    data = tokenize(held_out, model.writer, model.labels)
    features = []
    for claims in cut_into_batches(data, range(len(data)), model.batch_tokens):
        with torch.inference_mode():
            features.append(model.module.features(data.batch(claims).to(device)).cpu().double().numpy())
    model.module.fit_held_out(np.concatenate(features) if features else np.empty((0, 0)), data.labels, seed)
    save_model(model, run / "checkpoint")
    if dev is None:
        return None
    answers = log_probabilities(model, dev).argmax(dim=-1)
    return float((answers == dev.gold(range(len(dev)))).float().mean())
