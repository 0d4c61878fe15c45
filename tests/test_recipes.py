"""The recipes of docs/check.md: the hook, the action, the fixture and the guard, run as a user would."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from adjudge.testing import assert_supported
from command import adjudge

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "check.md").read_text("utf-8")
DOCUMENT = "# Vel bridge\n\nThe Vel bridge was opened in 1932. It is 120 metres long.\n"
RIGHT = "The Vel bridge was opened in 1932.\n"
WRONG = "The Vel bridge was opened in 1934.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bridge.md").write_text(DOCUMENT)
    (tmp_path / "right.md").write_text(RIGHT)
    (tmp_path / "wrong.md").write_text(WRONG)
    return tmp_path


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def test_the_hook_passes_a_right_text_and_stops_a_wrong_one(folder):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, *arguments = shlex.split(hook["entry"])
    assert program == "adjudge" and re.search(hook["files"], "right.md")
    (config,) = [block for block in blocks("yaml") if "adjudge-check" in block]
    (own,) = yaml.safe_load(config)["repos"][0]["hooks"]
    assert own["id"] == hook["id"]
    assert adjudge(*arguments, *own["args"], "right.md", cwd=folder).returncode == 0
    done = adjudge(*arguments, *own["args"], "right.md", "wrong.md", cwd=folder)
    assert done.returncode == 1 and "1934 in the text, 1932 in the evidence" in done.stdout


def test_the_action_annotates_and_fails(folder):
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    step = action["runs"]["steps"][-1]
    inputs = {name: entry.get("default", "") for name, entry in action["inputs"].items()}
    inputs |= {"files": "right.md wrong.md", "against": "docs"}
    environment = {
        name: inputs[re.search(r"inputs\.([\w-]+)", value)[1]] for name, value in step["env"].items()
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **environment, "PATH": path, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error file=wrong.md,line=1,col=30,endColumn=34,")


def test_the_fixture_fails_with_the_sentence_and_its_evidence(folder):
    assert_supported(RIGHT, [folder / "docs"], model="rules")
    with pytest.raises(
        AssertionError, match=r"The text has 1934, the evidence 1932\. Evidence: “The Vel bridge was"
    ):
        assert_supported(WRONG, [DOCUMENT], model="rules")
    assert_supported("Zebras gallop very quickly.", [DOCUMENT], model="rules", fail_on="refuted")


def test_the_fixture_is_one_of_pytest(tmp_path):
    (example,) = [block for block in blocks("python") if "def test_" in block]
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["adjudge.testing"]\n')
    (tmp_path / "test_answer.py").write_text(example)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", tmp_path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


def test_the_guard_lets_a_right_answer_pass_and_replaces_a_wrong_one():
    (guard,) = [block for block in blocks("python") if "def answer" in block]
    assert len(guard.splitlines()) <= 15
    for written, expected in ((RIGHT, RIGHT), (WRONG, "I am not sure: The Vel bridge was opened in 1934.")):
        space: dict[str, object] = {"ask_model": lambda question, documents, written=written: written}
        exec(guard.replace('"small"', '"rules", selector="lexical"'), space)
        assert space["answer"]("When?", [DOCUMENT]) == expected  # type: ignore[operator]
