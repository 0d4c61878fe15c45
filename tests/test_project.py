"""The files around the package agree with it and with one another."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import adjudge

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCK = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def unlocked_extras() -> set[str]:
    """Extras whose pins clash with the lock; each has an environment of its own."""
    return set(re.search(r"^UNLOCKED := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)[1].split())


def test_every_dependency_is_in_the_lock_with_a_version_it_allows():
    extras = PROJECT["optional-dependencies"]
    assert unlocked_extras() <= set(extras)
    locked = [extras[name] for name in extras if name not in unlocked_extras()]
    wanted = [*PROJECT["dependencies"], *sum(locked, [])]
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        if name == "adjudge":
            continue
        pins = [pin for pin in LOCK if canonicalize_name(pin.name) == name]
        assert pins, f"{name} is not in constraints.txt: run make lock"
        for pin in pins:
            (version,) = (spec.version for spec in pin.specifier)
            assert version in requirement.specifier, f"{pin} is not {requirement}: run make lock"


def test_the_lock_names_versions_only():
    text = (ROOT / "constraints.txt").read_text("utf-8")
    assert "://" not in text and "--" not in text
    assert all(re.fullmatch(r"==[^*]+", str(pin.specifier)) for pin in LOCK)
    assert "torch==2.13.0" in text.splitlines()
    assert not [pin.name for pin in LOCK if pin.name.startswith(("nvidia", "cuda", "triton"))]


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == adjudge.__version__
    assert citation["license"] == PROJECT["license"]


def test_every_page_of_the_documentation_is_in_its_navigation():
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    listed = set(re.findall(r"'([^']+\.md)'", repr(navigation)))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert listed == written


def test_make_help_lists_every_target():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = set(re.findall(r"^  make ([a-z-]+)", done.stdout, re.M))
    targets = set(re.findall(r"^\.PHONY: ([a-z-]+)$", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert listed == targets
    assert {"demo", "test", "lint", "bench", "docs", "lock", "clean"} <= targets
