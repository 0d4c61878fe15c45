"""Markdown: the sentences of its prose, without code, tables of links, comments and front matter.

A sentence's text has the inline marks removed (``**``, links, back-ticks); its offsets point at the
sentence as it is written in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from adjudge.data.documents.files import Report, SourceFile
from adjudge.data.documents.sentences import BLOCK, Span, split, to_pages
from adjudge.data.documents.text import text_blocks
from adjudge.types import Page, Sentence

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
_HEADING_END = re.compile(r"[ \t]+#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:[-*_][ \t]*){3,}$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\[[ xX]\])?[ \t]+")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_DEFINITION = re.compile(r" {0,3}\[[^\]\n]{1,200}\]:")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+$")
_SENTENCE_END = re.compile(r"[.!?][\"')\]*_]*$")

# What must be there for a rule to apply, which is quickly seen; the rule; what it leaves.
_INLINE = (
    (">", re.compile(r"\n[ \t]*(?:>[ \t]?)+"), "\n"),
    ("![", re.compile(r"!\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)"), r"\1"),
    ("](", re.compile(r"\[([^\]]{1,500})\]\([^)\n]{0,2000}\)"), r"\1"),
    ("][", re.compile(r"\[([^\]]{1,500})\]\[[^\]\n]{0,200}\]"), r"\1"),
    ("<http", re.compile(r"<(https?://[^>\s]{1,2000})>"), r"\1"),
    ("<", re.compile(r"</?[A-Za-z][^<>]{0,500}>"), ""),
    ("`", re.compile(r"(?<![\\`])`{1,2}([^`]{1,500})`{1,2}"), r"\1"),
    ("*", re.compile(r"(?<![\\*])\*{1,3}(?=\S)|(?<=[^\s\\])\*{1,3}"), ""),
    ("_", re.compile(r"(?<![\w\\])_{1,3}(?=\S)|(?<=[^\s\\])_{1,3}(?!\w)"), ""),
    ("\\", re.compile(r"\\([\\`*_{}\[\]()#+.!<>|-])"), r"\1"),
)


def read_markdown_pages(file: SourceFile, report: Report) -> Iterator[Page]:
    """The pages of a Markdown file; its first heading is the title. Offsets count as in plain text."""
    reader = _Reader()
    spans = reader.spans(_lines(text_blocks(file, report)))
    first = next(spans, None)  # the title stands before the first sentence, if there is one
    every = chain([first] if first else [], spans)
    yield from to_pages(file.name, reader.title or file.title, _sentences(every), file.source)


def plain(text: str) -> str:
    """A sentence without its inline marks."""
    for mark, pattern, replacement in _INLINE:
        if mark in text:
            text = pattern.sub(replacement, text)
    return text.strip()


@dataclass
class _Reader:
    """Walks the lines of a file and gathers those of one paragraph at a time."""

    title: str = ""
    fence: str = ""
    comment: bool = False
    held: list[str] = field(default_factory=list)
    start: int = 0

    def spans(self, lines: Iterable[Span]) -> Iterator[Span]:
        front_matter = False
        for line, start in lines:
            bare = line.rstrip("\r\n")
            if start == 0 and bare.strip() == "---":
                front_matter = True
            elif front_matter:
                front_matter = bare.strip() not in ("---", "...")
            elif not self._skipped(bare):
                yield from self._take(line, bare, start)
            else:
                yield from self._flush()
        yield from self._flush()

    def _skipped(self, bare: str) -> bool:
        """Code, comments, rules and definitions, none of which is prose."""
        mark = _FENCE.match(bare)
        if self.fence:
            if mark and mark[1].startswith(self.fence) and not bare.strip(" `~"):
                self.fence = ""
            return True
        if mark:
            self.fence = mark[1]
            return True
        if self.comment or bare.lstrip().startswith("<!--"):
            self.comment = "-->" not in bare
            return True
        if not self.held and bare.startswith(("    ", "\t")) and not _ITEM.match(bare):
            return True  # indented code
        rule = _RULE.match(bare) and not (self.held and _UNDERLINE.match(bare))
        return bool(rule or _DEFINITION.match(bare) or _TABLE_RULE.match(bare))

    def _take(self, line: str, bare: str, start: int) -> Iterator[Span]:
        heading = _HEADING.match(bare)
        if heading:
            yield from self._flush()
            yield from self._heading(_HEADING_END.sub("", bare[heading.end() :]), start + heading.end())
        elif self.held and _UNDERLINE.match(bare):
            text, begin = "".join(self.held).rstrip(), self.start
            self.held = []
            yield from self._heading(text, begin)
        elif not bare.strip():
            yield from self._flush()
        else:
            marks = 0
            if quote := _QUOTE.match(bare):
                marks = quote.end()
            if item := _ITEM.match(bare, marks):
                marks = item.end()
            row = bare.lstrip().startswith("|")
            if item or row or (quote and not self.held) or sum(map(len, self.held)) > BLOCK:
                yield from self._flush()
            if not self.held:
                self.start, line = start + marks, line[marks:]
            self.held.append(line)

    def _heading(self, text: str, start: int) -> Iterator[Span]:
        """The first heading is the title; a heading is a sentence only where it ends like one."""
        self.title = self.title or plain(text)[:300]
        if _SENTENCE_END.search(text.strip()):
            yield from split(text, start)

    def _flush(self) -> Iterator[Span]:
        text, self.held = "".join(self.held), []
        if text:
            yield from split(text, self.start)


def _sentences(spans: Iterable[Span]) -> Iterator[Sentence]:
    line = 0
    for text, start in spans:
        if clean := plain(text).strip("| \t"):
            yield Sentence(clean, line, start=start, end=start + len(text))
            line += 1


def _lines(blocks: Iterable[str]) -> Iterator[Span]:
    """The lines of a text, line ends kept; one that is longer than a block comes in pieces."""
    held, start = "", 0
    for block in blocks:
        held += block
        *whole, held = held.splitlines(keepends=True) if held else [""]
        if held.endswith("\n"):
            whole, held = [*whole, held], ""
        while len(held) > BLOCK:
            whole, held = [*whole, held[:BLOCK]], held[BLOCK:]
        for line in whole:
            yield Span(line, start)
            start += len(line)
    if held:
        yield Span(held, start)
