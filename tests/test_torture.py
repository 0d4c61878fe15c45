"""A few of the faults of ``make torture``: whatever interrupts a work, nothing is lost and the end is the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TORTURE = Path(__file__).parent / "torture" / "run.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_works_survive_being_killed_and_a_full_disk() -> None:
    done = subprocess.run(
        [sys.executable, TORTURE, "--faults", "16", "--works", "index,bulk,download,corpora", "--seed", "5"],
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report["problems"] == [] and report["faults"] == 16 and done.returncode == 0
    assert {name: figures["ends"].get("killed", 0) > 0 for name, figures in report["works"].items()} == {
        "index": True,
        "bulk": True,
        "download": True,
        "corpora": True,
    }
