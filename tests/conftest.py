"""Fixtures that many tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real FEVER and SciFact files, where the machine has them."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real data is not at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def untrained_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights: it answers, but knows nothing."""
    import torch

    from adjudge.config import ModelSettings
    from adjudge.training.checkpoint import build, save_model
    from adjudge.types import FEVER_LABELS

    folder = tmp_path_factory.mktemp("model") / "run"
    torch.manual_seed(0)
    save_model(build(ModelSettings(backbone="tiny", max_length=64), FEVER_LABELS), folder)
    return folder
