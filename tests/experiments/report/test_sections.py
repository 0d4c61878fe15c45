"""What one format shows, every format shows: each is read back and compared with the report as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import pytest
from lxml import html as pages
from markdown_it import MarkdownIt
from rich.console import Console

from adjudge.experiments.report import latex
from adjudge.experiments.report.blocks import Block, Plot, Report, Section, Table, cells_of, table_of
from adjudge.experiments.report.content import Content
from adjudge.experiments.report.html import to_html
from adjudge.experiments.report.latex import to_latex
from adjudge.experiments.report.markdown import to_markdown
from adjudge.experiments.report.sections import DETAILS, build_report
from adjudge.experiments.report.terminal import to_terminal


def squeezed(text: str) -> str:
    """Letters and figures alone: formats break lines and set marks where they like."""
    return re.sub(r"""[\s│┃|*✓✗"'“”‘’`{}]+""", "", text)


def page_text(report: Report) -> str:
    return pages.document_fromstring(to_html(report)).find("body").text_content()


def markdown_text(report: Report) -> str:
    rendered = MarkdownIt("commonmark").enable("table").render(to_markdown(report))
    return pages.fromstring(f"<div>{rendered}</div>").text_content()


def latex_text(report: Report) -> str:
    """The special characters and commands taken back; a table wider than a page is in two parts."""
    source = to_latex(report)
    for character, code in sorted(latex._SPECIAL.items(), key=lambda item: -len(item[1])):
        source = source.replace(code, character) if len(code) > 1 else source
    return re.sub(r"\\(newline|item|textbf|noindent)\b|[{}&\\]", "", source)


def terminal_text(report: Report) -> str:
    console = Console(file=StringIO(), width=1000, record=True)
    console.print(to_terminal(report))
    return console.export_text()


FORMATS = {"html": page_text, "md": markdown_text, "tex": latex_text, "terminal": terminal_text}


def words_of(report: Report) -> Iterator[str]:
    """Every text of a report, down to the cells."""
    yield from (report.title, report.subtitle, *report.findings)
    yield from (part for warning in report.warnings for part in warning)
    for section in report.sections:
        yield section.title
        for block in section.blocks:
            yield from words_in(block)


def words_in(block: Block) -> Iterator[str]:
    if isinstance(block, str):
        yield block
    elif isinstance(block, Table):
        head = block.head[1:] if block.kind == "matrix" else block.head  # LaTeX writes Gold and Prediction
        yield from () if block.kind == "facts" else (block.caption, block.title, block.summary, *head)
        for row in block.rows:
            for entry in [row] if isinstance(row, str) else row:
                for cell in cells_of(entry):
                    yield from (cell.text, cell.note, cell.tag)


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_leaves_anything_out(name: str, report: Report) -> None:
    plain = replace(report, title="T", sections=tuple(map(tame, report.sections)))
    shown = squeezed(FORMATS[name](plain))
    assert [text for text in words_of(plain) if squeezed(text) not in shown] == []
    assert all(words in shown for words in ("Goldinjected", "Changedpredictions", "c0ffee", "Total"))


def tame(section: Section) -> Section:
    """Letters and blanks only where claims and settings try to break out: that is tested format by format."""

    def tamed(text: str) -> str:
        return re.sub(r"<script>.*?'l'", "hostile", text)

    def tamed_row(row: object) -> object:
        if isinstance(row, str):
            return tamed(row)
        return tuple(
            tamed(entry)
            if isinstance(entry, str)
            else tuple(replace(c, text=tamed(c.text)) for c in cells_of(entry))
            for entry in row  # type: ignore[attr-defined]
        )

    blocks = [
        replace(block, rows=tuple(map(tamed_row, block.rows)))  # type: ignore[arg-type]
        if isinstance(block, Table)
        else tamed(block)
        if isinstance(block, str)
        else block
        for block in section.blocks
    ]
    return replace(section, blocks=tuple(blocks))


def test_a_plot_has_a_table_for_formats_without_plots(report: Report) -> None:
    drawn = [section for section in report.sections if any(isinstance(b, Plot) for b in section.blocks)]
    assert len(drawn) == 6
    assert all(any(isinstance(block, Table) for block in section.blocks) for section in drawn)


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_added_to_the_list_is_in_every_format(
    name: str, content: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seconds(content: Content, arms: object) -> Iterator[Block]:
        rows = [
            {"Objective": row.arm.name, "Seconds": f"{row.runs[0].seconds}"} for row in content.summary.arms
        ]
        yield table_of("How long the first seed took.", rows)

    monkeypatch.setitem(DETAILS, "Times", seconds)
    shown = squeezed(FORMATS[name](build_report(content)))
    assert "Times" in shown and "Howlongthefirstseedtook." in shown and "2.5" in shown


def test_rows_are_as_wide_as_their_table_and_labels_are_used_once(report: Report) -> None:
    for table in (
        block for section in report.sections for block in section.blocks if isinstance(block, Table)
    ):
        assert {len(row) for row in table.rows if not isinstance(row, str)} == {len(table.head)}
    labels = re.findall(r"\\label\{(.*?)\}", to_latex(report))
    assert len(set(labels)) == len(labels) and {"tab:results", "tab:over-seeds", "tab:protocol"} <= set(
        labels
    )
