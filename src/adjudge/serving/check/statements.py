"""From the sentences of a text to the statements that are judged: parts, with the subjects they lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from adjudge.data.clauses import (
    Part,
    Splitter,
    lacks_subject,
    split_by_rules,
    subject_of,
    whole,
    with_subject,
)
from adjudge.data.segments import Segment
from adjudge.errors import ConfigError
from adjudge.retrieval.context import needs_context
from adjudge.serving.check.records import Reading
from adjudge.types import Span

MAX_CONTEXT = 300
"""Characters of the previous sentence that are put before one whose subject cannot be put in."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A part of a sentence as it is judged.

    ``sentence`` is the position of its sentence in the text. ``part`` knows where its characters stand in the sentence.
    """

    sentence: int
    part: Part
    reading: Reading = "alone"

    @property
    def text(self) -> str:
        """What is judged."""
        return self.part.text


def statements_of(segments: Sequence[Segment], splitter: Splitter = split_by_rules) -> Iterator[Statement]:
    """The statements of all sentences that can be checked, in order."""
    title = next((segment.text for segment in segments if segment.reason == "heading"), "")
    antecedent = ""
    for number, segment in enumerate(segments):
        if segment.reason is not None:
            if segment.reason == "heading":
                antecedent = ""
            continue
        subject = _subject(antecedent) or title
        for part in _parts(segment.text, splitter):
            yield _in_context(Statement(number, part), subject, antecedent)
        if not needs_context(segment.text) and not lacks_subject(segment.text):
            antecedent = segment.text


def _parts(sentence: str, splitter: Splitter) -> list[Part]:
    parts = splitter(sentence)
    if isinstance(parts, str) or not all(isinstance(part, (str, Part)) for part in parts):
        raise ConfigError("splitter: expected a list of texts for each sentence.")
    located = [part if isinstance(part, Part) else locate(sentence, part) for part in parts]
    return [part for part in located if part.text.strip()] or [whole(sentence)]


def locate(sentence: str, statement: str) -> Part:
    """A statement that somebody made of a sentence: its words that stand in the sentence know their places."""
    start = sentence.find(statement.rstrip(".!"))
    if start >= 0:
        end = start + len(statement.rstrip(".!"))
        offsets = tuple(range(start, end)) + (-1,) * (len(statement) - (end - start))
        return Part(statement, Span(start, end), offsets)
    positions = [-1] * len(statement)
    for first, last in _words(statement):
        position = sentence.find(statement[first:last])
        if position >= 0:
            positions[first:last] = range(position, position + last - first)
    known = [position for position in positions if position >= 0]
    span = Span(min(known), max(known) + 1) if known else Span(0, len(sentence))
    return Part(statement, span, tuple(positions))


def _words(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        yield start, position


def _subject(sentence: str) -> str:
    span = subject_of(sentence) if sentence else None
    return sentence[span.start : span.end] if span else ""


def _in_context(statement: Statement, subject: str, antecedent: str) -> Statement:
    """The statement with its subject put in, where it begins with a pronoun or has none."""
    text = statement.text
    if not (needs_context(text) or lacks_subject(text)):
        return statement
    resolved = with_subject(text, subject) if subject else text
    if resolved == text and antecedent:
        resolved = f"{antecedent[:MAX_CONTEXT]} {text}"
    if resolved == text:
        return statement
    same = _common_ending(text, resolved)
    offsets = (-1,) * (len(resolved) - same) + statement.part.offsets[len(text) - same :]
    return Statement(
        statement.sentence, replace(statement.part, text=resolved, offsets=offsets), "in context"
    )


def _common_ending(one: str, other: str) -> int:
    length = 0
    while length < min(len(one), len(other)) and one[-1 - length] == other[-1 - length]:
        length += 1
    return length
