from __future__ import annotations

from pathlib import Path

import pytest
import torch

from adjudge.config import ModelSettings
from adjudge.judges.row_model import RowJudge, build
from adjudge.types import FEVER_LABELS
from trained_model import save_backbone


@pytest.fixture
def backbone(tmp_path: Path) -> Path:
    return save_backbone(tmp_path / "backbone", seed=0)


@pytest.fixture
def trained(backbone: Path) -> RowJudge:
    """A model whose second layer moved a little, as training moves it."""
    torch.manual_seed(1)
    model = build(ModelSettings(kind="mixture", backbone=str(backbone), max_length=48), FEVER_LABELS)
    with torch.no_grad():
        for parameter in model.module.backbone.encoder.encoder.layer[1].parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    model.module.eval()
    return model
