"""The scripts of benchmarks/ and reproductions/ use names that the package has."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("reproductions/*.py")])


def names_used(path: Path) -> list[tuple[str, str]]:
    """(module, name) of everything that a script takes from the package, inside functions too."""
    imports = [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    return [
        (node.module, alias.name)
        for node in imports
        if node.module and node.module.split(".")[0] == "adjudge"
        for alias in node.names
    ]


def has_name(module: str, name: str) -> bool:
    if hasattr(importlib.import_module(module), name):
        return True
    try:  # a module of a package
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_a_script_takes_from_the_package_is_there(path: Path) -> None:
    assert [f"{module}.{name}" for module, name in names_used(path) if not has_name(module, name)] == []


def test_a_name_that_is_gone_is_noticed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "def main():\n    from adjudge.types import Label, Gone\n    from adjudge import types\n"
    )
    assert [pair for pair in names_used(script) if not has_name(*pair)] == [("adjudge.types", "Gone")]
