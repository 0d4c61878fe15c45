from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """The module ``tiny_run``: claims, a model and a training that take a moment."""
    path = Path(__file__).parent / "tiny_run.py"
    spec = importlib.util.spec_from_file_location("tiny_run", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tiny_run"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sums are split by the number of threads; runs that are to agree bit for bit use the same."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
