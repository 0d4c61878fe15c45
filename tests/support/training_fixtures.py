"""A training that takes a moment, and one thread for sums that are to agree bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

import tiny_run


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """The module ``tiny_run``: claims, a model and a training that take a moment."""
    return tiny_run


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Sums are split by the number of threads; runs that are to agree bit for bit use the same."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
