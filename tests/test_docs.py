"""The documentation is run: commands are parsed by the real command line, Python blocks are executed.

A block is left out by an HTML comment on the line before it (``<!-- not run: why -->``); its commands are parsed too.
Pages run in a folder with ``documents/``, a copy of the sample documents; the blocks of a page run in order.
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer.main

from adjudge.cli import app
from adjudge.errors import MissingExtra
from command import adjudge

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
RUN_ELSEWHERE = {
    "check.md": "tests/test_recipes.py",
    "objectives.md": "tests/objectives/test_adapters.py",
    "scale.md": "tests/serving/test_search_cluster.py",
}
INTEGRATED = {"haystack", "langchain_core", "llama_index", "deepeval"}
BLOCK = re.compile(
    r"^(?:<!--\s*not run:\s*(?P<why>[^>]*?)\s*-->\n)?^```(?P<language>\w+)[^\n]*\n(?P<body>.*?)^```[ \t]*$",
    re.M | re.S,
)
INDENTED = re.compile(r"^    (adjudge (?:[^\n]*\\\n)*[^\n]*)$", re.M)


def blocks(page: Path, language: str) -> list[tuple[str, str | None]]:
    """(body, why it is not run) of every block of a language."""
    return [
        (match["body"], match["why"])
        for match in BLOCK.finditer(page.read_text("utf-8"))
        if match["language"] == language
    ]


def commands(page: Path) -> list[str]:
    """Every ``adjudge`` command of a page, its lines joined."""
    text = page.read_text("utf-8")
    scripts = [body for body, _ in blocks(page, "bash")] + INDENTED.findall(text)
    lines = "\n".join(scripts).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip().startswith("adjudge ")]


def problem_with(line: str) -> str | None:
    """What the command line itself says against a command, which is parsed and not run."""
    words = shlex.split(line, comments=True)[1:]
    end = next((n for n, word in enumerate(words) if word in ("|", ">", ">>", "&&", ";")), len(words))
    command, words = typer.main.get_command(app), words[:end]
    while hasattr(command, "commands"):
        name, *words = words or [""]
        if name not in command.commands:
            return f"no such command: {name!r}"
        command = command.commands[name]
    try:
        command.make_context(command.name, words)
    except Exception as error:
        if not hasattr(error, "format_message"):  # every complaint about usage has it
            raise
        return error.format_message()
    return None


ALL_COMMANDS = [(page, line) for page in PAGES for line in commands(page) if "…" not in line]


@pytest.mark.parametrize(
    ("page", "line"),
    ALL_COMMANDS,
    ids=[f"{page.relative_to(DOCS)}-{number}" for number, (page, _) in enumerate(ALL_COMMANDS)],
)
def test_a_command_of_the_documentation_has_the_options_of_the_real_one(page, line):
    assert problem_with(line) is None, f"{page}: {line}"


@pytest.mark.parametrize(
    "line",
    [
        "adjudge idnex documents",
        "adjudge index documents --ouf town",
        "adjudge data wrold",
        "adjudge search x --k 0",
    ],
)
def test_a_command_that_does_not_exist_is_noticed(line):
    assert problem_with("adjudge index documents --out town  # a comment") is None
    assert problem_with(line)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "tests" / "resources" / "documents", folder / "documents")
    return folder


def pages_with(language: str) -> list[str]:
    names = [page.relative_to(DOCS).as_posix() for page in PAGES]
    return [
        name
        for name in names
        if name not in RUN_ELSEWHERE and any(why is None for _, why in blocks(DOCS / name, language))
    ]


@pytest.mark.parametrize("name", pages_with("python"))
def test_the_python_of_a_page_runs(name, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    space: dict[str, object] = {"__name__": "__main__"}
    for body, why in blocks(DOCS / name, "python"):
        if why is not None:
            continue
        try:
            exec(compile(body, name, "exec"), space)
        except ImportError as error:
            if not isinstance(error, MissingExtra) and error.name not in INTEGRATED:
                raise
            pytest.skip(f"{error}; make integration-test runs this page")
    assert capsys.readouterr().out.strip(), f"{name}: its Python prints nothing"


@pytest.mark.parametrize("name", pages_with("bash"))
def test_the_commands_of_a_page_run(name, folder):
    for body, why in blocks(DOCS / name, "bash"):
        if why is not None or "labelled.jsonl" in body:  # the reader's own claims
            continue
        for line in body.replace("\\\n", " ").splitlines():
            if line.startswith("adjudge "):
                done = adjudge(*shlex.split(line, comments=True)[1:], cwd=folder)
                assert done.returncode == 0, f"{name}: {line}\n{done.stderr}"
            elif line.strip():
                subprocess.run(
                    ["bash", "-euc", line], cwd=folder, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}
                )


def test_five_minutes_gives_the_verdicts_that_the_documents_give(folder):
    (folder / "article.md").write_text("The Ellery Bridge was opened in 1934.\n")
    done = adjudge(
        "check", "article.md", "--corpus", "documents", "--rules-only", "--fail-on", "refuted", cwd=folder
    )
    assert done.returncode == 1 and "1934 in the text" in done.stdout


def test_the_pictures_are_those_that_the_script_draws():
    drawn = runpy.run_path(str(DOCS / "images" / "draw.py"))["pictures"]()
    assert drawn == {name: (DOCS / "images" / name).read_text("utf-8") for name in drawn}


def test_the_reference_shows_every_public_name():
    import adjudge as package

    shown = set(re.findall(r"^::: adjudge\.[\w.]*\.(\w+)$", (DOCS / "api.md").read_text("utf-8"), re.M))
    assert set(package.__all__) - {"__version__", "FEVER_LABELS"} <= shown


def test_pages_that_are_run_elsewhere_are_named_there():
    for name, test in RUN_ELSEWHERE.items():
        assert name in (ROOT / test).read_text("utf-8")
