"""Limits of the system, reached in the test's own process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def files_left(count: int) -> Iterator[None]:
    """No more than so many files can be opened beside those that are open."""
    resource = pytest.importorskip("resource", reason="limits as on POSIX")
    first_free = os.dup(0)
    os.close(first_free)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free + count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
