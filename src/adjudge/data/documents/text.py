"""Plain text: decoded in blocks, binary data refused, offsets counted in the decoded characters."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from adjudge.data.documents.files import Problem, ProblemReport, SourceFile, open_regular
from adjudge.data.documents.sentences import TextSpan, split_blocks, to_pages, to_sentences
from adjudge.errors import DataError
from adjudge.types import Page

_BYTES = 1 << 16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_FALLBACK = "cp1252"


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The pages of a text file.

    Offsets count the characters of the file as decoded, line ends as they are, a byte order mark left out.
    """
    sentences = to_sentences(split_blocks(text_blocks(file, report)), file.title)
    yield from to_pages(file.name, file.title, sentences, file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str:
    """The decoded file."""
    return "".join(text_blocks(file, report))


def text_blocks(file: SourceFile, report: ProblemReport) -> Iterator[str]:
    """The decoded text of a file, in blocks."""
    encoding = find_encoding(file, report)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    with open_regular(file.path) as stream:
        while block := stream.read(_BYTES):
            if text := decoder.decode(block):
                yield text
    if text := decoder.decode(b"", final=True):
        yield text


def text_lines(blocks: Iterable[str], longest: int) -> Iterator[TextSpan]:
    """The lines of a text, line ends kept; one that is longer than ``longest`` comes in pieces."""
    pending, start = "", 0
    for block in blocks:
        pending += block
        begin = 0
        for match in _LINE_END.finditer(pending):
            if match.end() == len(pending) and match[0] == "\r":
                break  # a line feed may follow in the next block
            yield from _pieces(pending[begin : match.end()], start + begin, longest)
            begin = match.end()
        whole = (len(pending) - begin) // longest * longest
        yield from _pieces(pending[begin : begin + whole], start + begin, longest)
        begin += whole
        pending, start = pending[begin:], start + begin
    yield from _pieces(pending, start, longest)


def _pieces(text: str, start: int, longest: int) -> Iterator[TextSpan]:
    for offset in range(0, len(text), longest):
        yield TextSpan(text[offset : offset + longest], start + offset)


def find_encoding(file: SourceFile, report: ProblemReport) -> str:
    """The encoding of a file: what its mark says, or UTF-8, or what an HTML file declares, or Windows-1252.

    Raises ``DataError`` for binary data. The whole file is looked at, so that reading cannot fail midway.
    """
    with open_regular(file.path) as stream:
        head = stream.read(_BYTES)
        for mark, encoding in _MARKS:
            if head.startswith(mark):
                return encoding
        declared = _declared_encoding(head) if file.kind.name == "HTML" else None
        decoder = codecs.getincrementaldecoder("utf-8")()
        valid, position, block = True, 0, head
        while block:
            if b"\0" in block or _mostly_control(block):
                raise DataError("is binary data, expected text.")
            if valid:
                valid = _decodes(decoder, block, final=False)
                position += len(block) if valid else 0
            block = stream.read(_BYTES)
        valid = valid and _decodes(decoder, b"", final=True)
    if valid:
        return "utf-8"
    if declared is None:
        report(
            Problem(file.source, f"is not UTF-8 (near byte {position}); read as Windows-1252.", skipped=False)
        )
    return declared or _FALLBACK


def decode(content: bytes) -> str:
    """Text of which nothing says how it is encoded: what its mark says, or UTF-8, or Windows-1252."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode(_FALLBACK, "replace")


def _mostly_control(block: bytes) -> bool:
    return len(block) - len(block.translate(None, _CONTROL)) > len(block) // 20


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes, final: bool) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def _declared_encoding(head: bytes) -> str | None:
    charset = _CHARSET.search(head)
    if not charset:
        return None
    try:
        info = codecs.lookup(charset[1].decode("ascii"))
    except LookupError:
        return None
    # A page that was read byte by byte up to its declaration is not in UTF-16, and UTF-8 was tried;
    # codecs such as "hex" or "rot13" turn no bytes into text.
    text_encoding = getattr(info, "_is_text_encoding", True)
    return info.name if text_encoding and not info.name.startswith(("utf", "idna", "punycode")) else None
