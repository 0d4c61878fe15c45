"""Standard streams that are closed, that are not UTF-8, and an interruption at any moment: words, no traceback."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from adjudge import __main__, cli
from command import adjudge


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_results_are_utf_8_whatever_the_locale(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    cli._prepare_output()
    stream.write("█ Brücke 😀")
    stream.flush()
    assert stream.buffer.getvalue().decode() == "█ Brücke 😀"


def test_a_terminal_that_shows_less_gets_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdout", stream)
    cli._prepare_output()
    stream.write("█ Brücke")
    stream.flush()
    assert stream.buffer.getvalue().decode("latin-1") == "? Brücke"


def test_a_closed_standard_input_is_called_closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("The gate closes at ten.")
    monkeypatch.setattr(sys, "stdin", None)
    done = adjudge("check", "-", "--against", tmp_path / "rules.txt", "--rules-only")
    assert (done.returncode, done.stderr) == (
        2,
        "adjudge: standard input: is closed, expected a text to check.\n",
    )


def test_a_closed_standard_error_changes_no_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with pytest.raises(SystemExit) as stop:
        cli._stop("a message")
    assert stop.value.code == 2


def test_an_interruption_while_modules_are_imported_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "adjudge.cli", SimpleNamespace(main=main))
    with pytest.raises(SystemExit) as stop:
        __main__.main()
    assert stop.value.code == 130
    assert capsys.readouterr().err == "adjudge: interrupted.\n"
