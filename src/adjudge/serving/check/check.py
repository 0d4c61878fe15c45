"""A whole text checked: sentences, statements, evidence and verdicts, each for all of the text at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from adjudge.data.clauses import Splitter, split_by_rules, whole
from adjudge.data.segments import Segment, segment_text
from adjudge.data.text import expect_text
from adjudge.errors import AdjudgeError, ConfigError
from adjudge.facts.compare import compare, contradictions_with
from adjudge.facts.records import Comparison, Outcome
from adjudge.judges.mixed import compares_facts, reading_judge, takes_facts, with_facts
from adjudge.judges.protocol import Judge
from adjudge.serving.check.marks import Marking, evidence_marks, mark_words
from adjudge.serving.check.records import (
    Check,
    CheckedPart,
    CheckedSentence,
    EvidenceMark,
    FactCheck,
    State,
    join_spans,
    state_of_parts,
)
from adjudge.serving.check.statements import Statement, statements_of
from adjudge.types import NOT_SUPPORTED, Evidence, Example, Label, SentenceRef, Span, Verdict

if TYPE_CHECKING:
    from adjudge.retrieval.index import Index

SURE = 0.8
"""How probable a refutation must be that no differing fact backs; set on the texts of reproductions/texts/tuning."""
MAX_SENTENCES = 1000
"""Sentences of a text that are checked; those after them are listed as not checked."""

MAX_PASSAGE = 400
"""Characters shown of the sentences before and after an evidence sentence."""

Answer = tuple[Verdict, tuple[Comparison, ...]]
Input = TypeVar("Input")
Output = TypeVar("Output")


@dataclass(frozen=True)
class CheckOptions:
    """How a text is checked.

    Attributes:
        markdown: whether the text is Markdown: headings, lists, code and inline marks are known as such.
        splitter: makes the parts of a sentence; None judges sentences whole.
        marks: whether the words are marked that the evidence does not back.
        max_sentences: how many sentences are checked.
        min_confidence: verdicts less probable than this are NOT ENOUGH INFO.
    """

    markdown: bool = True
    splitter: Splitter | None = split_by_rules
    marks: bool = True
    max_sentences: int = MAX_SENTENCES
    min_confidence: float = 0.0


def check_text(
    text: str,
    find_evidence: Callable[[Sequence[str]], Sequence[Sequence[Evidence]]],
    judge: Judge | None,
    options: CheckOptions | None = None,
    name: str = "text",
) -> Check:
    """Check every sentence of a text.

    Args:
        text: what to check.
        find_evidence: statements → the sentences to judge each by.
        judge: who judges; None compares facts alone.
        options: how.
        name: what to call the text.
    """
    expect_text(text, "text")
    judge = comparing(judge)
    windows = check_windows(text, find_evidence, judge, options, (MAX_SENTENCES,))
    return Check(text, tuple(chain.from_iterable(windows)), name, judge.identity)


def check_windows(
    text: str,
    find_evidence: Callable[[Sequence[str]], Sequence[Sequence[Evidence]]],
    judge: Judge,
    options: CheckOptions | None = None,
    sizes: Sequence[int] = (1, 2, 4, 8, 16),
) -> Iterator[list[CheckedSentence]]:
    """The sentences of a text as they are checked, some at a time, in order.

    Args:
        text: what to check.
        find_evidence: as for :func:`check_text`.
        judge: who judges, one that compares facts (:func:`comparing`).
        options: how.
        sizes: how many sentences are checked together: first, second, …; the last size serves for all that follow.
    """
    options = options or CheckOptions()
    segments = _limited(segment_text(text, options.markdown), options.max_sentences)
    statements = list(statements_of(segments, options.splitter or (lambda sentence: [whole(sentence)])))
    first, window = 0, 0
    while first < len(segments):
        end = first + sizes[min(window, len(sizes) - 1)]
        inside = [statement for statement in statements if first <= statement.sentence < end]
        evidence = _each(find_evidence, [statement.text for statement in inside])
        parts = _judge_statements(segments, inside, evidence, judge, options.min_confidence)
        if options.marks:
            parts = _marked(segments, inside, parts, reading_judge(judge))
        by_sentence = {
            number: tuple(part for _, part in group)
            for number, group in groupby(
                ((statement.sentence, part) for statement, (part, _) in zip(inside, parts, strict=True)),
                key=lambda pair: pair[0],
            )
        }
        yield [_sentence(segments[n], by_sentence.get(n, ())) for n in range(first, min(end, len(segments)))]
        first, window = end, window + 1


def comparing(judge: Judge | None) -> Judge:
    """The judge with facts compared, where its labels are such that the two can be mixed."""
    if judge is None:
        return with_facts(None)
    return judge if compares_facts(judge) or not takes_facts(judge.labels) else with_facts(judge)


def with_passages(check: Check, index: Index) -> Check:
    """The check with what stands before and after its evidence in the documents."""
    refs = {
        sentence.ref
        for checked in check.sentences
        for part in checked.parts
        for sentence in part.evidence
        if sentence.page
    }
    passages: dict[SentenceRef, tuple[str, str]] = {}
    for page in sorted({ref.page for ref in refs}):
        texts = {sentence.line: sentence.text for sentence in index.page_sentences(page)}
        for line in texts:
            if (page, line) in refs:
                around = texts.get(line - 1, ""), texts.get(line + 1, "")
                passages[SentenceRef(page, line)] = around[0][-MAX_PASSAGE:], around[1][:MAX_PASSAGE]
    return replace(check, passages=passages)


@contextmanager
def documents_index(documents: Sequence[str | os.PathLike[str]], by_meaning: bool = True) -> Iterator[Path]:
    """An index of a few documents for as long as the block lasts: texts, or paths of files and folders.

    With ``by_meaning`` it has sentence vectors.
    """
    from adjudge.retrieval.build import build_index
    from adjudge.retrieval.embedding import automatic_vectors

    if isinstance(documents, (str, bytes, os.PathLike)) or not documents:
        raise ConfigError("against: expected a list of documents, texts or paths; pass [document].")
    with tempfile.TemporaryDirectory(prefix="adjudge-check-") as folder:
        roots: list[Path] = []
        for number, document in enumerate(documents, start=1):
            if isinstance(document, os.PathLike):
                roots.append(Path(document))
            elif not isinstance(document, str):
                raise ConfigError(
                    f"against: expected texts or paths, found {type(document).__name__} among them."
                )
            else:
                roots.append(Path(folder) / f"document {number}.md")
                roots[-1].write_text(document, encoding="utf-8", errors="replace")
        vectors = automatic_vectors() if by_meaning else "keep"
        build_index(roots, Path(folder) / "index", strict=True, vectors=vectors)
        yield Path(folder) / "index"


def _limited(segments: Iterator[Segment], most: int) -> list[Segment]:
    limited, count = [], 0
    for segment in segments:
        count += segment.reason is None
        if count > most and segment.reason is None:
            segment = replace(segment, reason=f"after the first {most:,} sentences")
        limited.append(segment)
    return limited


def _each(
    work: Callable[[Sequence[Input]], Sequence[Output]], items: Sequence[Input]
) -> list[Output | Exception]:
    """The results for all items at once; where that fails, for each alone, so that one error spoils one item."""
    if not items:
        return []
    try:
        return list(work(items))
    except AdjudgeError:
        raise
    except Exception:
        results: list[Output | Exception] = []
        for item in items:
            try:
                results += work([item])
            except Exception as error:
                results.append(error)
        return results


def _judge_statements(
    segments: Sequence[Segment],
    statements: Sequence[Statement],
    evidence: Sequence[Sequence[Evidence] | Exception],
    judge: Judge,
    min_confidence: float,
) -> list[tuple[CheckedPart, Answer | None]]:
    examples = [
        Example(number, statement.text, tuple(sentences))
        for number, (statement, sentences) in enumerate(zip(statements, evidence, strict=True))
        if not isinstance(sentences, Exception) and sentences
    ]

    def answer(batch: Sequence[Example]) -> list[Answer]:
        return [(verdict, compare(verdict.claim, verdict.evidence)) for verdict in judge.judge(batch)]

    answers = {example.id: result for example, result in zip(examples, _each(answer, examples), strict=True)}
    parts: list[tuple[CheckedPart, Answer | None]] = []
    for number, (statement, sentences) in enumerate(zip(statements, evidence, strict=True)):
        span = segments[statement.sentence].source_span(statement.part.span)
        result = sentences if isinstance(sentences, Exception) else answers.get(number)
        part = CheckedPart(statement.text, span, State.NO_EVIDENCE, statement.reading)
        if isinstance(result, Exception):
            part = replace(part, state=State.ERROR, reason=f"{type(result).__name__}: {result}")
            parts.append((part, None))
        elif result is None:
            parts.append((replace(part, reason="nothing in the documents matches"), None))
        else:
            verdict, comparisons = result
            facts = tuple(_fact(segments[statement.sentence], statement, one) for one in comparisons)
            least = max(min_confidence, _least_to_refute(verdict, comparisons, judge))
            if weak := verdict.abstained or verdict.confidence < least:
                verdict = replace(verdict, abstained=True)
            reason = f"too unsure; likeliest is {verdict.label}" if weak else None
            part = replace(part, state=_state(verdict), verdict=verdict, facts=facts, reason=reason)
            parts.append((part, (verdict, comparisons)))
    return parts


def _least_to_refute(verdict: Verdict, comparisons: Sequence[Comparison], judge: Judge | None) -> float:
    """How probable a verdict must be: a model that refutes where no fact or word differs has to be sure."""
    differs = any(comparison.outcome is Outcome.DIFFERENT for comparison in comparisons)
    differs = differs or bool(contradictions_with(verdict.claim, verdict.evidence))
    if verdict.label != Label.REFUTES or differs or reading_judge(judge) is None:
        return 0.0
    return SURE


def _state(verdict: Verdict) -> State:
    if verdict.label is None:
        return State.NO_EVIDENCE
    if verdict.abstained or verdict.label == NOT_SUPPORTED:
        return State.NOT_ENOUGH_INFO
    try:
        return State(Label(verdict.label).value)
    except ValueError:
        raise ConfigError(
            f"The judge answers {verdict.label!r}; a check needs one that answers SUPPORTS, REFUTES or NOT ENOUGH INFO."
        ) from None


def _fact(segment: Segment, statement: Statement, comparison: Comparison) -> FactCheck:
    inside = statement.part.sentence_span(comparison.fact.span)
    other = comparison.other
    return FactCheck(
        str(comparison.fact.kind),
        str(comparison.outcome),
        comparison.fact.text,
        segment.source_span(inside) if inside else None,
        other.text if other else None,
        other.span if other and comparison.sentence is not None else None,
        comparison.sentence,
    )


def _marked(
    segments: Sequence[Segment],
    statements: Sequence[Statement],
    parts: list[tuple[CheckedPart, Answer | None]],
    judge: Judge | None,
) -> list[tuple[CheckedPart, Answer | None]]:
    """The parts, those that are not supported with their marks."""
    wanted = [
        number
        for number, (part, answer) in enumerate(parts)
        if answer and part.state in (State.REFUTES, State.NOT_ENOUGH_INFO)
    ]
    markings = [Marking(*answer) for number in wanted if (answer := parts[number][1])]
    marked = list(parts)
    for number, marking, spans in zip(wanted, markings, mark_words(markings, judge), strict=True):
        part, answer = parts[number]
        segment, statement = segments[statements[number].sentence], statements[number]
        inside = [within for span in spans if (within := statement.part.sentence_span(span))]
        against = tuple(EvidenceMark(*pair) for pair in evidence_marks(marking))
        source = join_spans([segment.source_span(Span(*span)) for span in inside])
        marked[number] = (replace(part, marks=source, evidence_marks=against), answer)
    return marked


def _sentence(segment: Segment, parts: tuple[CheckedPart, ...]) -> CheckedSentence:
    if segment.reason is not None:
        return CheckedSentence(
            segment.text, segment.start, segment.end, State.NOT_CHECKED, reason=segment.reason
        )
    state = state_of_parts([part.state for part in parts])
    return CheckedSentence(segment.text, segment.start, segment.end, state, parts)
