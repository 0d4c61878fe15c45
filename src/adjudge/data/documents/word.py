"""Word (.docx): paragraphs, tables, notes and text boxes. Offsets count in the extracted text.

Deleted text, comments, headers and footers are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adjudge.data.documents.blocks import Block, block_sentences, block_text, one_line
from adjudge.data.documents.files import ProblemReport, SourceFile
from adjudge.data.documents.outline import APART
from adjudge.data.documents.package import open_package
from adjudge.data.documents.sentences import to_pages
from adjudge.data.documents.tables import TableReader, TableRow, row_blocks
from adjudge.types import Page

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BLANKS = frozenset({f"{_W}tab", f"{_W}br", f"{_W}cr"})
_LEFT_OUT = frozenset({f"{_W}moveFrom", f"{_W}del", _FALLBACK})
_NOTES = ("/footnotes", "/endnotes")


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The pages of a Word file; its title is what its properties say, or the first heading."""
    with open_package(file, "Word file (.docx)") as package:
        import docx

        document = docx.Document(package.stream)
        blocks = list(_blocks(document))
        heading = next((block.text for block in blocks if block.heading), "")
        title = one_line(document.core_properties.title or heading)[:300] or file.title
        yield from to_pages(file.name, title, block_sentences(blocks, title), file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str:
    """The extracted text."""
    with open_package(file, "Word file (.docx)") as package:
        import docx

        return block_text(_blocks(docx.Document(package.stream)))


def _blocks(document: Any) -> Iterator[Block]:
    from docx.oxml import parse_xml

    reader = _Reader({style.style_id: (style.name or "").lower() for style in document.styles})
    yield from reader.blocks(document.element.body)
    for relation in document.part.rels.values():
        if relation.reltype.endswith(_NOTES) and not relation.is_external:
            for block in reader.blocks(parse_xml(relation.target_part.blob)):
                yield block if block.whole else replace(block, depth=APART)


class _Reader:
    """Walks the elements of a document; lists of elements instead of calls, however deep they are nested."""

    def __init__(self, styles: dict[str, str]) -> None:
        self._styles = styles
        self._tables = 0

    def blocks(self, root: Any) -> Iterator[Block]:
        """Paragraphs and tables in their order."""
        waiting = [root]
        while waiting:
            element = waiting.pop()
            if element.tag == f"{_W}p":
                text, boxes = _paragraph(element)
                if text:
                    yield self._block(element, text)
                waiting.extend(reversed(boxes))
            elif element.tag == f"{_W}tbl":
                nested: list[Any] = []
                yield from self._table(element, nested)
                waiting.extend(reversed(nested))
            elif element.tag not in _LEFT_OUT:
                waiting.extend(reversed(element))

    def _block(self, paragraph: Any, text: str) -> Block:
        element = paragraph.find(f"{_W}pPr/{_W}pStyle")
        style = "" if element is None else self._styles.get(element.get(f"{_W}val"), "")
        if style.startswith(("heading", "title")):
            level = 0 if style == "title" else _number(style.removeprefix("heading").strip(), 1)
            return Block(text, heading=True, level=level)
        item = paragraph.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
        listed = item is not None or style.startswith("list")
        return Block(text, depth=listed + _number("" if item is None else item.get(f"{_W}val", ""), 0))

    def _table(self, element: Any, nested: list[Any]) -> Iterator[Block]:
        self._tables += 1
        name, table = f"table {self._tables}", TableReader()
        for count, row in enumerate(_children(element, f"{_W}tr"), start=1):
            cells = []
            for cell in _children(row, f"{_W}tc"):
                cells.append(_cell(cell, nested))
                span = cell.find(f"{_W}tcPr/{_W}gridSpan")
                width = _number("" if span is None else span.get(f"{_W}val", ""), 1)
                cells += [""] * (min(width, 1000) - 1)
            header = True if row.find(f"{_W}trPr/{_W}tblHeader") is not None else None
            yield from row_blocks(table.add(TableRow(count, cells, header)), name)
        yield from row_blocks(table.close(), name)


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else otherwise


def _children(element: Any, tag: str) -> Iterator[Any]:
    """The children with a tag, also those in a content control or a tracked change."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml"):
            yield from _children(child, tag)


def _cell(cell: Any, nested: list[Any]) -> str:
    """The text of a cell; tables within it are kept for later."""
    texts = []
    waiting = [cell]
    while waiting:
        element = waiting.pop()
        if element.tag == f"{_W}tbl":
            nested.append(element)
        elif element.tag == f"{_W}p":
            text, boxes = _paragraph(element)
            texts.append(text)
            nested.extend(boxes)
        elif element.tag not in _LEFT_OUT:
            waiting.extend(reversed(element))
    return " ".join(texts)


def _paragraph(paragraph: Any) -> tuple[str, list[Any]]:
    """The text of a paragraph, and the text boxes that hang on it."""
    pieces: list[str] = []
    boxes: list[Any] = []
    waiting = list(reversed(paragraph))
    while waiting:
        element = waiting.pop()
        if element.tag == f"{_W}t":
            pieces.append(element.text or "")
        elif element.tag in _BLANKS:
            pieces.append(" ")
        elif element.tag == f"{_W}noBreakHyphen":
            pieces.append("-")
        elif element.tag == f"{_W}txbxContent":
            boxes.append(element)
        elif element.tag not in _LEFT_OUT:
            waiting.extend(reversed(element))
    return one_line("".join(pieces)), boxes
