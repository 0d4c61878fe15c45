"""The list of what verifying needs without torch follows the package's own."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_light_list_is_the_packages_without_torch_and_scipy():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = (ROOT / "requirements-light.txt").read_text("utf-8").splitlines()
    light = {line for line in lines if line and not line.startswith("#")}
    heavy = {line for line in project["dependencies"] if line.startswith(("torch", "transformers", "scipy"))}
    assert len(heavy) == 3
    tokenizers = {
        line for line in light if line.startswith("tokenizers")
    }  # comes with transformers elsewhere
    assert light - tokenizers == set(project["dependencies"]) - heavy and len(tokenizers) == 1
