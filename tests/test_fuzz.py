"""A few of the inputs of ``make fuzz``: every reader answers its seeds, and damaged ones in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "fuzz" / "run.py"


@pytest.mark.skipif(sys.platform == "win32", reason="bounds memory as POSIX does")
def test_every_reader_answers_damaged_data_in_words() -> None:
    done = subprocess.run(
        [sys.executable, FUZZ, "--inputs", "40"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FUZZ.parents[1] / "support"), *sys.path])},
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer for answer in answers if "problem" in answer] == [] and done.returncode == 0, done.stderr
    assert len(answers) >= 26 and all(answer["read"] + answer["refused"] >= 40 for answer in answers)
    assert sum(answer["read"] for answer in answers) > 100 < sum(answer["refused"] for answer in answers)
