"""The command, and what it needs."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from adjudge.experiments.report.blocks import Report
from adjudge.experiments.report.terminal import to_terminal
from command import adjudge


def test_the_command_writes_all_three_prints_where_and_repeats_itself_to_the_byte(
    comparison: Path, tuning: Path, tmp_path: Path, source: str
) -> None:
    done = adjudge("report", comparison, "--tuning", tuning, "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    paths = [tmp_path / f"report.{kind}" for kind in ("html", "md", "tex")]
    assert done.stdout.split() == [str(path) for path in paths]
    assert paths[0].read_text("utf-8") == source
    assert all(path.stat().st_size > 1000 for path in paths)


def test_by_default_the_report_joins_the_comparison(own_comparison: Path) -> None:
    done = adjudge("report", own_comparison, "--format", "md", "--between", "CE", "SR + weighting")
    assert done.stdout == f"{own_comparison / 'report.md'}\n"
    page = (own_comparison / "report.md").read_text("utf-8")
    assert "Changed predictions: CE and SR + weighting" in page


def test_format_folder_and_title_may_be_chosen(comparison: Path, tmp_path: Path) -> None:
    done = adjudge("report", comparison, "--format", "md, tex", "--out", tmp_path / "new", "--title", "Mine")
    assert done.returncode == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["report.md", "report.tex"]
    assert (tmp_path / "new" / "report.md").read_text("utf-8").startswith("# Mine\n")


def test_an_unfinished_comparison_gives_a_report_that_says_so(own_comparison: Path) -> None:
    (own_comparison / "runs" / "sr11" / "manifest.json").unlink()
    assert adjudge("report", own_comparison, "--format", "md").returncode == 0
    assert "**Not finished, and not in this report:**" in (own_comparison / "report.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "pdf"], "--format 'pdf': expected some of html, md, tex.\n"),
        (["--between", "CE", "MLL"], "--between 'MLL': no finished arm has this name"),
        (["--tuning", "nowhere"], "nowhere: holds no tuning (tuning.json)"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_written(
    arguments: list[str], message: str, comparison: Path, tmp_path: Path
) -> None:
    done = adjudge("report", comparison, "--out", tmp_path / "new", *arguments)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_folder_without_a_comparison_is_refused(tmp_path: Path) -> None:
    done = adjudge("report", tmp_path)
    assert done.returncode == 2
    assert "holds no comparison (comparison.json); make one with adjudge compare" in done.stderr


@pytest.mark.parametrize("missing", ["matplotlib", "jinja2"])
def test_without_the_extra_the_page_is_refused_and_the_texts_are_written(
    missing: str, comparison: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    done = adjudge("report", comparison, "--out", tmp_path / "new")
    assert done.returncode == 2
    assert (
        'needs matplotlib and Jinja2 (--format md,tex does not): pip install "adjudge[report]".'
        in done.stderr
    )
    assert not (tmp_path / "new").exists()
    assert adjudge("report", comparison, "--out", tmp_path / "new", "--format", "md,tex").returncode == 0


def test_reports_are_made_without_torch(comparison: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from adjudge.experiments.report import gather, write_report\n"
        "write_report(gather(Path(sys.argv[1])), Path(sys.argv[2]), ['md', 'tex'])\n"
        "print([name for name in ('torch', 'transformers', 'matplotlib', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, comparison, tmp_path], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "[]\n", done.stderr


def test_a_title_cannot_steer_the_terminal(report: Report) -> None:
    console = Console(file=io.StringIO(), width=200)
    console.print(to_terminal(replace(report, title="a\x1b[2Jb", findings=("c\x07d",))))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "a\ufffd[2Jb" in shown and "c\ufffdd" in shown and "\x1b" not in shown
