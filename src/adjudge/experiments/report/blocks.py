"""What a report is made of: paragraphs, tables and plots in sections. Renderers know these and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

NOTHING = "–"


@dataclass(frozen=True)
class Cell:
    """A text with what sets it apart: ``note`` and ``tag`` stand behind it, ``shade`` is a share shown as a colour."""

    text: str
    note: str = ""
    tag: str = ""
    correct: bool | None = None
    best: bool = False
    star: bool = False
    shade: float | None = None

    def plain(self) -> str:
        """All that the cell says, in one line without markup; an asterisk is left to the renderer."""
        mark = {None: "", True: "✓", False: "✗"}[self.correct]
        return " ".join(filter(None, (self.text, self.note, mark, self.tag and f"[{self.tag}]")))


Entry = str | Cell | tuple[Cell, ...]
"""A cell of a table; several stand one below the other."""

Row = tuple[Entry, ...]


def cells_of(entry: Entry) -> tuple[Cell, ...]:
    """The cells of an entry."""
    if isinstance(entry, str):
        return (Cell(entry),)
    return (entry,) if isinstance(entry, Cell) else entry


@dataclass(frozen=True)
class Table:
    """The first column names the row. A row that is a string is a heading of those below it.

    ``words`` columns at the start hold words, those of ``long`` sentences. ``kind`` says what the table is: figures,
    the one of the results, a confusion matrix (several stand side by side), or names with their values. One with a
    ``summary`` is long and may be folded under it.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[Row | str, ...]
    title: str = ""
    words: int = 1
    long: tuple[int, ...] = ()
    kind: Literal["figures", "results", "matrix", "facts"] = "figures"
    summary: str = ""


def table_of(
    caption: str, rows: Sequence[Mapping[str, str]], words: int = 1, bold: Container[int] = ()
) -> Table:
    """A table of figures, each row written as what stands in which column; ``bold`` rows by their index."""
    cells = [tuple(Cell(text, best=n in bold) for text in row.values()) for n, row in enumerate(rows)]
    return Table(caption, tuple(rows[0]), tuple(cells), words=words)


@dataclass(frozen=True)
class Plot:
    """A drawing, made when it is shown; ``alt`` says what it shows, ``caption`` how to read it.

    ``draw`` takes what ids in the drawing begin with. A table beside it holds its figures, for formats without plots.
    """

    draw: Callable[[str], str]
    alt: str
    caption: str


Block = str | Table | Plot


@dataclass(frozen=True)
class Section:
    """Blocks under a heading; those of level 3 belong to the one of level 2 before them."""

    title: str
    blocks: tuple[Block, ...] = ()
    level: int = 2

    def by_kind(self) -> list[tuple[str, list[Block]]]:
        """Neighbouring blocks of one kind together, as matrices stand side by side."""
        return [(kind, list(blocks)) for kind, blocks in groupby(self.blocks, _kind)]


def _kind(block: Block) -> str:
    if isinstance(block, Table):
        return block.kind
    return "plot" if isinstance(block, Plot) else "paragraph"


@dataclass(frozen=True)
class Report:
    """All that is shown, whatever the format; warnings are (what, why it matters)."""

    title: str
    subtitle: str
    warnings: tuple[tuple[str, str], ...]
    findings: tuple[str, ...]
    sections: tuple[Section, ...]
