"""What a check gives: a state for every sentence and every part of it, with the words that are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from adjudge.errors import ConfigError
from adjudge.types import NO_EVIDENCE, Evidence, Label, SentenceRef, Span, Verdict

Reading = Literal["alone", "in context"]
"""Whether a statement was judged as it stands, or with the subject that title or previous sentence give it."""


class State(StrEnum):
    """What a check says of a sentence. The six are never merged."""

    SUPPORTS = Label.SUPPORTS.value
    REFUTES = Label.REFUTES.value
    NOT_ENOUGH_INFO = Label.NOT_ENOUGH_INFO.value
    NO_EVIDENCE = NO_EVIDENCE
    NOT_CHECKED = "NOT CHECKED"
    ERROR = "ERROR"

    def __str__(self) -> str:
        return self.value


WORDS = {
    State.SUPPORTS: "supported",
    State.REFUTES: "refuted",
    State.NOT_ENOUGH_INFO: "not enough info",
    State.NO_EVIDENCE: "no evidence found",
    State.NOT_CHECKED: "not checked",
    State.ERROR: "error",
}
"""The states as a summary names them."""

FAIL_ON: Mapping[str, frozenset[State]] = {
    "refuted": frozenset({State.REFUTES, State.ERROR}),
    "unsupported": frozenset({State.REFUTES, State.NOT_ENOUGH_INFO, State.NO_EVIDENCE, State.ERROR}),
}
"""What ``--fail-on`` counts as a failure."""


@dataclass(frozen=True, slots=True)
class FactCheck:
    """A number, date or name of the text beside that of the evidence.

    ``span`` counts in the text that was checked, ``evidence_span`` in the sentence at position ``sentence`` of the
    part's evidence; both are None where there is nothing to point at.
    """

    kind: str
    outcome: str
    text: str
    span: Span | None
    evidence: str | None = None
    evidence_span: Span | None = None
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class EvidenceMark:
    """Words of the evidence sentence at position ``sentence`` that speak against the text."""

    sentence: int
    span: Span


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """A statement of the text, and what the evidence says of it.

    Attributes:
        statement: what was judged: the part with its subject.
        span: what of the text it is.
        state: what came out.
        reading: whether a subject from the context was put in.
        verdict: of the judge; None where there was nothing to judge.
        facts: its numbers, dates and names beside the evidence's.
        marks: the words of the text that the evidence does not back; none where it is supported.
        evidence_marks: the words of the evidence that speak against it.
        reason: of an error or of no evidence.
    """

    statement: str
    span: Span
    state: State
    reading: Reading = "alone"
    verdict: Verdict | None = None
    facts: tuple[FactCheck, ...] = ()
    marks: tuple[Span, ...] = ()
    evidence_marks: tuple[EvidenceMark, ...] = ()
    reason: str | None = None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The sentences that the judge read."""
        return () if self.verdict is None else self.verdict.evidence

    @property
    def confidence(self) -> float:
        """The probability of the state; 0 where no judge has spoken."""
        return 0.0 if self.verdict is None else self.verdict.confidence


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence of the text: ``text`` without inline marks, ``start`` and ``end`` where it stands.

    ``reason`` says why it was not checked.
    """

    text: str
    start: int
    end: int
    state: State
    parts: tuple[CheckedPart, ...] = ()
    reason: str | None = None

    @property
    def marks(self) -> tuple[Span, ...]:
        """The words that the evidence does not back, of all its parts, in order and joined where they touch."""
        return join_spans([span for part in self.parts for span in part.marks])

    @property
    def reading(self) -> Reading:
        """Whether any part was judged with a subject from the context."""
        return "in context" if any(part.reading == "in context" for part in self.parts) else "alone"


@dataclass(frozen=True)
class Check:
    """A text that was checked.

    Attributes:
        text: as it was given.
        sentences: in order, those too that were not checked.
        name: of the file, where there is one.
        model: all that decides the verdicts.
        passages: where an evidence sentence stands → the text before and after it in its document, where known.
    """

    text: str
    sentences: tuple[CheckedSentence, ...]
    name: str = "text"
    model: Mapping[str, Any] = field(default_factory=dict)
    passages: Mapping[SentenceRef, tuple[str, str]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[State, int]:
        """How many sentences are in each state."""
        counts = Counter(sentence.state for sentence in self.sentences)
        return {state: counts.get(state, 0) for state in State}

    @property
    def summary(self) -> str:
        """One line: "12 sentences: 8 supported, 1 refuted, 3 not checked"."""
        total = len(self.sentences)
        counts = ", ".join(f"{count} {WORDS[state]}" for state, count in self.counts.items() if count)
        return f"{total} sentence{'' if total == 1 else 's'}{': ' if counts else ''}{counts}"

    def failures(self, fail_on: str) -> tuple[CheckedSentence, ...]:
        """The sentences that fail: ``refuted`` or ``unsupported``; errors always do, what was not checked never."""
        if fail_on not in FAIL_ON:
            raise ConfigError(f"fail on {fail_on!r}: expected one of {', '.join(FAIL_ON)}.")
        return tuple(sentence for sentence in self.sentences if sentence.state in FAIL_ON[fail_on])


def state_of_parts(states: Sequence[State]) -> State:
    """The state of a sentence by its parts.

    One refuted part refutes it. An error or a part without an answer leaves it open. It is supported where all parts
    are; nothing was found for it where nothing was found for any part.
    """
    for state in (State.REFUTES, State.ERROR):
        if state in states:
            return state
    if states and len(set(states)) == 1:
        return states[0]
    return State.NOT_ENOUGH_INFO


def join_spans(spans: Sequence[Span], gap: int = 1) -> tuple[Span, ...]:
    """Spans in order; those that overlap or have at most ``gap`` characters between them are one."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end + gap:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(Span(*span))
    return tuple(joined)
