from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer

from adjudge.cli import app
from adjudge.cli.experiments import GridOptions
from adjudge.errors import ConfigError, DataError
from adjudge.experiments.plan import Plan, read_plan
from reproduce import find_reproduction, known_reproductions, main, read_reproductions, reproduce

SCRIPT = Path(__file__).parents[2] / "reproductions" / "reproduce.py"
KNOWN = known_reproductions()
ROWS = {
    f"paper-{backbone}-{objective}{weighting}": (backbone, objective, bool(weighting))
    for backbone in ("bert-base", "bert-large", "roberta-large")
    for objective in ("ce", "mll", "srn", "sr")
    for weighting in ("", "-weighted")
}

COUNTS = """
title = "The toy claims"
shows = "Nine claims, three of each label."
commands = [["data", "stats", "{data}/dev.jsonl", "--json"]]
[[needs.data]]
file = "dev.jsonl"
source = "the toy files"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "counts.toml"
    path.write_text(text)
    return path


def figure(path: str, value: float, tolerance: float = 0.0) -> str:
    return f'\n[[figures]]\npath = "{path}"\nvalue = {value}\ntolerance = {tolerance}\n'


def test_figures_are_compared_and_the_exit_code_tells(
    toy_files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = toy_files["dev"].parent
    good = figure("total", 9) + figure("labels.REFUTES", 3.2, 0.2)
    command = [str(written(tmp_path, COUNTS + good)), "--data", str(data), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "labels.REFUTES" in printed and "NO" not in printed
    assert json.loads((tmp_path / "out" / "output.json").read_text())["total"] == 9

    written(tmp_path, COUNTS + good + figure("labels.SUPPORTS", 4, 0.9))
    assert main([*command, "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert not record["ok"] and [item["ok"] for item in record["figures"]] == [True, True, False]
    assert record["figures"][2]["measured"] == 3


def test_every_unmet_need_is_listed_and_nothing_runs(toy_files: dict[str, Path], tmp_path: Path) -> None:
    import torch

    text = COUNTS + 'sha256 = "' + "0" * 64 + '"\n[[needs.data]]\nfile = "missing.json"\nsource = "nowhere"\n'
    text = text.replace("[[needs.data]]", "[needs]\ngpu = true\n[[needs.data]]", 1) + figure("total", 9)
    with pytest.raises(ConfigError) as refused:
        reproduce(find_reproduction(str(written(tmp_path, text))), toy_files["dev"].parent, tmp_path / "out")
    message = str(refused.value)
    assert (
        "dev.jsonl: is another file" in message and "missing.json: no such file. Get it: nowhere" in message
    )
    assert ("A GPU is needed" in message) != torch.cuda.is_available()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("labels.MAYBE", "'MAYBE' is not there"),
        ("format", "is 'kgat', expected a number"),
        ("total.0", "'0'"),
    ],
)
def test_a_figure_that_is_not_in_the_output_is_an_error(
    path: str, problem: str, toy_files: dict[str, Path], tmp_path: Path
) -> None:
    file = find_reproduction(str(written(tmp_path, COUNTS + figure(path, 1))))
    with pytest.raises(DataError, match=problem):
        reproduce(file, toy_files["dev"].parent, tmp_path / "out")


def test_a_failing_command_ends_the_reproduction(toy_files: dict[str, Path], tmp_path: Path) -> None:
    text = COUNTS.replace("{data}/dev.jsonl", "{data}/nothing.jsonl") + figure("total", 9)
    with pytest.raises(DataError, match="adjudge data ended with exit code 2"):
        reproduce(find_reproduction(str(written(tmp_path, text))), toy_files["dev"].parent, tmp_path / "out")


def test_a_wrong_file_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    path = written(tmp_path, 'title = "x"\ncommands = []\nresult = 1\n' + figure("total", 1, -1))
    with pytest.raises(ConfigError) as refused:
        find_reproduction(str(path))
    for problem in ("shows is missing", "commands", "result is not a setting", "figures.0.tolerance is -1"):
        assert problem in str(refused.value)


def test_every_name_is_listed_and_another_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in KNOWN)
    for arguments in (["nonsense"], []):
        with pytest.raises(ConfigError, match="--list shows them"):
            main(arguments)


def test_the_script_stops_with_one_line_and_exit_code_2() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "nonsense"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith("'nonsense' is neither") and "Traceback" not in done.stderr


def test_the_one_that_needs_nothing_gives_its_figures(tmp_path: Path) -> None:
    assert main(["world-tiny", "--out", str(tmp_path)]) == 0


def test_a_file_with_rows_is_a_reproduction_for_each(tmp_path: Path) -> None:
    path = tmp_path / "counts.toml"
    table = 'columns = ["name", "label", "count"]\nrows = [["s", "SUPPORTS", 3], ["r", "REFUTES", 4]]\n'
    path.write_text(
        table + COUNTS + '[[figures]]\npath = "labels.{label}"\nvalue = "{count}"\ntolerance = 0\n'
    )
    figures = {name: item.figures[0] for name, item in read_reproductions(path).items()}
    assert {name: (figure.path, figure.value) for name, figure in figures.items()} == {
        "counts-s": ("labels.SUPPORTS", 3),
        "counts-r": ("labels.REFUTES", 4),
    }
    assert read_reproductions(path)["counts-s"].commands == (("data", "stats", "{data}/dev.jsonl", "--json"),)


def test_rows_that_do_not_fit_their_columns_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, 'columns = ["name", "label"]\nrows = [["s"]]\n' + COUNTS + figure("total", 9))
    with pytest.raises(ConfigError, match="columns and rows do not fit"):
        read_reproductions(path)


def test_a_command_that_runs_is_terminated_and_not_killed(tmp_path: Path) -> None:
    """Another ``adjudge`` stands in for a training that has files to remove."""
    path = written(tmp_path, 'title = "x"\nshows = "y"\ncommands = [["train"]]\n' + figure("total", 1))
    left = tmp_path / "half-written"
    (tmp_path / "adjudge").mkdir()
    (tmp_path / "adjudge" / "__init__.py").touch()
    (tmp_path / "adjudge" / "__main__.py").write_text(f"""
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
path = pathlib.Path({str(left)!r})
try:
    path.touch()
    time.sleep(60)
finally:
    path.unlink()
""")
    script = f"""
import os, runpy, sys
os.environ["PYTHONPATH"] = {str(tmp_path)!r}
sys.argv = ["reproduce.py", {str(path)!r}, "--out", {str(tmp_path / "out")!r}]
runpy.run_path({str(SCRIPT)!r}, run_name="__main__")
"""
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        while not left.exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.terminate()
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
    assert not left.exists()


@pytest.mark.parametrize("name", KNOWN)
def test_every_command_of_a_shipped_reproduction_is_one(name: str) -> None:
    file = KNOWN[name]
    for command in file.commands:
        assert parsed(command)
    assert file.commands[-1][-1] == "--json"


def parsed(command: tuple[str, ...]) -> dict[str, Any]:
    """What the command line makes of a command, without running it."""
    group: Any = typer.main.get_command(app)
    context = group.commands[command[0]].make_context(command[0], list(command[1:]))
    values: dict[str, Any] = context.params
    return values


def plan_of(command: tuple[str, ...], files: dict[str, Path]) -> Plan:
    options = parsed(command)
    axes = {name: options[name] for name in ("objectives", "seeds")} | {"variants": options["variant"]}
    return read_plan(options["plan"], GridOptions(**files).plan_values(options["set_"], **axes))


def test_every_row_of_the_papers_table_has_a_reproduction() -> None:
    assert len(ROWS) == 24 and set(ROWS) <= set(KNOWN)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_trains_the_papers_arm_and_expects_the_papers_figures(
    name: str, toy_files: dict[str, Path], paper_tables: dict[str, Any]
) -> None:
    file = KNOWN[name]
    (row,) = [
        row
        for row in paper_tables["dev_results"]
        if (row["backbone"], row["objective"], row["weighting"]) == ROWS[name]
    ]
    arms = plan_of(file.commands[0], toy_files).arms
    place = 0 if name.endswith("-ce") else 1
    arm = arms[place]
    assert len(arms) == place + 1
    assert (arm.backbone, arm.objective, arm.weighted) == ROWS[name]
    assert arm.lam == row["lambda"] and arm.beta == (paper_tables["beta"] if row["weighting"] else None)
    assert [(item.path, item.value) for item in file.figures] == [
        (f"arms.{place}.selected.scores.label_accuracy", pytest.approx(row["LA"] / 100)),
        (f"arms.{place}.selected.scores.fever_score", pytest.approx(row["FS"] / 100)),
    ]
    assert file.needs.gpu and len(file.needs.data) == 4
