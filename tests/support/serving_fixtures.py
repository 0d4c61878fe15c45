from __future__ import annotations

from pathlib import Path

import pytest


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
