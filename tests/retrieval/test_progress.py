"""What a build says of the time left."""

from __future__ import annotations

import pytest

from adjudge.retrieval.progress import IndexProgress


def progress(done: int, total: int, seconds: float, files_seconds: float) -> IndexProgress:
    return IndexProgress(1, 2, done, total, 1, 1, seconds, files_seconds=files_seconds)


def test_a_small_file_before_a_large_one_tells_no_time() -> None:
    """One byte in 0.1 s and 90 million to go would be 9 million seconds."""
    assert progress(1, 90_000_000, 0.1, 0.1).eta is None
    assert progress(0, 0, 0.1, 0.0).eta is None


def test_time_that_a_file_has_taken_is_no_longer_ahead() -> None:
    # 100 of 400 bytes took 5 s, so the other 300 take 15 s, of which 6 have passed.
    assert progress(100, 400, 5.0, 5.0).eta == pytest.approx(15)
    assert progress(100, 400, 11.0, 5.0).eta == pytest.approx(9)
    assert progress(100, 400, 60.0, 5.0).eta == 0
