"""A short version of ``make soak``, and what it takes for growth."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parent / "soak" / "run.py"


def load_soak():
    spec = importlib.util.spec_from_file_location("soak_run", SOAK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_a_server_under_load_gives_the_same_answers_and_leaves_nothing(untrained_run: Path) -> None:
    pytest.importorskip("uvicorn")
    command = [sys.executable, SOAK, "--minutes", "0.1", "--clients", "2"]
    done = subprocess.run(
        [*command, "--model", untrained_run, "--selector", "lexical", "--precision", "fp32"],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["problems"] == [] and report["requests"]["question"] > 0


def test_growth_is_what_the_last_quarter_has_more_than_the_second() -> None:
    soak = load_soak()
    warm = [soak.Sample(100.0, 10, 5)] * 4
    even = [soak.Sample(300.0, 20, 8)] * 12
    assert soak.growth_in(warm + even, clients=2) == []
    growing = [
        soak.Sample(300.0 + 20 * n, 20 + n, 8) for n in range(12)
    ]  # medians: 330 and 490 MB, 21.5 and 29.5
    assert soak.growth_in(warm + growing, clients=2) == [
        "memory grew from 330 to 490 MB",
        "descriptors grew from 22 to 30",
    ]


def test_answers_are_alike_up_to_what_a_batch_changes() -> None:
    soak = load_soak()
    answer = {
        "label": "SUPPORTS",
        "probabilities": {"SUPPORTS": 0.5},
        "evidence": [{"text": "a", "score": 1}],
    }
    close = {**answer, "probabilities": {"SUPPORTS": 0.500001}}
    assert soak.alike(answer, close)
    assert not soak.alike(answer, {**answer, "probabilities": {"SUPPORTS": 0.501}})
    assert not soak.alike(answer, {**answer, "evidence": []})
