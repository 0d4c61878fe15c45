"""Every command and every Python block of the README is run, except those that say why not.

A block is left out by an HTML comment on the line before it: ``<!-- not run: needs minutes -->``.
The blocks run in the order of the page, first the commands, then Python, all in one folder, so that later
ones may use what earlier ones made. In ``console`` blocks lines that begin with ``$`` are
commands, the others their output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SHELL = {"bash", "sh", "shell", "console"}
BLOCK = re.compile(
    r"^(?:<!--\s*not run:\s*(?P<why>[^>]*?)\s*-->\n+)?^```(?P<language>\w+)[^\n]*\n(?P<body>.*?)^```[ \t]*$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Block:
    language: str
    body: str
    line: int
    left_out: str | None

    @property
    def script(self) -> str:
        """What the reader would type."""
        if self.language != "console":
            return self.body
        typed = re.findall(r"^\$ ((?:[^\n]*\\\n)*[^\n]*\n)", self.body, re.M)
        return "".join(typed)


def parse(text: str) -> list[Block]:
    return [
        Block(m["language"], m["body"], text.count("\n", 0, m.start("body")), m["why"])
        for m in BLOCK.finditer(text)
    ]


BLOCKS = parse(README.read_text("utf-8"))


def environment(home: Path) -> dict[str, str]:
    """The shell of a reader who has activated .venv, without a network."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "110",
    }


def execute(command: list[str], folder: Path, where: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=400,  # a dozen commands, on a busy machine
        check=False,
    )
    assert done.returncode == 0, f"{where} exits with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole page, as a reader would use."""
    return tmp_path_factory.mktemp("readme")


def test_every_command_of_the_readme_works(folder):
    for block in BLOCKS:
        if block.language in SHELL and block.left_out is None:
            execute(["bash", "-euxo", "pipefail", "-c", block.script], folder, f"README.md:{block.line}")


def test_every_python_block_of_the_readme_works(folder):
    for block in BLOCKS:
        if block.language == "python" and block.left_out is None:
            execute([sys.executable, "-c", block.body], folder, f"README.md:{block.line}")


def test_the_readme_has_something_to_run():
    languages = {block.language for block in BLOCKS if block.left_out is None}
    assert languages & SHELL and "python" in languages


def test_a_make_command_of_the_readme_names_a_target():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = {
        target
        for block in BLOCKS
        if block.language in SHELL
        for target in re.findall(r"\bmake ([a-z-]+)", block.script)
    }
    assert named <= targets


def test_the_reader_finds_blocks_commands_and_exceptions():
    page = (
        "# Title\n\n```console\n$ echo a \\\n    b\na b\n$ true   # fine\n```\n\n"
        "<!-- not run: needs minutes -->\n```bash\nmake demo\n```\n\n"
        "```python\nx = 1\n```\n\n```text\nnothing\n```\n"
    )
    console, bash, python, text = parse(page)
    assert console.script == "echo a \\\n    b\ntrue   # fine\n" and console.left_out is None
    assert bash.script == "make demo\n" and bash.left_out == "needs minutes"
    assert (python.language, python.body, python.line) == ("python", "x = 1\n", 15)
    assert text.language == "text"


def test_a_failing_command_is_noticed_and_named(tmp_path):
    with pytest.raises(AssertionError, match=r"(?s)README.md:7 exits with 1:.*\+ test -e no-such-file"):
        execute(["bash", "-euxo", "pipefail", "-c", "test -e no-such-file\ntrue"], tmp_path, "README.md:7")
