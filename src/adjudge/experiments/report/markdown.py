"""A report as Markdown: tables that GitHub and editors show, no pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adjudge.data.text import without_controls
from adjudge.experiments.report.blocks import Cell, Entry, Plot, Report, Table, cells_of


def to_markdown(report: Report) -> str:
    """The whole report."""
    return "\n\n".join(_parts(report)) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is, in one line: no markup, no HTML, no cell borders."""
    line = without_controls(" ".join(text.split()))
    line = re.sub(r"([\\`*_\[\]#|~<>$])", r"\\\1", line)
    return line.replace("&", "&amp;")


def _parts(report: Report) -> Iterator[str]:
    yield f"# {escape(report.title)}"
    yield escape(report.subtitle)
    for what, why in report.warnings:
        yield f"**{escape(what)}** {escape(why)}"
    yield "\n".join(f"- {escape(sentence)}" for sentence in report.findings)
    for section in report.sections:
        yield f"{'#' * section.level} {escape(section.title)}"
        for block in section.blocks:
            if isinstance(block, Table):
                yield from _table(block)
            elif not isinstance(block, Plot):
                yield escape(block)


def _table(table: Table) -> Iterator[str]:
    lead = ": ".join(filter(None, (table.title, table.summary, table.caption)))
    yield escape(lead)
    rule = [":--"] * table.words + ["--:"] * (len(table.head) - table.words)
    lines = [[escape(name) for name in table.head], rule]
    for row in table.rows:
        if isinstance(row, str):
            lines.append([f"**{escape(row)}**", *[""] * (len(table.head) - 1)])
        else:
            lines.append([_entry(entry) for entry in row])
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _entry(entry: Entry) -> str:
    return "<br>".join(map(_cell, cells_of(entry)))


def _cell(cell: Cell) -> str:
    text = escape(cell.plain())
    return (f"**{text}**" if cell.best else text) + ("\\*" if cell.star else "")
