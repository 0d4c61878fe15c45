"""A table of an HTML file while it is read: cells that span rows and columns, and the rows' sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from adjudge.data.documents.blocks import Block
from adjudge.data.documents.tables import TableReader, TableRow, row_blocks

MAX_SPAN = 1000
"""Columns of a row, and rows or columns of a cell; what a file says beyond that is left out."""

MAX_SHARED = 2000
"""Characters that a row has in common with those above, of cells that span rows."""


@dataclass
class HtmlTable:
    """The row that is being read, and the table that makes sentences of those before."""

    number: int
    table: TableReader = field(default_factory=TableReader)
    rows: int = 0
    cells: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Column → tag and text, of the row that is being read."""
    covered: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    """Column → how many rows from this on a cell above covers, its tag and text."""
    covers: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    """The same, for the rows below this one."""
    column: int = 0
    cell_open: bool = False
    pending: str = ""
    """Text of the open cell before a table within it."""
    tag: str = ""
    spans: tuple[int, int] = (1, 1)

    def start_cell(self, tag: str, attributes: Mapping[str, str]) -> None:
        """A cell begins; the one before has ended."""
        self.cell_open, self.pending, self.tag = True, "", tag
        self.spans = _span(attributes.get("rowspan")), _span(attributes.get("colspan"))

    def end_cell(self, text: str) -> None:
        """A cell ends with this text; in a header it names all columns that it spans."""
        self.cell_open = False
        text = f"{self.pending}{text}".strip()
        while self.column in self.covered:
            self.column += 1
        rows, columns = self.spans
        for offset in range(min(columns, MAX_SPAN - self.column)):
            value = text if offset == 0 or self.tag == "th" else ""
            self.cells[self.column] = self.tag, value
            if rows > 1:
                self.covers[self.column] = rows - 1, self.tag, value
            self.column += 1

    def end_row(self) -> Iterator[Block]:
        """The sentences that can be made now."""
        if not self.cells:
            return
        for column, (rows, tag, text) in self.covered.items():
            self.cells.setdefault(column, (tag, text))
            if rows > 1:
                self.covers.setdefault(column, (rows - 1, tag, text))
        self.covered, self.covers = _bounded(self.covers), {}
        width = max(self.cells) + 1
        cells = [self.cells[column][1] if column in self.cells else "" for column in range(width)]
        tags = {tag for tag, text in self.cells.values() if text}
        title = len({text for text in cells if text}) == 1  # one cell over all columns is not a header
        self.rows += 1
        self.cells, self.column = {}, 0
        if tags == {"th"}:
            row = TableRow(self.rows, cells[:1]) if title else TableRow(self.rows, cells, header=True)
        else:
            row = TableRow(self.rows, cells)
        yield from row_blocks(self.table.add(row), f"table {self.number}")

    def close(self) -> Iterator[Block]:
        """The sentences of the rows that wait."""
        yield from row_blocks(self.table.close(), f"table {self.number}")


def _bounded(covers: dict[int, tuple[int, str, str]]) -> dict[int, tuple[int, str, str]]:
    """The first columns that a row shares with those above, as far as they hold little text."""
    bounded, size = {}, 0
    for column in sorted(covers):
        size += len(covers[column][2])
        if size > MAX_SHARED:
            break
        bounded[column] = covers[column]
    return bounded


def _span(value: str | None) -> int:
    if not value or not value.isascii() or not value.isdigit() or len(value) >= 9:
        return 1
    return min(max(int(value), 1), MAX_SPAN)
