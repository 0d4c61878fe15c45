"""Models that look trained, and their folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from adjudge.encoders.loading import tiny_encoder
from adjudge.judges.folder import METADATA


def leave_out_hashes(folder: Path) -> None:
    """As whoever wrote a model's folder could have."""
    metadata = json.loads((folder / METADATA).read_text())
    del metadata["files"], metadata["checksum"]
    (folder / METADATA).write_text(json.dumps(metadata))


def nudged(model: Any) -> Any:
    """Away from the initial weights, as training would."""
    torch.manual_seed(11)
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model


def save_backbone(folder: Path, seed: int) -> Path:
    """A tiny encoder with its tokenizer, as transformers writes it."""
    encoder, tokenizer = tiny_encoder(seed)
    encoder.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
