"""A report as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as View
from rich.text import Text

from adjudge.data.text import without_controls
from adjudge.evaluation.render import beside
from adjudge.experiments.report.blocks import Entry, Report, Table, cells_of

_MATRICES_IN_A_LINE = 4


def to_terminal(report: Report) -> RenderableType:
    """The whole report."""
    return Group(*_parts(report))


def _parts(report: Report) -> Iterator[RenderableType]:
    yield _text(f"{report.title}\n{report.subtitle}", style="bold")
    for what, why in report.warnings:
        yield Text.assemble((without_controls(what), "bold yellow"), _text(f" {why}"))
    yield from (_text(f"• {sentence}") for sentence in report.findings)
    for section in report.sections:
        yield _text(f"\n{section.title}", style="bold underline" if section.level == 2 else "bold")
        for kind, blocks in section.by_kind():
            views = [_table(block) if isinstance(block, Table) else _text(str(block)) for block in blocks]
            if kind == "matrix":
                starts = range(0, len(views), _MATRICES_IN_A_LINE)
                views = [beside(views[start : start + _MATRICES_IN_A_LINE]) for start in starts]
            yield from views if kind != "plot" else ()


def _table(table: Table) -> View:
    title = ": ".join(filter(None, (table.title, table.summary, table.caption)))
    shape: dict[str, Any] = {"box": None, "min_width": len(title)} if table.kind == "matrix" else {}
    view = View(title=_text(title), title_justify="left", title_style="dim", **shape)
    for column, name in enumerate(table.head):
        view.add_column(_text(name), justify="left" if column < table.words else "right", overflow="fold")
    for row in table.rows:
        if isinstance(row, str):
            view.add_row(_text(row, style="bold"))
        else:
            view.add_row(*map(_entry, row))
    return view


def _entry(entry: Entry) -> Text:
    texts = [
        _text(cell.plain() + ("*" if cell.star else ""), style="bold" if cell.best else "")
        for cell in cells_of(entry)
    ]
    return Text("\n").join(texts)


def _text(text: str, style: str = "") -> Text:
    """Text of titles, labels and claims, which may come from anywhere."""
    return Text(without_controls(text), style=style)
