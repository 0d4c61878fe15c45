from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PAPER_TABLES = Path(__file__).resolve().parents[3] / "shared" / "paper" / "tables.json"


@pytest.fixture(scope="session")
def paper_results() -> list[dict[str, Any]]:
    """The paper's 24 development results with their confusion matrices, where the machine has them."""
    if not PAPER_TABLES.is_file():
        pytest.skip(f"the paper's tables are not at {PAPER_TABLES}")
    results: list[dict[str, Any]] = json.loads(PAPER_TABLES.read_text())["dev_results"]
    return results
