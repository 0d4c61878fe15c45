from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sums are split by the number of threads; files that are to agree byte for byte need the same."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def run(untrained_run: Path) -> Path:
    return untrained_run


@pytest.fixture
def rivers(tmp_path: Path) -> Path:
    """A folder of one document with two sentences."""
    folder = tmp_path / "rivers"
    folder.mkdir()
    (folder / "rivers.txt").write_text("The Elbe flows through Dresden. The Rhine flows through Cologne.")
    return folder
