"""E-mail (.eml): sender, date and subject, and the text; attachments are named and not read.

Offsets count in the extracted text.
"""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message

from adjudge.data.documents.blocks import Block, block_sentences, block_text, one_line
from adjudge.data.documents.files import Problem, ProblemReport, SourceFile, open_regular
from adjudge.data.documents.html import html_blocks
from adjudge.data.documents.sentences import to_pages
from adjudge.data.documents.text import decode
from adjudge.errors import DataError
from adjudge.types import Page

MAX_MAIL = 1 << 26
"""Bytes of a mail with its attachments (64 MiB): it is parsed as a whole."""

DEEPEST = 20
"""Parts within parts."""

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_HEADER_TEXT = 1000
_QUOTE = re.compile(r"(?:[ \t]?>)+[ \t]?")
_NAMED = 5


def read_pages(file: SourceFile, report: ProblemReport) -> Iterator[Page]:
    """The mail as one document; its subject is the title."""
    message = _parse(file)
    attachments: list[str] = []
    blocks = list(_blocks(message, attachments))
    if attachments:
        names = ", ".join(attachments[:_NAMED]) + (", …" if len(attachments) > _NAMED else "")
        report(Problem(file.source, f"attachments not read ({len(attachments):,}): {names}", skipped=False))
    title = _header(message, "Subject")[:300] or file.title
    yield from to_pages(file.name, title, block_sentences(blocks, title), file.source)


def read_source(file: SourceFile, page: str, report: ProblemReport) -> str:
    """The extracted text."""
    return block_text(_blocks(_parse(file), []))


def _parse(file: SourceFile) -> Message:
    with open_regular(file.path) as stream:
        content = stream.read(MAX_MAIL + 1)
    if len(content) > MAX_MAIL:
        raise DataError(f"is a mail of more than {MAX_MAIL >> 20} MiB.")
    try:
        # The older policy: its parser of headers is simple, and takes no longer for a long one.
        message = email.message_from_bytes(content, policy=email.policy.compat32)
    except Exception as error:
        raise DataError(f"is not a readable mail ({type(error).__name__}: {error}).") from None
    if not any(_header(message, name) for name in ("From", "Date", "Subject")):
        raise DataError("is not a mail: it has no sender, date or subject.")
    return message


def _blocks(message: Message, attachments: list[str]) -> Iterator[Block]:
    for name in _HEADERS:
        if text := _header(message, name):
            yield Block(f"{name}: {text}", whole=True, location=f"header {name}")
    for part in _bodies(message, attachments, 0):
        text = _content(part)
        if part.get_content_type() == "text/html":
            yield from html_blocks([text])
        else:
            yield from _paragraphs(text)


def _bodies(part: Message, attachments: list[str], depth: int) -> Iterator[Message]:
    """The parts that are the mail's text; of alternatives the plain one."""
    kind = part.get_content_type()
    name = one_line(_decode_header(part.get_filename() or ""))[:100]
    if depth > DEEPEST or part.get_content_disposition() == "attachment" or (name and kind != "text/plain"):
        attachments.append(name or kind)
    elif part.is_multipart() and kind != "message/rfc822":
        parts = [child for child in part.get_payload() if isinstance(child, Message)]
        if kind == "multipart/alternative":
            plain = [child for child in parts if child.get_content_type() == "text/plain"]
            parts = plain[:1] or parts[-1:]
        for child in parts:
            yield from _bodies(child, attachments, depth + 1)
    elif kind in ("text/plain", "text/html"):
        yield part
    else:
        attachments.append(name or kind)


def _content(part: Message) -> str:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    try:
        return content.decode(part.get_content_charset() or "utf-8")
    except (LookupError, ValueError):
        return decode(content)


def _paragraphs(text: str) -> Iterator[Block]:
    """Paragraphs end at an empty line, and where a quotation begins or ends; the marks of quotations go."""
    lines: list[str] = []
    before = ""
    for line in text.splitlines():
        quote = _QUOTE.match(line)
        marks = quote[0].count(">") * ">" if quote else ""
        content = line[quote.end() :] if quote else line
        if marks != before or not content.strip():
            if paragraph := one_line(" ".join(lines)):
                yield Block(paragraph)
            lines = []
        lines.append(content)
        before = marks
    if paragraph := one_line(" ".join(lines)):
        yield Block(paragraph)


def _header(message: Message, name: str) -> str:
    return one_line(_decode_header(str(message.get(name) or "")[: 10 * _HEADER_TEXT]))[:_HEADER_TEXT]


def _decode_header(text: str) -> str:
    """A header in words: what is encoded in it is decoded, where it can be."""
    try:
        text = str(make_header(decode_header(text)))
    except (MessageError, LookupError, ValueError):
        pass
    return text.encode("utf-8", "replace").decode()
