"""Excel (.xlsx): a page for each sheet, named ``file.xlsx#sheet=N``; a sentence for each row of its tables.

Cells have the text that the program shows: formulas their stored results, numbers and dates as formatted.
Offsets count in the rows' sentences, one after the other; a location such as ``Sheet1!A5:C5`` says where.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from adjudge.data.documents.blocks import Block, block_sentences, block_text, one_line
from adjudge.data.documents.cell_format import cell_text
from adjudge.data.documents.files import Problem, ProblemReport, SourceFile
from adjudge.data.documents.package import Package, open_package
from adjudge.data.documents.sentences import numbered_part, to_pages
from adjudge.data.documents.tables import RowSentence, TableReader, TableRow
from adjudge.types import Page

MAX_ROWS = 1 << 20
MAX_SHEETS = 256
MAX_COLUMNS = 1024
"""Columns that are read of a row; Excel has 16,384, of which tables use few."""

_SHEETS = "xl/worksheets/"
_BATCH = 500
_PLAIN_NAME = re.compile(r"[^\W\d]\w*$")
_NO_RESULT = re.compile(rb"(?:</f>|<f(?:\s[^<>]{0,500})?/>)\s{0,100}(?:<v\s?/>|<v></v>|</c>)")


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The sheets that have cells; a sheet's title stands after that of the file."""
    with open_package(file, "Excel file (.xlsx)", streamed=_SHEETS) as package:
        for sheet_number, sheet in _sheets(package, file, report):
            title = file.title if re.fullmatch(r"Sheet ?\d+", sheet.title) else f"{file.title}: {sheet.title}"
            sentences = block_sentences(_blocks(sheet, file, report), title)
            pages = to_pages(
                f"{file.name}#sheet={sheet_number}", one_line(title)[:300], sentences, file.source
            )
            yield from (page for page in pages if page.sentences)
        _report_formulas(package, file, report)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str | None:
    """The sentences of the sheet that ``#sheet=N`` names."""
    wanted = numbered_part(page, "sheet")
    with open_package(file, "Excel file (.xlsx)", streamed=_SHEETS) as package:
        for sheet_number, sheet in _sheets(package, file, report):
            if sheet_number == wanted:
                return block_text(_blocks(sheet, file, report))
    return None


def _sheets(package: Package, file: SourceFile, report: ProblemReport) -> Iterator[tuple[int, Any]]:
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(package.stream, read_only=True, data_only=True, keep_links=False)
    sheets = book.worksheets
    if len(sheets) > MAX_SHEETS:
        report(Problem(file.source, f"has {len(sheets):,} sheets; those after {MAX_SHEETS} are left out."))
    for sheet_number, sheet in enumerate(sheets[:MAX_SHEETS], start=1):
        sheet.reset_dimensions()  # what a file says about its size need not be true
        yield sheet_number, sheet


def _blocks(sheet: Any, file: SourceFile, report: ProblemReport) -> Iterator[Block]:
    table = TableReader(assume_header=True)
    name = one_line(sheet.title)
    if not _PLAIN_NAME.match(name):
        name = "'" + name.replace("'", "''") + "'"
    for row in _rows(sheet, file, report):
        yield from _row_blocks(table.add(row), name)
    yield from _row_blocks(table.close(), name)


def _row_blocks(sentences: Iterable[RowSentence], sheet: str) -> Iterator[Block]:
    from openpyxl.utils import get_column_letter

    for text, row, first, last in sentences:
        cells = f"{get_column_letter(first + 1)}{row.number}"
        if last > first:
            cells += f":{get_column_letter(last + 1)}{row.number}"
        yield Block(text, whole=True, location=f"{sheet}!{cells}")


def _rows(sheet: Any, file: SourceFile, report: ProblemReport) -> Iterator[TableRow]:
    """The rows of a sheet; of empty ones that follow one another the first."""
    cells_of_rows = enumerate(sheet.iter_rows(max_row=MAX_ROWS), start=1)
    wide, count, empty = False, _BATCH, False
    while count == _BATCH:
        batch, count = [], 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for row_number, cells in islice(cells_of_rows, _BATCH):
                count += 1
                if cells or not empty:
                    wide = wide or len(cells) > MAX_COLUMNS
                    batch.append(TableRow(row_number, [cell_text(cell) for cell in cells[:MAX_COLUMNS]]))
                empty = not cells
        yield from batch
    if wide:
        message = f"sheet {one_line(sheet.title)[:100]}: columns after {MAX_COLUMNS:,} are left out."
        report(Problem(file.source, message))


def _report_formulas(package: Package, file: SourceFile, report: ProblemReport) -> None:
    """Formulas have results only where a spreadsheet program has saved the file."""
    count = 0
    for entry in package.archive.infolist():
        if entry.filename.startswith(_SHEETS):
            with package.archive.open(entry) as stream:
                unread = b""
                while block := stream.read(1 << 16):
                    unread += block
                    matches = list(_NO_RESULT.finditer(unread))
                    count += len(matches)
                    unread = unread[max(matches[-1].end() if matches else 0, len(unread) - 1000) :]
    if count:
        message = f"{count:,} formulas without a stored result are left out. Open and save it in a spreadsheet program."
        report(Problem(file.source, message))
