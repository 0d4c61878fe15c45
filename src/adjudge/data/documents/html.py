"""HTML: the text a reader sees. Nothing is run, fetched or resolved; scripts and styles are dropped.

Offsets count in the extracted text (``source_text``), whose blocks are separated by a blank line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from adjudge.data.documents.blocks import Block, block_sentences, block_text
from adjudge.data.documents.files import ProblemReport, SourceFile
from adjudge.data.documents.html_tables import HtmlTable
from adjudge.data.documents.sentences import BLOCK, to_pages
from adjudge.data.documents.tables import ROW_TEXT
from adjudge.data.documents.text import text_blocks
from adjudge.errors import DataError
from adjudge.types import Page

SEGMENT = 1 << 22
"""Bytes after which a parser is replaced at the next safe place: it keeps all that it was fed."""
LONGEST = 1 << 26
"""Bytes of one comment, script or tag; a longer one leaves no safe place, and the file is given up."""
DEEPEST = 20
"""Tables within tables; deeper ones are text."""

_DROPPED = frozenset(
    "script style noscript template svg math iframe object embed applet audio video canvas select button "
    "textarea datalist map".split()
)
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small "
    "span strike strong sub sup time tt u var wbr rb rp rt ruby".split()
)
_CELLS = frozenset({"td", "th"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "dl"})
_INTRODUCING = frozenset({"dt", "caption"})
_PROBE = "adjudge-probe"


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The pages of an HTML file; the title is its ``title`` element, or the first ``h1``."""
    text = HtmlText()
    blocks = html_blocks(text_blocks(file, report), text)
    first = next(blocks, None)  # the title stands before the first block
    title = text.name() or file.title
    sentences = block_sentences(chain([first] if first else [], blocks), title)
    yield from to_pages(file.name, title, sentences, file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str:
    """The extracted text."""
    return block_text(html_blocks(text_blocks(file, report)))


@dataclass
class HtmlText:
    """What the parser calls for each event; keeps the text of blocks that are complete."""

    title: str = ""
    heading: str = ""
    blocks: list[Block] = field(default_factory=list)
    dropped: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    within: str = ""
    depth: int = 0
    """How many lists are open."""
    probed: bool = False
    tables: list[HtmlTable] = field(default_factory=list)
    table_count: int = 0
    too_deep: int = 0
    closing: bool = False

    def name(self) -> str:
        """What the document calls itself."""
        return " ".join((self.title or self.heading).split())[:300]

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if tag in _DROPPED:
            self.dropped = self.dropped or tag
        elif tag == "br":
            self._add(" ")
        elif tag == "table":
            self._start_table()
        elif tag in _CELLS or tag == "tr":
            self._start_cell(tag, attributes)
        elif tag not in _INLINE:
            self.finish()
            self.within = tag
            self.depth += tag in _LISTS

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in _DROPPED:
            if tag == self.dropped:
                self.dropped = ""
        elif tag == "table":
            self._end_table()
        elif tag in _CELLS:
            self._end_cell()
        elif tag == "tr":
            self._end_row()
        elif tag not in _INLINE and tag != "br":
            self.finish()
            self.within = ""
            self.depth = max(self.depth - (tag in _LISTS), 0)

    def data(self, data: str) -> None:
        """Text, or a part of it."""
        if self.dropped:
            return
        if self.within == "title":
            self.title += data if len(self.title) < BLOCK else ""
            return
        self._add(data)

    def comment(self, text: str) -> None:
        """Not part of the text; a parser that sees the probe is inside no comment, script or tag."""
        self.probed = self.probed or text.strip("?") == _PROBE

    def pi(self, target: str, data: str | None = None) -> None:
        """What older parsers make of ``<?…>``, a comment to newer ones."""
        self.comment(target)

    def close(self) -> None:
        """The parser ends."""
        self.finish()

    def finish(self) -> None:
        """End a block. In a cell it goes on, until the cell is too long to be one: then it is layout."""
        if self.tables and self.tables[-1].cell_open:
            if self.size <= ROW_TEXT:
                self.pieces.append(" ")
                return
            self.pieces.insert(0, self.tables[-1].pending)
            self.tables[-1].pending = ""
            self.tables[-1].end_cell("")
        self._finish_block()

    def finish_all(self) -> None:
        """End everything that is open, as the file has ended."""
        while self.tables:
            self.closing, self.too_deep = False, 0
            self._end_table()
        self.finish()

    def _add(self, piece: str) -> None:
        self.pieces.append(piece)
        self.size += len(piece)
        if self.size > BLOCK:
            self.finish()

    def _take(self) -> str:
        text = " ".join("".join(self.pieces).split())
        self.pieces, self.size = [], 0
        return text

    def _finish_block(self) -> None:
        if text := self._take():
            heading = self.within in _HEADINGS
            if heading and not self.heading:
                self.heading = text[:BLOCK]
            depth = self.depth + (self.within == "dd")
            level = _HEADINGS.get(self.within, 1)
            introduces = self.within in _INTRODUCING
            self.blocks.append(Block(text, heading, level=level, depth=depth, introduces=introduces))

    def _start_table(self) -> None:
        if len(self.tables) == DEEPEST:
            self.too_deep += 1
            self._add(" ")
            return
        if self.tables and self.tables[-1].cell_open:
            self.tables[-1].pending += self._take() + " "  # goes on after the table within
        else:
            self._finish_block()
        self.table_count += 1
        self.tables.append(HtmlTable(self.table_count))

    def _end_table(self) -> None:
        if self.closing or not self.tables:
            return
        if self.too_deep:
            self.too_deep -= 1
            return
        self._end_row()
        self._finish_block()
        self.blocks.extend(self.tables.pop().close())
        self.within = ""

    def _start_cell(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self.too_deep or not self.tables:
            self._add(" ")
        elif tag == "tr":
            self._end_row()
        else:
            self._end_cell()
            self._finish_block()
            self.tables[-1].start_cell(tag, attributes)
        self.within = "" if self.within != "title" else self.within

    def _end_cell(self) -> None:
        if self.tables and not self.closing and not self.too_deep and self.tables[-1].cell_open:
            self.tables[-1].end_cell(self._take())

    def _end_row(self) -> None:
        if self.tables and not self.closing and not self.too_deep:
            self._end_cell()
            self._finish_block()
            self.blocks.extend(self.tables[-1].end_row())


def html_blocks(texts: Iterable[str], text: HtmlText | None = None) -> Iterator[Block]:
    """The blocks of the extracted text, as the HTML comes."""
    from lxml import etree

    text = text or HtmlText()
    # The encoding is ours to find: given UTF-8, the parser ignores declarations in the file.
    new = partial(etree.HTMLParser, target=text, encoding="utf-8", no_network=True, huge_tree=True)
    parser, fed = new(), 0
    for block in texts:
        data = block.replace("\0", "").encode("utf-8", "replace")
        fed += len(data)
        if fed > SEGMENT:
            split_at, text.probed = _safe_offset(data), False
            parser.feed(data[:split_at] + f"<?{_PROBE}>".encode())
            if text.probed and not text.dropped:
                text.closing = True  # the parser ends, not the table
                _close(parser)
                text.closing = False
                parser, fed = new(), len(data) - split_at
            elif fed > LONGEST:
                raise DataError(f"has a comment, script or tag of more than {LONGEST >> 20} MiB.")
            data = data[split_at:]
        parser.feed(data)
        yield from _complete_blocks(text)
    _close(parser)
    text.finish_all()
    yield from _complete_blocks(text)


def _close(parser: Any) -> None:
    from lxml import etree

    try:
        parser.close()
    except etree.XMLSyntaxError:
        pass  # an empty file, or one that ends inside a tag: what came before is the text


def _safe_offset(data: bytes) -> int:
    """Where to ask the parser: before a tag, else after white space, else at the end."""
    tag = data.rfind(b"<")
    return tag if tag >= 0 else data.rfind(b" ") + 1 or len(data)


def _complete_blocks(text: HtmlText) -> list[Block]:
    blocks, text.blocks = text.blocks, []
    return blocks
