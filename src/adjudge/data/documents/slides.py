"""PowerPoint (.pptx): a page for each slide, named ``file.pptx#slide=N``, with its tables and its notes.

Offsets count in the text extracted from that slide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from adjudge.data.documents.blocks import Block, block_sentences, block_text, one_line
from adjudge.data.documents.files import ProblemReport, SourceFile
from adjudge.data.documents.package import open_package
from adjudge.data.documents.sentences import numbered_part
from adjudge.data.documents.tables import TableReader, TableRow, row_blocks
from adjudge.types import Page


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The slides that have text; a slide's title stands after that of the presentation."""
    for slide_number, title, blocks in _slides(file):
        heading = next((block.text for block in blocks if block.heading), "")
        name = f"{title}: {heading}"[:300] if heading and heading != title else title
        sentences = tuple(block_sentences(blocks, name))
        if sentences:
            yield Page(f"{file.name}#slide={slide_number}", name, sentences, file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str | None:
    """The text of the slide that ``#slide=N`` names."""
    wanted = numbered_part(page, "slide")
    slides = (blocks for slide_number, _, blocks in _slides(file) if slide_number == wanted)
    return next(map(block_text, slides), None)


def _slides(file: SourceFile) -> Iterator[tuple[int, str, list[Block]]]:
    """Yield (number from 1, the presentation's title, blocks)."""
    with open_package(file, "PowerPoint file (.pptx)") as package:
        import pptx

        presentation = pptx.Presentation(package.stream)
        title = one_line(presentation.core_properties.title or "")[:300]
        if title.lower() in ("", "powerpoint presentation"):
            title = file.title
        for slide_number, slide in enumerate(presentation.slides, start=1):
            yield slide_number, title, list(_blocks(slide, f"slide {slide_number}"))


def _blocks(slide: Any, location: str) -> Iterator[Block]:
    heading = slide.shapes.title
    tables = 0
    for shape in _shapes(slide.shapes):
        if shape.has_text_frame:
            is_heading = heading is not None and shape.shape_id == heading.shape_id
            yield from _paragraphs(shape.text_frame, location, is_heading)
        elif shape.has_table:
            tables += 1
            yield from _rows(shape.table, f"{location}, table {tables}")
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield from _paragraphs(slide.notes_slide.notes_text_frame, f"{location}, notes")


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _paragraphs(frame: Any, location: str, heading: bool = False) -> Iterator[Block]:
    for paragraph in frame.paragraphs:
        if text := one_line(paragraph.text):
            yield Block(text, heading, location=location, depth=0 if heading else paragraph.level + 1)


def _rows(shape: Any, location: str) -> Iterator[Block]:
    table = TableReader()
    for row_number, row in enumerate(shape.rows, start=1):
        cells = [cell.text for cell in row.cells]
        header = True if row_number == 1 and shape.first_row else None
        yield from row_blocks(table.add(TableRow(row_number, cells, header)), location)
    yield from row_blocks(table.close(), location)
