"""Markdown: the sentences of its prose and the rows of its tables, without code, comments and front matter.

A sentence's text has the inline marks removed (``**``, links, back-ticks); its offsets point at the
sentence as it is written in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

from adjudge.data.documents.files import ProblemReport, SourceFile
from adjudge.data.documents.outline import Outline
from adjudge.data.documents.sentences import BLOCK, TextSpan, split, to_pages
from adjudge.data.documents.tables import TableReader, TableRow
from adjudge.data.documents.text import text_blocks, text_lines
from adjudge.types import Page, Sentence

MAX_COLUMNS = 1000
HEADING = "heading"
"""The ``location`` of a heading, where headings are asked for."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
_HEADING_END = re.compile(r"[ \t]+#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:[-*_][ \t]*){3,}$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\[[ xX]\])?[ \t]+")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_DEFINITION = re.compile(r" {0,3}\[[^\]\n]{1,200}\]:")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+$")
_CELL_END = re.compile(r"(?<!\\)\|")
_BOLD = re.compile(r"(\*\*|__)[^*_\n]{1,150}[^*_\n.!?]\1")  # a heading in all but name
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


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The pages of a Markdown file; its first heading is the title. Offsets count as in plain text."""
    reader = _Reader(Outline(file.title))
    sentences = _number_lines(reader.sentences(text_lines(text_blocks(file, report), BLOCK)))
    first = next(sentences, None)  # the title stands before the first sentence, if there is one
    every = chain([first] if first else [], sentences)
    yield from to_pages(file.name, reader.outline.title, every, file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str:
    """The decoded file."""
    return "".join(text_blocks(file, report))


def strip_marks(text: str) -> str:
    """A sentence without its inline marks."""
    for mark, pattern, replacement in _INLINE:
        if mark in text:
            text = pattern.sub(replacement, text)
    return text.strip()


def plain_offsets(text: str) -> tuple[str, list[int]]:
    """A sentence without its inline marks, and where in ``text`` each of its characters stands."""
    offsets = list(range(len(text)))
    for mark, pattern, replacement in _INLINE:
        if mark not in text:
            continue
        pieces: list[str] = []
        kept: list[int] = []
        end = 0
        for match in pattern.finditer(text):
            # What a rule leaves of a match: its first group, its first character, or nothing.
            start, stop = (
                match.span(1) if replacement == r"\1" else (match.start(), match.start() + len(replacement))
            )
            pieces += [text[end : match.start()], text[start:stop]]
            kept += offsets[end : match.start()] + offsets[start:stop]
            end = match.end()
        text, offsets = "".join(pieces) + text[end:], kept + offsets[end:]
    begin = len(text) - len(text.lstrip())
    stripped = text.strip()
    return stripped, offsets[begin : begin + len(stripped)]


def read_text(text: str) -> Iterator[Sentence]:
    """The sentences of a Markdown text; headings are among them, ``location`` says that they are."""
    return _number_lines(_Reader(Outline(), headings=True).sentences(text_lines([text], BLOCK)))


def _number_lines(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    return (replace(sentence, line=line) for line, sentence in enumerate(sentences))


@dataclass
class _Reader:
    """Walks the lines of a file and gathers those of one paragraph at a time."""

    outline: Outline
    headed: bool = False
    """Whether a heading or a sentence was met: a heading before both is the title."""
    depth: int = 0
    """Of the paragraph: 0, or by how far its item is indented."""
    fence: str = ""
    comment: bool = False
    paragraph: list[str] = field(default_factory=list)
    size: int = 0
    start: int = 0
    table: _MarkdownTable | None = None
    tables: int = 0
    headings: bool = False

    def sentences(self, lines: Iterable[TextSpan]) -> Iterator[Sentence]:
        """The sentences of the lines, not yet numbered."""
        front_matter = False
        for line, start in lines:
            bare = line.rstrip("\r\n")
            if start == 0 and bare.strip() == "---":
                front_matter = True
            elif front_matter:
                front_matter = bare.strip() not in ("---", "...")
            elif self.table and "|" in bare and not self.comment and not _FENCE.match(bare):
                yield from self._rows(self.table, bare, start)
            elif self.paragraph and "|" in self.paragraph[-1] and _TABLE_RULE.match(bare):
                yield from self._start_table()
            elif not self._skipped(bare):
                yield from self._take(line, bare, start)
            else:
                yield from self._flush()
        yield from self._flush()

    def _start_table(self) -> Iterator[Sentence]:
        """The last line was a header; what stands before it is a paragraph."""
        header = self.paragraph.pop()
        start = self.start + self.size - len(header)
        yield from self._flush()
        self.tables += 1
        self.table = _MarkdownTable(self.tables)
        yield from self._rows(self.table, header.rstrip("\r\n"), start, header=True)

    def _rows(self, table: _MarkdownTable, bare: str, start: int, header: bool = False) -> Iterator[Sentence]:
        self.headed, section = True, self.outline.section(_indent(bare) + 1)
        for sentence in table.sentences(bare, start, header):
            yield replace(sentence, section=section)

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
        if not self.paragraph and bare.startswith(("    ", "\t")) and not _ITEM.match(bare):
            return True  # indented code
        rule = _RULE.match(bare) and not (self.paragraph and _UNDERLINE.match(bare))
        return bool(rule or _DEFINITION.match(bare) or _TABLE_RULE.match(bare))

    def _take(self, line: str, bare: str, start: int) -> Iterator[Sentence]:
        heading = _HEADING.match(bare)
        if heading:
            yield from self._flush()
            level = heading[0].count("#")
            yield from self._heading(
                _HEADING_END.sub("", bare[heading.end() :]), start + heading.end(), level
            )
        elif self.paragraph and _UNDERLINE.match(bare):
            text, begin = "".join(self.paragraph).rstrip(), self.start
            self.paragraph, self.size = [], 0
            yield from self._heading(text, begin, 1 if "=" in bare else 2)
        elif not bare.strip():
            yield from self._flush()
        else:
            marks = 0
            if quote := _QUOTE.match(bare):
                marks = quote.end()
            if item := _ITEM.match(bare, marks):
                marks = item.end()
            row = bare.lstrip().startswith("|")
            if item or row or self.table or (quote and not self.paragraph) or self.size > BLOCK:
                yield from self._flush()
            if not self.paragraph:
                self.start, line = start + marks, line[marks:]
                self.depth = self._depth_of(bare, item is not None)
            self.paragraph.append(line)
            self.size += len(line)

    def _depth_of(self, bare: str, item: bool) -> int:
        """An item is as deep as it is indented; so is a further paragraph of an item."""
        return _indent(bare) + 1 if item else min(_indent(bare), self.depth)

    def _heading(self, text: str, start: int, level: int) -> Iterator[Sentence]:
        """The first heading is the title; a heading is a sentence only where it ends like one."""
        name = strip_marks(text)[:300]
        if name and not self.headed:
            self.outline.title = name
        self.headed, self.depth = self.headed or bool(name), 0
        self.outline.enter_heading(name, level)
        if self.headings and text.strip():
            begin = start + len(text) - len(text.lstrip())
            yield Sentence(strip_marks(text), 0, start=begin, end=begin + len(text.strip()), location=HEADING)
        elif _SENTENCE_END.search(text.strip()):
            yield from self._prose(text, start)

    def _flush(self) -> Iterator[Sentence]:
        """The sentences of the paragraph that has ended; a table ends with it."""
        text, self.paragraph, self.size, self.table = "".join(self.paragraph), [], 0, None
        if text:
            last = ""
            for sentence in self._prose(text, self.start):
                last = sentence.text
                yield sentence
            self.outline.introduce(last, self.depth, always=bool(_BOLD.fullmatch(text.strip())))

    def _prose(self, text: str, start: int) -> Iterator[Sentence]:
        self.headed = True
        section = self.outline.section(self.depth)
        for written, begin in split(text, start):
            if clean := strip_marks(written).strip("| \t"):
                yield Sentence(clean, 0, start=begin, end=begin + len(written), section=section)


def _indent(bare: str) -> int:
    expanded = bare[:200].expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


@dataclass
class _MarkdownTable:
    """A table after its header; every line with a bar is a row."""

    number: int
    table: TableReader = field(default_factory=TableReader)
    rows: int = 0

    def sentences(self, bare: str, start: int, header: bool = False) -> Iterator[Sentence]:
        written = bare.strip()
        inner = written[written.startswith("|") :]
        if inner.endswith("|") and not inner.endswith("\\|"):
            inner = inner[:-1]
        cells = [strip_marks(cell) for cell in _CELL_END.split(inner)[:MAX_COLUMNS]]
        self.rows += 1
        begin = start + len(bare) - len(bare.lstrip())
        for text, row, _, _ in self.table.add(TableRow(self.rows, cells, header)):
            location = f"table {self.number}, row {row.number}"
            yield Sentence(text, 0, start=begin, end=begin + len(written), location=location)
