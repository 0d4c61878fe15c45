"""A small comparison on the tiny backbone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.config import settings_from, to_toml
from adjudge.data.verdicts import write_verdicts
from adjudge.io.files import write_json
from toy import TINY_RUN, toy_files, toy_verdict


@pytest.fixture(name="toy_files")
def written_toy_files(tmp_path: Path) -> dict[str, Path]:
    """Training, dev and test claims in KGAT's format."""
    return toy_files(tmp_path)


@pytest.fixture
def written_comparison(toy_files: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    """Write a comparison's folder by hand: for each arm and seed the tuning LA and what was said of nine claims."""

    def write(runs: list[tuple[dict[str, Any], int, float, str]]) -> Path:
        folder = tmp_path / "written"
        settings = settings_from({**TINY_RUN, "data": toy_files})
        entries = []
        for number, (arm, seed, dev, said) in enumerate(runs):
            path = folder / "runs" / f"run{number}"
            path.mkdir(parents=True)
            (path / "config.toml").write_text(to_toml(settings))
            judgement = path / "judgements" / "toy"
            write_verdicts(judgement / "predictions.jsonl", map(toy_verdict, range(9), said))
            write_json(judgement / "judgement.json", {"data": {}})
            write_verdicts(path / "dev_predictions.jsonl", map(toy_verdict, range(9), said))
            manifest = {"best_dev_label_accuracy": dev, "seconds": 2.0, "data": {}, "machine": {}}
            write_json(path / "manifest.json", {**manifest, "versions": {}, "git_commit": None})
            arm = {"backbone": "tiny", "objective": "ce", "weighted": False, **arm}
            entries.append({"arm": arm, "seed": seed, "run": f"runs/{path.name}"})
        record = {"title": "t", "command": "c", "protocol": "nested", "gold_injected": False, "runs": entries}
        record |= {"judgement": "toy", "test": str(toy_files["test"]), "gold": None}
        write_json(folder / "comparison.json", record)
        return folder

    return write


@pytest.fixture(scope="session")
def paper_tables(shared_data: Path) -> dict[str, Any]:
    """Every number of the paper's tables, where the machine has them."""
    path = shared_data.parent / "paper" / "tables.json"
    if not path.is_file():
        pytest.skip(f"the paper's tables are not at {path}")
    tables: dict[str, Any] = json.loads(path.read_text())
    return tables
