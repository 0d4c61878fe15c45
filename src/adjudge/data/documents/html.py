"""HTML: the text a reader sees. Nothing is run, fetched or resolved; scripts and styles are dropped.

Offsets count in the extracted text (``source_text``), whose blocks are separated by a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from adjudge.data.documents.files import Report, SourceFile
from adjudge.data.documents.sentences import BLOCK, Span, split, to_pages, to_sentences
from adjudge.data.documents.text import text_blocks
from adjudge.errors import DataError, MissingExtra
from adjudge.types import Page

SEPARATOR = "\n\n"

SEGMENT = 1 << 22
"""Bytes after which a parser is replaced at the next safe place: it keeps all that it was fed."""
LONGEST = 1 << 26
"""Bytes of one comment, script or tag; a longer one leaves no safe place, and the file is given up."""

_DROPPED = frozenset(
    "script style noscript template svg math iframe object embed applet audio video canvas select button "
    "textarea datalist map".split()
)
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small "
    "span strike strong sub sup time tt u var wbr rb rp rt ruby".split()
)
_CELLS = frozenset({"td", "th"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_PROBE = "adjudge-probe"
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*$")


def read_html_pages(file: SourceFile, report: Report) -> Iterator[Page]:
    """The pages of an HTML file; the title is its ``title`` element, or the first ``h1``."""
    text = _Text()
    spans = _spans(html_blocks(file, report, text))
    first = next(spans, None)  # the title stands before the first sentence
    every = chain([first] if first else [], spans)
    title = " ".join((text.title or text.heading).split())[:300] or file.title
    yield from to_pages(file.name, title, to_sentences(every), file.source)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, table row or heading of the extracted text."""

    text: str
    heading: bool


@dataclass
class _Text:
    """What the parser calls for each event; keeps the text of blocks that are complete."""

    title: str = ""
    heading: str = ""
    blocks: list[Block] = field(default_factory=list)
    dropped: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    within: str = ""
    probed: bool = False

    def start(self, tag: str, attributes: object) -> None:
        if tag in _DROPPED:
            self.dropped = self.dropped or tag
        elif tag == "br" or tag in _CELLS:
            self._add(" ")
        elif tag not in _INLINE:
            self.finish()
            self.within = tag

    def end(self, tag: str) -> None:
        if tag in _DROPPED:
            if tag == self.dropped:
                self.dropped = ""
        elif tag not in _INLINE and tag not in _CELLS and tag != "br":
            self.finish()
            self.within = ""

    def data(self, data: str) -> None:
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
        self.finish()

    def _add(self, piece: str) -> None:
        self.pieces.append(piece)
        self.size += len(piece)
        if self.size > BLOCK:
            self.finish()

    def finish(self) -> None:
        text = " ".join("".join(self.pieces).split())
        self.pieces, self.size = [], 0
        if text:
            heading = self.within in _HEADINGS
            if heading and not self.heading:
                self.heading = text[:BLOCK]
            self.blocks.append(Block(text, heading))


def html_blocks(file: SourceFile, report: Report, text: _Text | None = None) -> Iterator[Block]:
    """The blocks of the extracted text, as the file is read."""
    try:
        from lxml import etree
    except ImportError:
        raise MissingExtra("Reading HTML needs lxml", "documents") from None

    text = text or _Text()
    # The encoding is ours to find: told UTF-8, the parser heeds no declaration in the file.
    new = partial(etree.HTMLParser, target=text, encoding="utf-8", no_network=True, huge_tree=True)
    parser, fed = new(), 0
    for block in text_blocks(file, report):
        data = block.replace("\0", "").encode("utf-8", "replace")
        fed += len(data)
        if fed > SEGMENT:
            place, text.probed = _place(data), False
            parser.feed(data[:place] + f"<?{_PROBE}>".encode())
            if text.probed and not text.dropped:
                _close(parser)
                parser, fed = new(), len(data) - place
            elif fed > LONGEST:
                raise DataError(f"has a comment, script or tag of more than {LONGEST >> 20} MiB.")
            data = data[place:]
        parser.feed(data)
        yield from _taken(text)
    _close(parser)
    text.finish()
    yield from _taken(text)


def _close(parser: Any) -> None:
    from lxml import etree

    try:
        parser.close()
    except etree.XMLSyntaxError:
        pass  # an empty file, or one that ends inside a tag: what came before is the text


def _place(data: bytes) -> int:
    """Where to ask the parser: before a tag, else after white space, else at the end."""
    tag = data.rfind(b"<")
    return tag if tag >= 0 else data.rfind(b" ") + 1 or len(data)


def _taken(text: _Text) -> list[Block]:
    blocks, text.blocks = text.blocks, []
    return blocks


def _spans(blocks: Iterator[Block]) -> Iterator[Span]:
    start = 0
    for block in blocks:
        # A heading is a sentence only where it ends like one; otherwise it would outrank the prose.
        if not block.heading or _SENTENCE_END.search(block.text):
            yield from split(block.text, start)
        start += len(block.text) + len(SEPARATOR)
