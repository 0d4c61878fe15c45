"""The wordings that come with the package: TOML files of sentences with slots, and of what fills them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from adjudge.config import read_toml


@cache
def read_wordings(name: str) -> dict[str, Any]:
    """The file ``wordings/<name>.toml``; what it gives is shared and must not be changed."""
    with resources.as_file(resources.files(__package__) / "wordings" / f"{name}.toml") as path:
        return read_toml(path)
