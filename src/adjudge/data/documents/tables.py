"""Rows of tables as sentences that name their columns: ``Q3 2024: revenue 4.2 million, costs 3.9 million``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adjudge.data.documents.blocks import Block, one_line
from adjudge.data.documents.sentences import split

ROW_TEXT = 400
"""Characters of one sentence; a wider row becomes several, each with the name of the row."""

LOOK_AHEAD = 20
"""Rows that are looked at to tell whether the first of them names the columns."""

_LABEL = 100
_NAME = 200
_NUMBER = re.compile(r"[^\w.,+-]{0,3}[-+−]?\d[\d.,'\s]*(?:[^\w\s]{0,2}|\s?[A-Za-z%€$£°]{1,3})$")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T][\d:.]+)?Z?$")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d$")
_NOTHING = frozenset({"", "-", "–", "—"})


class TableRow(NamedTuple):
    """The cells of a row and its number in the table; ``header`` where the document says that it is one."""

    number: int
    cells: Sequence[str]
    header: bool | None = None


class RowSentence(NamedTuple):
    """A sentence made of the cells ``first`` to ``last`` (from 0) of a row."""

    text: str
    row: TableRow
    first: int
    last: int


class _Cell(NamedTuple):
    column: int
    text: str


@dataclass
class TableReader:
    """Takes the rows of one table and gives their sentences, as soon as the columns' names are known.

    ``assume_header`` says whether a first row of nothing but text names the columns where nothing else tells.
    A row with one cell is a title or a remark and stands as it is. After an empty row a new header may follow.
    """

    assume_header: bool = False
    labels: dict[int, str] = field(default_factory=dict)
    waiting: list[TableRow] | None = field(default_factory=list)
    after_header: bool = False

    def add(self, row: TableRow) -> Iterator[RowSentence]:
        """The sentences that can be made now."""
        cells = _filled_cells(row)
        if row.header:
            yield from self.close()
            self._take_header(cells)
        elif not cells:
            yield from self.close()
            self.waiting = []
        elif self.waiting is None or (len(cells) == 1 and not self.waiting):
            yield from self._sentences(row, cells)
        else:
            self.waiting.append(row)
            if len(self.waiting) > LOOK_AHEAD:
                yield from self.close()

    def close(self) -> Iterator[RowSentence]:
        """The sentences of the rows that wait; the next row is one of the same table."""
        rows, self.waiting = self.waiting or [], None
        if rows and _is_header(rows, self.assume_header and not self.labels):
            self.after_header = False
            self._take_header(_filled_cells(rows.pop(0)))
        for row in rows:
            yield from self._sentences(row, _filled_cells(row))

    def _take_header(self, cells: list[_Cell]) -> None:
        """The labels of a header, below those of the row before where that was one too."""
        upper = self.labels if self.after_header else {}
        self.labels = dict(upper)
        for column, text in cells:
            above = upper.get(column, "")
            self.labels[column] = (f"{above} {text}" if above and above != text else text)[:_LABEL]
        self.after_header, self.waiting = True, None

    def _sentences(self, row: TableRow, cells: list[_Cell]) -> Iterator[RowSentence]:
        self.after_header = False
        name, rest = "", cells
        if cells[0].column == 0 and len(cells) > 1:
            name = cells[0].text[:_NAME]
            if _is_value(name) and 0 in self.labels:
                name = f"{self.labels[0]} {name}"
            rest = cells[1:]
        prefix = f"{name}: " if name else ""
        parts: list[_Cell] = []
        first = cells[0].column
        for column, text in rest:
            # The first cell of a row, where it is the only one, needs no name.
            label = "" if column == 0 else self.labels.get(column, "")
            part = f"{label} {text}" if label else text
            if parts and len(prefix) + sum(len(p.text) + 2 for p in parts) + len(part) > ROW_TEXT:
                yield _sentence(prefix, parts, row, first)
                parts, first = [], column
            if len(part) > ROW_TEXT:
                for piece, _ in split(text):
                    part = f"{label} {piece}" if label else piece
                    yield RowSentence(prefix + part, row, column, column)
                first = column + 1
            else:
                parts.append(_Cell(column, part))
        if parts:
            yield _sentence(prefix, parts, row, first)


def row_blocks(sentences: Iterable[RowSentence], table: str) -> Iterator[Block]:
    """Sentences as blocks that say the table and the row."""
    for text, row, _, _ in sentences:
        yield Block(text, whole=True, location=f"{table}, row {row.number}")


def _sentence(prefix: str, parts: list[_Cell], row: TableRow, first: int) -> RowSentence:
    text = prefix + ", ".join(part.text for part in parts)
    return RowSentence(text, row, min(first, parts[0].column), parts[-1].column)


def _filled_cells(row: TableRow) -> list[_Cell]:
    texts = ((column, one_line(text)) for column, text in enumerate(row.cells) if text)
    return [_Cell(column, text) for column, text in texts if text not in _NOTHING]


def _is_value(text: str) -> bool:
    """A number, perhaps with a sign of currency or a unit, or a date."""
    return bool(len(text) < 40 and (_NUMBER.match(text) or _DATE.match(text)))


def _is_header(rows: list[TableRow], assume: bool) -> bool:
    """Whether the first row names the columns of the others."""
    labels, body = _filled_cells(rows[0]), [_filled_cells(row) for row in rows[1:]]
    texts = [label.text for label in labels]
    if not body or rows[0].header is False or len(set(texts)) < len(texts) or max(map(len, texts)) > _LABEL:
        return False
    if 2 * len(labels) < max(map(len, body)):
        return False
    columns = {
        label.column: [cell.text for cells in body for cell in cells if cell.column == label.column]
        for label in labels
    }
    if any(label.text in columns[label.column] for label in labels):
        return False
    if any(map(_is_value, texts)):
        others = [label.text for label in labels if label.column]
        return len(others) > 1 and (all(map(_YEAR.match, others)) or all(map(_DATE.match, others)))
    kinds = {column: {_is_value(text) for text in values} for column, values in columns.items() if column}
    if len(labels) == 2 and {True, False} in kinds.values():
        return False  # names on the left, and on the right a value of any kind for each
    return {True} in kinds.values() or assume
