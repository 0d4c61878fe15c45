"""Extracted text: blocks of prose and rows of tables, as HTML, office files, books and mails give them.

Offsets count in the blocks joined by a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from adjudge.data.documents.outline import Outline
from adjudge.data.documents.sentences import TextSpan, split
from adjudge.types import Sentence

SEPARATOR = "\n\n"

_SENTENCE_END = re.compile(r"[.!?][\"')\]]*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, heading or row; a ``whole`` block is one sentence as it stands."""

    text: str
    heading: bool = False
    whole: bool = False
    location: str | None = None
    level: int = 1
    """Of a heading; 1 is the highest."""
    depth: int = 0
    """Of an item: 1 in a list, 2 in a list within it."""
    introduces: bool = False
    """Whether it says what follows deeper, such as a table's caption."""


def block_sentences(blocks: Iterable[Block], title: str) -> Iterator[Sentence]:
    """The sentences of blocks; a heading is one only where it ends like one, else it would outrank the prose."""
    start = line = 0
    outline = Outline(title)
    for block in blocks:
        depth = block.depth + block.whole
        if block.heading:
            outline.enter_heading(block.text, block.level)
        section = outline.section(depth)
        spans: Iterable[TextSpan] = ()
        if block.whole:
            spans = [TextSpan(block.text, start)]
        elif not block.heading or _SENTENCE_END.search(block.text):
            spans = split(block.text, start)
        last = ""
        for last, begin in spans:
            end = begin + len(last)
            yield Sentence(last, line, start=begin, end=end, location=block.location, section=section)
            line += 1
        if not block.heading and not block.whole:
            outline.introduce(last, depth, always=block.introduces)
        start += len(block.text) + len(SEPARATOR)


def block_text(blocks: Iterable[Block]) -> str:
    """The text in which the offsets of these blocks' sentences count."""
    return SEPARATOR.join(block.text for block in blocks)


def one_line(text: str) -> str:
    """Text with every run of white space as one blank, and without control characters."""
    return " ".join(text.translate(_CONTROLS).split())


_CONTROLS = dict.fromkeys((*range(32), *range(127, 160), 65534, 65535), " ")
