from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from adjudge.config import ModelSettings
from adjudge.training.checkpoint import build, save_model
from adjudge.types import FEVER_LABELS


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sums are split by the number of threads; files that are to agree byte for byte need the same."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights: it answers, but knows nothing."""
    folder = tmp_path_factory.mktemp("model") / "run"
    torch.manual_seed(0)
    save_model(build(ModelSettings(backbone="tiny", max_length=64), FEVER_LABELS), folder)
    return folder


@pytest.fixture
def rivers(tmp_path: Path) -> Path:
    """A folder of one document with two sentences."""
    folder = tmp_path / "rivers"
    folder.mkdir()
    (folder / "rivers.txt").write_text("The Elbe flows through Dresden. The Rhine flows through Cologne.")
    return folder
