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
