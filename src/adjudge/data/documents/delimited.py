"""CSV and TSV: a sentence for each row. Offsets point at the row as it is written in the file."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator

from adjudge.data.documents.files import Problem, ProblemReport, SourceFile, limit_reports
from adjudge.data.documents.sentences import to_pages
from adjudge.data.documents.tables import RowSentence, TableReader, TableRow
from adjudge.data.documents.text import text_blocks, text_lines
from adjudge.types import Page, Sentence

MAX_LINE = 1 << 20
"""Characters of one line; what is longer is reported and passed over."""

MAX_COLUMNS = 1024

_DELIMITERS = ",;\t|"
_SAMPLE = 100
_DECLARED = re.compile(r"sep=(.)\s*$", re.IGNORECASE)


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The rows of a file; the first names the columns, unless it looks like the others."""
    with limit_reports(file, report, "rows") as report:
        yield from to_pages(file.name, file.title, _sentences(file, report), file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str:
    """The decoded file."""
    return "".join(text_blocks(file, report))


def _sentences(file: SourceFile, report: ProblemReport) -> Iterator[Sentence]:
    table = TableReader(assume_header=True)
    spans: dict[int, tuple[int, int]] = {}  # of the rows that wait for their columns' names
    line = 0

    def located(sentences: Iterator[RowSentence]) -> Iterator[Sentence]:
        nonlocal line
        for text, row, _, _ in sentences:
            start, end = spans[row.number]
            yield Sentence(text, line, start=start, end=end, location=f"row {row.number}")
            line += 1

    for row, start, end in _rows(file, report):
        if not table.waiting:
            spans.clear()
        spans[row.number] = start, end
        yield from located(table.add(row))
    yield from located(table.close())


def _rows(file: SourceFile, report: ProblemReport) -> Iterator[tuple[TableRow, int, int]]:
    """Yield (row, start, end); a row's number is the one that a spreadsheet program shows."""
    lines = _Lines(file, report)
    delimiter = "\t" if file.name.lower().endswith(".tsv") else _delimiter(file)
    reader = csv.reader(lines, delimiter=delimiter)
    row_number = 0
    while True:
        row_number, lines.begin, lines.row_number = row_number + 1, lines.end, row_number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            report(Problem(file.source, f"row {row_number} cannot be read ({error}).", line=reader.line_num))
            continue
        if cells is None:
            return
        if len(cells) > MAX_COLUMNS:
            left_out = (
                f"row {row_number} has {len(cells):,} columns; those after {MAX_COLUMNS:,} are left out."
            )
            report(Problem(file.source, left_out, line=reader.line_num))
        if row_number > 1 or not _DECLARED.match(delimiter.join(cells)):
            yield TableRow(row_number, cells[:MAX_COLUMNS]), lines.begin, lines.end - lines.line_end


class _Lines:
    """The lines of a file, for a reader that takes as many as a row has; knows where the last one ended."""

    def __init__(self, file: SourceFile, report: ProblemReport) -> None:
        self.begin = self.end = self.line_end = self.row_number = 0
        self._file, self._report = file, report

    def __iter__(self) -> Iterator[str]:
        cut = False
        for text, start in text_lines(text_blocks(self._file, self._report), MAX_LINE):
            self.end = start + len(text)
            self.line_end = len(text) - len(text.rstrip("\r\n"))
            if len(text) == MAX_LINE and not cut:
                message = f"row {self.row_number} is longer than {MAX_LINE >> 20} MiB."
                self._report(Problem(self._file.source, message))
            passed, cut = cut, len(text) == MAX_LINE and not self.line_end
            if not cut and not passed:
                yield text
            elif not cut:
                yield "\n"  # the end of a line that was passed over: an empty row, so that numbers stay right


def _delimiter(file: SourceFile) -> str:
    """What stands between cells: the character that cuts most of the first rows into the same number of cells."""
    sample: list[str] = []
    for text, _ in text_lines(text_blocks(file, lambda problem: None), MAX_LINE):
        sample.append(text)
        if len(sample) == _SAMPLE:
            break
    if sample and (declared := _DECLARED.match(sample[0])):
        return declared[1]
    best, delimiter = (0.0, 0), ","
    for candidate in _DELIMITERS:
        try:
            widths = [len(cells) for cells in csv.reader(sample, delimiter=candidate) if cells]
        except csv.Error:
            continue
        width, count = Counter(widths).most_common(1)[0] if widths else (0, 0)
        score = (count / max(len(widths), 1), width)
        if width > 1 and score > best:
            best, delimiter = score, candidate
    return delimiter
