"""A document as the page shows it: paragraphs of sentences, those of the evidence lit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.serving.check.html import with_marks
from adjudge.serving.server.faults import Fault
from adjudge.types import Span

if TYPE_CHECKING:
    from markupsafe import Markup

    from adjudge.retrieval.index import StoredSentence
    from adjudge.serving.server.corpus import Corpus

AROUND = 60
"""Sentences shown before and after the evidence beside a verdict."""
MOST_SENTENCES = 5000
"""Sentences of a whole document that are shown."""
PARAGRAPH_GAP = 2
"""Characters between two sentences from which on they stand in different paragraphs."""


@dataclass(frozen=True)
class SentenceView:
    """A sentence; ``style`` is ``lit``, ``also`` or empty."""

    line: int
    marked: Markup
    style: str


@dataclass(frozen=True)
class DocumentView:
    """A document or a stretch of it; ``before`` and ``after`` count the sentences that are left out."""

    title: str
    file: str
    href: str
    paragraphs: tuple[tuple[SentenceView, ...], ...]
    count: int
    before: int
    after: int


def document_view(
    sentences: Sequence[StoredSentence],
    corpus: Corpus,
    line: int | None = None,
    also: Collection[int] = (),
    marks: Sequence[Span] = (),
    around: int | None = None,
    href: str = "",
) -> DocumentView:
    """The document of these sentences.

    Args:
        sentences: all of the document, in order.
        corpus: that it is in.
        line: of the sentence that is lit.
        also: lines of other sentences of the evidence.
        marks: characters of the lit sentence that speak against the text.
        around: how many sentences are shown before and after the lit one; all, up to a limit, where it is None.
        href: where the whole document is shown.
    """
    focus = next((n for n, sentence in enumerate(sentences) if sentence.line == line), 0)
    first = max(0, focus - (MOST_SENTENCES // 2 if around is None else around))
    end = min(len(sentences), focus + 1 + (MOST_SENTENCES // 2 if around is None else around))
    paragraphs: list[list[SentenceView]] = []
    previous: StoredSentence | None = None
    for sentence in sentences[first:end]:
        lit = sentence.line == line
        style = "lit" if lit else "also" if sentence.line in also else ""
        view = SentenceView(
            sentence.line, with_marks(sentence.text, list(marks) if lit else [], "against"), style
        )
        if previous is None or _begins_paragraph(previous, sentence):
            paragraphs.append([])
        paragraphs[-1].append(view)
        previous = sentence
    head = sentences[0]
    file = corpus.relative(head.source) if head.source else ""
    return DocumentView(
        head.title or head.page,
        file if file != head.title else "",
        href,
        tuple(map(tuple, paragraphs)),
        len(sentences),
        first,
        len(sentences) - end,
    )


def read_mark(text: str) -> Span:
    """Characters as an address names them: ``12-16``."""
    start, _, end = text.partition("-")
    if not (start.isascii() and start.isdigit() and end.isascii() and end.isdigit()) or len(text) > 20:
        raise Fault(f"mark={text[:40]!r}: expected two numbers, as in 12-16.")
    return Span(int(start), max(int(start), int(end)))


def _begins_paragraph(previous: StoredSentence, sentence: StoredSentence) -> bool:
    """Where no places are known, every sentence stands by itself."""
    if previous.location or sentence.location or previous.end is None or sentence.start is None:
        return True
    return sentence.start - previous.end >= PARAGRAPH_GAP
