"""What the commands that index, search and verify show on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from adjudge.cli.output import terminal_safe
from adjudge.cli.progress import index_progress
from adjudge.cli.views.evidence import sentences_view, verdict_view
from adjudge.retrieval import IndexProgress
from adjudge.types import Evidence, Verdict


@pytest.mark.parametrize(
    ("source", "page", "location", "expected"),
    [
        ("/d/notes/a.md", "notes/a.md", None, "/d/notes/a.md, sentence 3"),
        ("a.md", "a.md", None, "a.md, sentence 3"),
        ("/d/report.pdf", "d/report.pdf#page=2", None, "/d/report.pdf, page 2, sentence 3"),
        ("/d/a#b.txt", "d/a#b.txt", None, "/d/a#b.txt, sentence 3"),
        ("/d/long.txt", "d/long.txt#4", None, "/d/long.txt, part 4, sentence 3"),
        ("/d/x.xlsx", "d/x.xlsx#sheet=1", "Sales!A5:C5", "/d/x.xlsx, Sales!A5:C5, sentence 3"),
        (
            "/d/x.epub",
            "d/x.epub#chapter=2",
            "table 1, row 2",
            "/d/x.epub, chapter 2, table 1, row 2, sentence 3",
        ),
        ("/d/wiki.jsonl", "Ellery", None, "/d/wiki.jsonl, Ellery, sentence 3"),
        (None, "Ellery", None, "Ellery, sentence 3"),
    ],
)
def test_a_sentence_says_where_it_stands_and_names_its_file_once(
    source: str | None, page: str, location: str | None, expected: str
) -> None:
    stream = io.StringIO()
    sentence = Evidence("It rained.", page, 3, score=0.5, source=source, location=location)
    Console(file=stream, width=120).print(sentences_view([sentence]))
    assert [line.strip() for line in stream.getvalue().splitlines()] == ["0.50  It rained.", expected]


def test_a_log_of_embedding_has_no_rate_once_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("adjudge.cli.progress.LOG_SECONDS", 0.0)
    with index_progress(Console(file=stream, width=120)) as progress:
        for embedded, left in ((20, 4.0), (60, 0.0)):
            progress(IndexProgress(1, 1, 9, 9, 1, 60, 1.0, embedded, 60, left))
    # 40 left in 4 s are 10 a second.
    assert "embedding: 20/60 sentences, 10/s, ETA 4 s" in stream.getvalue()
    assert stream.getvalue().endswith("embedding: 60/60 sentences\n")


def test_text_from_documents_cannot_steer_the_terminal() -> None:
    assert terminal_safe("a\x1b[2J\tb\r\nc\u202ed") == "a\ufffd[2J b c\ufffdd"
    hostile = Evidence("[red]No[/red] \x1b]0;title\x07", "p\x1b[1m", 0, 1.0, 0.5, "/s\x1b", 0, 3)
    verdict = Verdict(0, "\x1b[31mclaim", "REFUTES", {"SUPPORTS": 0.1, "REFUTES": 0.9}, (hostile,))
    plain = Console(file=io.StringIO(), width=100)
    plain.print(verdict_view(verdict))
    shown = plain.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in shown and "\x07" not in shown
    assert "[red]No[/red]" in shown


def test_a_terminal_gets_colour() -> None:
    verdict = Verdict(0, "Claim.", "REFUTES", {"SUPPORTS": 0.1, "REFUTES": 0.9}, (Evidence("No.", "p", 0),))
    coloured = Console(file=io.StringIO(), width=100, force_terminal=True, color_system="standard")
    coloured.print(verdict_view(verdict))
    assert "\x1b[1;31mREFUTES" in coloured.file.getvalue()  # type: ignore[attr-defined]
