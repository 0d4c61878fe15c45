"""The rules of the house: who may import whom, what stays light, what is public."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import adjudge
from adjudge.errors import MissingExtra

SOURCE = Path(__file__).parents[1] / "src" / "adjudge"
# Left to right; rooms on one line stand side by side and do not see each other. Tables of plain data stand in the room
# that they are about, but as far left as they can, so that settings can derive from them.
ORDER: tuple[frozenset[str], ...] = tuple(
    frozenset(rooms.split())
    for rooms in (
        "errors",
        "types",
        "judges.registry objectives.tables",
        "config",
        "io",
        "data",
        "facts",
        "evaluation",
        "encoders",
        "objectives",
        "judges",
        "retrieval",
        "training",
        "runs",
        "serving",
        "testing",
        "integrations",
        "cluster",
        "experiments",
        "cli",
    )
)
PLACE = {room: place for place, rooms in enumerate(ORDER) for room in rooms}
TESTS = Path(__file__).parent
MAX_LINES = 400
MAX_STATEMENTS = 40
VAGUE = ("found", "said", "chosen", "told", "place", "where")
HEAVY = ("torch", "transformers")


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name below ``adjudge``."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


MODULES = modules()


def room(module: str) -> str:
    first, second = [*module.split("."), "", ""][:2]
    return f"{first}.{second}" if f"{first}.{second}" in PLACE else first


def imported(module: str, path: Path) -> Iterator[tuple[int, str]]:
    """(line, module below adjudge) for each import of the package by itself, wherever it is written."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = f"adjudge.{module}".split(".")
            if path.name != "__init__.py":
                package.pop()
            base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (
            (node.lineno, name.removeprefix("adjudge.")) for name in names if name.startswith("adjudge.")
        )


def heavy_modules_after(code: str) -> list[str]:
    """Which of the heavy packages a fresh interpreter holds after running ``code``."""
    report = f"import sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


def light_modules() -> list[str]:
    """The rooms that work without torch, and the package itself."""
    names = [name for name in MODULES if PLACE.get(room(name), len(ORDER)) <= PLACE["evaluation"]]
    return ["adjudge", *(f"adjudge.{name}" for name in names)]


@pytest.mark.parametrize("module", [name for name in MODULES if name])
def test_a_module_imports_only_from_rooms_to_its_left(module):
    assert room(module) in PLACE or room(module).startswith("__"), f"{module} is in no room; add it to ORDER"
    here = PLACE.get(room(module), len(ORDER))
    for line, name in imported(module, MODULES[module]):
        other = room(name)
        if other == room(module) or other.startswith("__"):
            continue
        assert other in PLACE, f"{MODULES[module]}:{line}: imports {name!r}, which is in no room"
        assert PLACE[other] < here, f"{MODULES[module]}:{line}: {room(module)} must not import from {other}"


def test_the_import_rule_sees_every_way_of_importing(tmp_path):
    path = tmp_path / "kgat.py"
    path.write_text(
        "import adjudge.training.loop\n"
        "from adjudge.data import fever\n"
        "from adjudge import types\n"
        "from ..evaluation.scoring import score\n"
        "from .kernels import pool\n"
        "def late():\n    from adjudge.serving import verifier\n"
        "import torch\n"
    )
    assert sorted(imported("models.kgat", path)) == [
        (1, "training.loop"),
        (2, "data.fever"),
        (3, "types"),
        (4, "evaluation.scoring.score"),
        (5, "models.kernels.pool"),
        (7, "serving.verifier"),
    ]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_fits_in_the_head(module):
    lines = len(MODULES[module].read_text("utf-8").splitlines())
    assert lines <= MAX_LINES, f"{MODULES[module]} has {lines} lines; divide it"


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_a_test_module_fits_in_the_head_too(path):
    lines = len(path.read_text("utf-8").splitlines())
    assert lines <= MAX_LINES, f"{path} has {lines} lines; divide it by topic"


def test_functions_are_short():
    """The training loop alone is long: it is to be read in one piece."""
    long = {
        f"{module}.{node.name}"
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) - 1 > MAX_STATEMENTS
    }
    assert long <= {"training.loop.train"}


def vague_names(path: Path) -> list[str]:
    """Names that a module binds and that say nothing of their value: ``line: name``."""
    tree = ast.parse(path.read_text("utf-8"))
    bound: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.append((node.lineno, node.id))
        elif isinstance(node, ast.arg):
            bound.append((node.lineno, node.arg))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.append((node.lineno, node.name))
    names = [(line, name) for line, name in bound if name.strip("_").lower() in VAGUE]
    names += [
        (node.lineno, target.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == "number"  # a loop over numbered things may say so
    ]
    return [f"{line}: {name}" for line, name in sorted(names)]


@pytest.mark.parametrize("module", MODULES)
def test_a_name_says_what_its_value_is(module):
    assert not vague_names(MODULES[module]), f"{MODULES[module]}: names that say nothing of their value"


def test_the_rule_of_names_sees_every_way_of_binding(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "found = 1\n"
        "for _, place in []: pass\n"
        "def told(where): pass\n"
        "if (chosen := 2): pass\n"
        "number = 3\n"
        "for number in range(3): pass\n"
        "said: int = 4\n"
        "x = [x for found, x in []]\n"
        "well_found = found\n"
    )
    assert [entry.split(": ")[1] for entry in vague_names(path)] == (
        ["found", "place", "told", "where", "chosen", "number", "said", "found"]
    )


def test_data_and_evaluation_import_without_torch():
    statements = "\n".join(f"import {name}" for name in light_modules())
    assert heavy_modules_after(statements) == []


def test_help_answers_without_loading_the_models():
    code = "import sys\nfrom adjudge.cli import main\nsys.argv = ['adjudge', '--help']\n"
    assert (
        heavy_modules_after(f"{code}try:\n    main()\nexcept SystemExit as end:\n    assert not end.code")
        == []
    )


def test_the_command_is_installed_and_explains_itself():
    command = Path(sys.executable).with_name("adjudge")
    done = subprocess.run(
        [command, "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stderr
    assert "Usage: adjudge" in done.stdout


def test_every_module_can_be_imported():
    names = [info.name for info in pkgutil.walk_packages(adjudge.__path__, "adjudge.")]
    assert {name.removeprefix("adjudge.") for name in names if not name.endswith("__main__")} == {
        name for name in MODULES if name and not name.endswith("__main__")
    }
    for name in names:
        if not name.endswith("__main__"):
            with suppress(MissingExtra):  # of integrations
                importlib.import_module(name)


class TestPublicNames:
    def test_the_public_names_are_the_promised_ones(self):
        promised = {"Verifier", "Objective", "class_balanced_weights", "score", "mcnemar"}
        records = {"Claim", "Evidence", "Example", "Label", "LabelSet", "Page", "Sentence", "Verdict"}
        assert promised | records <= set(adjudge.__all__)

    def test_they_are_listed_once_and_in_order(self):
        names = [name for name in adjudge.__all__ if name != "__version__"]
        assert names == sorted(set(names), key=lambda name: (name.upper() != name, name[0].islower(), name))

    def test_each_resolves_and_is_documented(self):
        for name in adjudge.__all__:
            value = getattr(adjudge, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                doc = inspect.getdoc(value) or ""
                # A dataclass or named tuple without a docstring documents itself with its signature.
                assert doc and not doc.startswith(f"{name}("), f"adjudge.{name} has no docstring"

    def test_each_shows_up_in_dir_and_star_import(self):
        assert set(adjudge.__all__) <= set(dir(adjudge))
        namespace: dict[str, object] = {}
        exec("from adjudge import *", namespace)
        assert set(adjudge.__all__) <= set(namespace)

    def test_a_name_that_does_not_exist_is_an_attribute_error(self):
        with pytest.raises(AttributeError, match="no_such_name"):
            _ = adjudge.no_such_name


class TestArchitecture:
    TEXT = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text("utf-8")

    def test_it_lists_the_rooms_in_the_order_that_imports_go(self):
        table = self.TEXT.partition("## The rooms")[2].partition("##")[0]
        listed = re.findall(r"^\| `(\w+)` \|", table, re.M)
        assert set(listed) == {name for name in PLACE if "." not in name}
        assert listed == sorted(listed, key=lambda name: PLACE[name])

    def test_every_file_it_names_exists(self):
        named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", self.TEXT)
        assert len(named) > 10
        package = SOURCE.parents[1] / "src" / "adjudge"
        missing = [
            name
            for name in named
            if not (package / name).exists() and not (SOURCE.parents[1] / name).exists()
        ]
        assert not missing

    def test_every_public_record_it_names_exists(self):
        named = set(re.findall(r"`([A-Z][A-Za-z]+)`", self.TEXT))
        source = "\n".join(path.read_text("utf-8") for path in (SOURCE.parents[1] / "src").rglob("*.py"))
        assert not [name for name in named if not re.search(rf"^class {name}\b", source, re.M)]

    def test_it_fits_on_a_page(self):
        assert len(self.TEXT.splitlines()) <= 90
