"""Splitting text into sentences that know where they stand, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from adjudge.data.documents.outline import Outline
from adjudge.types import Page, Sentence

MAX_SENTENCE = 2000
"""Characters; what runs on longer is cut at white space, so that no input makes a sentence without end."""

BLOCK = 1 << 15
"""Characters looked at together; also the most that is held of a text while it is split."""

PART_SENTENCES = 200
"""Sentences of one page; a longer document becomes pages ``name``, ``name#2``, ``name#3``, …"""


# What can end a sentence, in the scripts that the splitter knows; and what ends a paragraph.
_END = re.compile("[.!?;…\u203c\u203d\u2047-\u2049\u3002\ufe52\ufe57\uff01\uff0e\uff1f\uff61]")

# Ends of sentences that the splitter passes over, before a word with a capital: after a number with a point or
# comma that does not open its line, a unit, a word that is also an abbreviation, and a letter that is a name.
_WORD_FOLLOWS = r"\.[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ’']+[\s,])"
_MISSED_END = re.compile(
    r"(?:"
    r"(?<=[^\s.])[^\S\n]+[^\w\s]{0,3}\d{1,9}(?:[.,]\d{1,9}){1,4}"
    r"|°[^\S\n]?[CFKNR]"
    r"|\d[^\S\n]?(?:[a-z]|[ACFJKLV])"
    r"|\b(?:cap|art|fig|tab|gal|lit|mag|set|dom|mar)"
    r"|\d[^\S\n]?(?:min|max)"
    r"|\b(?:a|the|his|her|its|their|this)[^\S\n](?:min|max)"
    r"|\b(?:[Vv]itamin|[Hh]epatitis|[Pp]lan|[Tt]ype|[Cc]lass|[Gg]rade|[Gg]roup|[Oo]ption)[^\S\n][A-Z]"
    r")" + _WORD_FOLLOWS
)
# Lines that begin an item of a list, by what marks them. A dash or a number may also begin a line of prose: items
# they are where two of a kind stand in one paragraph.
_BULLET = "[•‣◦▪●○■□∙·*]"
_MARKER = (
    rf"(?:(?P<bullet>{_BULLET})|(?P<dash>[-–—+])|(?P<number>\(?\d{{1,2}}[.)])|(?P<letter>\((?:[A-Za-z]|[ivx]{{1,4}})\)|[a-z]\)))"
    r"[^\S\n]+(?=\S)"
)
_ITEM_LINE = re.compile(rf"(?:^|(?<=\n))[^\S\n]*(?={_MARKER})")
_ITEM = re.compile(_MARKER)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")


class TextSpan(NamedTuple):
    """A stretch of text and the place of its first character in the source."""

    text: str
    start: int


def split(text: str, start: int = 0) -> Iterator[TextSpan]:
    """The sentences of a short text; ``start`` is where the text begins in its source."""
    from syntok.segmenter import analyze

    if _END.search(text):
        begins = {0}.union(sentence[0].offset for paragraph in analyze(text) for sentence in paragraph)
        offsets = sorted(begins.union(match.end() for match in _MISSED_END.finditer(text)))
    else:  # nothing ends a sentence but a blank line: seen much faster
        offsets = [0, *(gap.end() for gap in _BLANK_LINE.finditer(text))]
    if items := _item_starts(text):
        offsets = sorted({*offsets, *items})
    for begin, end in zip(offsets, [*offsets[1:], len(text)], strict=True):
        yield from _cut(text[begin:end], start + begin)


def _item_starts(text: str) -> set[int]:
    """Where the items of lists begin: after bullets, and after other marks that a paragraph repeats."""
    starts: set[int] = set()
    last: dict[str, int] = {}
    for match in _ITEM_LINE.finditer(text):
        [kind] = [kind for kind, mark in match.groupdict().items() if mark]
        before, last[kind] = last.get(kind), match.end()
        if kind == "bullet":
            starts.add(match.end())
        elif before is not None and not _BLANK_LINE.search(text, before, match.end()):
            starts |= {before, match.end()}
    return starts


def split_blocks(blocks: Iterable[str], start: int = 0) -> Iterator[TextSpan]:
    """The sentences of a text that comes in blocks of any size.

    The last sentence of what is held may go on in the next block, so it waits for it.
    """
    pending = ""
    for block in blocks:
        for offset in range(0, len(block), BLOCK):
            pending += block[offset : offset + BLOCK]
            if len(pending) < BLOCK:
                continue
            spans = list(split(pending, start))
            keep = spans[-1].start - start if spans else len(pending)
            yield from spans[:-1]
            pending, start = pending[keep:], start + keep
    yield from split(pending, start)


def to_sentences(spans: Iterable[TextSpan], title: str = "") -> Iterator[Sentence]:
    """Number sentences from 0, as FEVER numbers the lines of a page; items stand under what introduces them."""
    outline, depth, end = Outline(title), 0, -1
    for line, (text, start) in enumerate(spans):
        goes_on = depth == 1 and start - end <= 1
        depth = 1 if goes_on or _ITEM.match(text) else 0
        end = start + len(text)
        yield Sentence(text, line, start=start, end=end, section=outline.section(depth))
        outline.introduce(text, depth)


def to_pages(name: str, title: str, sentences: Iterable[Sentence], source: str) -> Iterator[Page]:
    """Pages of at most ``PART_SENTENCES`` sentences; lines number on through the parts."""
    part: list[Sentence] = []
    part_number = 1
    for sentence in sentences:
        part.append(sentence)
        if len(part) == PART_SENTENCES:
            yield Page(_part_name(name, part_number), title, tuple(part), source)
            part, part_number = [], part_number + 1
    if part or part_number == 1:
        yield Page(_part_name(name, part_number), title, tuple(part), source)


def numbered_part(page: str, kind: str) -> int:
    """The N of a page that is named ``file#kind=N``; 0 where it names no such part."""
    match = re.search(rf"#{kind}=(\d+)", page)
    return int(match[1]) if match else 0


def _part_name(name: str, part_number: int) -> str:
    return name if part_number == 1 else f"{name}#{part_number}"


def _cut(text: str, start: int) -> Iterator[TextSpan]:
    """The text without white space around it, in pieces of at most ``MAX_SENTENCE`` characters."""
    end = len(text.rstrip())
    begin = len(text) - len(text.lstrip())
    while begin < end:
        stop = end
        if end - begin > MAX_SENTENCE:
            stop = begin + MAX_SENTENCE
            spaces = [text.rfind(space, begin + 1, stop) for space in (" ", "\n", "\t")]
            stop = max(spaces) if max(spaces) > 0 else stop
        piece = text[begin:stop].rstrip()
        yield TextSpan(piece, start + begin)
        begin = stop + len(text[stop:end]) - len(text[stop:end].lstrip())
