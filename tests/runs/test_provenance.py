"""What is said of when and how long something was computed."""

from __future__ import annotations

import time

import pytest

from adjudge.runs.provenance import Start, provenance


def test_a_clock_that_is_set_back_does_not_change_how_long_a_run_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_000_000_000.0)
    start = Start(clock=1_000_003_600.0)  # an hour later, by the clock as it was
    record = provenance(start)
    assert record["started"] == "2001-09-09T02:46:40+00:00"
    assert 0 <= record["seconds"] < 60
