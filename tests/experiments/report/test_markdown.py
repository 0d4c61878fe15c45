"""Read back with a Markdown parser of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from adjudge.experiments.report.blocks import Report
from adjudge.experiments.report.content import Content
from adjudge.experiments.report.markdown import escape, to_markdown
from adjudge.experiments.report.sections import build_report

HOSTILE = "a | b * c _d_ `e` [f](http://g) <script> &lt; $h$ # i ~j~ \\ \\| k\nl"


def tables(text: str) -> list[list[list[str]]]:
    """Every table of a page as rows of cells, markup taken off."""
    found: list[list[list[str]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and found and token.level > 3:
            found[-1][-1].append("".join(child.content for child in token.children or ()))
    return found


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return to_markdown(report)


def test_escaped_text_is_shown_as_it_is() -> None:
    rendered = MarkdownIt("commonmark").enable("table").parse(f"| x |\n|---|\n| {escape(HOSTILE)} |\n")
    (cell,) = [token for token in rendered if token.type == "inline" and "k" in token.content]
    assert "".join(child.content for child in cell.children or ()) == " ".join(HOSTILE.split())
    assert {child.type for child in cell.children or ()} <= {"text", "text_special"}


def test_the_results_are_those_of_the_table(page: str, content: Content) -> None:
    head, *rows = tables(page)[0]
    assert head == ["Objective function", "Weighting", "LA", "FS"]
    assert rows == [
        ["Backbone: my_back$bone<b>", "", "", ""],
        ["CE (baseline)", "–", "41.67", "41.67"],
        ["SR (λ=0.25)", "–", "100.00 (+58.33)*", "100.00 (+58.33)"],
        ["SR (λ=0.5)", "yes", "33.33 (−8.34)", "33.33 (−8.34)"],  # 33.33 − 41.67 as printed
    ]
    assert "| **100.00 (+58.33)**\\* | **100.00 (+58.33)** |" in page


def test_every_table_is_whole_whatever_the_texts_hold(page: str) -> None:
    found = tables(page)
    # results, seeds, differences, classes, training, calibration, three matrices, λ, changes, protocol
    assert len(found) == 12
    assert all(len(row) == len(table[0]) for table in found for row in table)
    changes = found[10]
    assert len(changes) == 1 + 7
    assert changes[1][0].startswith(
        "Claim 6 <script>alert(1)</script> | a_b*c* `d` [e](http://f.g) $x^2$ & 50%"
    )


def test_matrices_hold_the_counts(page: str, content: Content) -> None:
    # CE chosen: S, R, N, S, R right, then wrong: N → S, S → R, R → S, N → S, …
    assert tables(page)[6] == [
        ["gold, predicted", "S", "R", "NEI"],
        ["S", "2", "2", "0"],
        ["R", "2", "2", "0"],
        ["NEI", "3", "0", "1"],
        ["Total", "7", "4", "1"],
    ]


def test_unfinished_runs_are_said_first(content: Content) -> None:
    page = to_markdown(build_report(replace(content, unfinished=("x_y, SR: seed 1",))))
    assert "**Not finished, and not in this report:** x\\_y, SR: seed 1" in page.split("\n\n")[2]


def test_control_characters_are_shown_as_such() -> None:
    assert escape("a\x1b]0;title\x07b\u202e") == "a\ufffd\\]0;title\ufffdb\ufffd"
