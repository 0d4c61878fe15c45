"""Fixtures that many tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# Some virtual machines announce AMX and die of its instructions, which oneDNN uses for bfloat16.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

SHARED_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"

pytest_plugins = [
    "comparison_fixtures",
    "hand_rows",
    "server_fixtures",
    "serving_fixtures",
    "training_fixtures",
]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real FEVER and SciFact files, where the machine has them."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real data is not at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What commands keep in the user's cache does not outlive the tests; the native library stays built."""
    from platformdirs import user_cache_path

    built = user_cache_path("adjudge") / "native"
    cache = tmp_path_factory.mktemp("user-cache")
    built.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        if user_cache_path("adjudge").is_relative_to(cache):
            (cache / "adjudge").mkdir(mode=0o700)
            (cache / "adjudge" / "native").symlink_to(built)
        yield


@pytest.fixture(scope="session")
def untrained_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights: it answers, but knows nothing."""
    import torch

    from adjudge.config import ModelSettings
    from adjudge.judges.folder import save_model
    from adjudge.judges.row_model import build
    from adjudge.types import FEVER_LABELS

    folder = tmp_path_factory.mktemp("model") / "run"
    torch.manual_seed(0)
    save_model(build(ModelSettings(backbone="tiny", max_length=64), FEVER_LABELS), folder)
    return folder
