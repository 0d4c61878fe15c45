"""A small comparison on the tiny backbone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.data.kgat import write_examples
from adjudge.types import Evidence, Example

LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")


def toy_examples(claims: int) -> list[Example]:
    """Claims whose label a sentence gives away."""
    clue = {"SUPPORTS": "yes yes yes", "REFUTES": "no no no", "NOT ENOUGH INFO": "perhaps"}
    return [
        Example(
            i,
            f"claim {i}",
            (Evidence(clue[LABELS[i % 3]], "Page", i), Evidence("other", "Page", 99)),
            LABELS[i % 3],
        )
        for i in range(claims)
    ]


@pytest.fixture
def toy_files(tmp_path: Path) -> dict[str, Path]:
    """Training, dev and test claims in KGAT's format."""
    paths = {name: tmp_path / f"{name}.jsonl" for name in ("train", "dev", "test")}
    for name, path in paths.items():
        write_examples(path, toy_examples(24 if name == "train" else 9))
    return paths


@pytest.fixture(scope="session")
def paper_tables(shared_data: Path) -> dict[str, Any]:
    """Every number of the paper's tables, where the machine has them."""
    path = shared_data.parent / "paper" / "tables.json"
    if not path.is_file():
        pytest.skip(f"the paper's tables are not at {path}")
    tables: dict[str, Any] = json.loads(path.read_text())
    return tables
