"""Extracted text: blocks of prose and rows of tables, as HTML, office files, books and mails give them.

Offsets count in the blocks joined by a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from adjudge.data.documents.sentences import split
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


def block_sentences(blocks: Iterable[Block]) -> Iterator[Sentence]:
    """The sentences of blocks; a heading is one only where it ends like one, else it would outrank the prose."""
    start = line = 0
    for block in blocks:
        if block.whole:
            end = start + len(block.text)
            yield Sentence(block.text, line, start=start, end=end, location=block.location)
            line += 1
        elif not block.heading or _SENTENCE_END.search(block.text):
            for text, begin in split(block.text, start):
                yield Sentence(text, line, start=begin, end=begin + len(text), location=block.location)
                line += 1
        start += len(block.text) + len(SEPARATOR)


def block_text(blocks: Iterable[Block]) -> str:
    """The text in which the offsets of these blocks' sentences count."""
    return SEPARATOR.join(block.text for block in blocks)


def one_line(text: str) -> str:
    """Text with every run of white space as one blank, and without control characters."""
    return " ".join(text.translate(_CONTROLS).split())


_CONTROLS = dict.fromkeys((*range(32), *range(127, 160), 65534, 65535), " ")
