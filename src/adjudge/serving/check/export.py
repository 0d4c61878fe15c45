"""A check for other programs: JSON, JSON lines, Markdown, SARIF, and annotations of GitHub's runners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from adjudge import __version__
from adjudge.data.text import headings_of
from adjudge.data.verdicts import verdict_record
from adjudge.serving.check.records import WORDS, Check, CheckedPart, CheckedSentence, FactCheck, State
from adjudge.types import Evidence, Span

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    State.REFUTES: "error",
    State.ERROR: "error",
    State.NOT_ENOUGH_INFO: "warning",
    State.NO_EVIDENCE: "warning",
}
"""States that are findings, with how grave they are."""
_RULES = {
    State.REFUTES: ("refuted", "The documents say otherwise."),
    State.NOT_ENOUGH_INFO: ("not-enough-info", "The documents do not say enough to support the sentence."),
    State.NO_EVIDENCE: ("no-evidence", "Nothing in the documents matches the sentence."),
    State.ERROR: ("error", "The sentence could not be checked because of an error."),
}


def check_record(check: Check) -> dict[str, Any]:
    """A check as JSON shows it; all offsets count characters of the text that was checked."""
    return {
        "name": check.name,
        "summary": check.summary,
        "counts": {state.value: count for state, count in check.counts.items()},
        "sentences": [sentence_record(check, sentence) for sentence in check.sentences],
    }


def sentence_record(check: Check, sentence: CheckedSentence) -> dict[str, Any]:
    """A sentence as JSON shows it; what is unknown is left out."""
    record: dict[str, Any] = {
        "text": sentence.text,
        "start": sentence.start,
        "end": sentence.end,
        "state": sentence.state.value,
    }
    if sentence.reason:
        record["reason"] = sentence.reason
    if sentence.parts:
        record["reading"] = sentence.reading
        record["marks"] = [_marked(check, span) for span in sentence.marks]
        record["parts"] = [_part_record(check, part) for part in sentence.parts]
    return record


def to_json(checks: Sequence[Check]) -> str:
    """One indented JSON document: of a single check an object, of several a list."""
    records = [check_record(check) for check in checks]
    return _json(records[0] if len(records) == 1 else records)


def to_jsonl(checks: Sequence[Check]) -> str:
    """One line for each sentence."""
    records = (
        {"name": check.name, **sentence_record(check, sentence)}
        for check in checks
        for sentence in check.sentences
    )
    return "".join(f"{msgspec.json.encode(record).decode()}\n" for record in records)


def to_markdown(checks: Sequence[Check]) -> str:
    """A report to read: the summary, then every sentence that is not supported with its evidence."""
    return "\n".join(map(_markdown, checks))


def _markdown(check: Check) -> str:
    lines = [f"# Check of {_escape(check.name)}", "", f"{check.summary}.", ""]
    for sentence in check.sentences:
        if sentence.state in (State.SUPPORTS, State.NOT_CHECKED):
            continue
        line, _ = line_and_column(check.text, sentence.start)
        lines += [
            f"## {WORDS[sentence.state].capitalize()}, line {line}",
            "",
            f"> {_marked_markdown(check, sentence)}",
            "",
        ]
        for part in sentence.parts:
            lines += _markdown_part(part, several=len(sentence.parts) > 1)
        lines.append("")
    lines += ["## All sentences", "", "| line | state | sentence |", "|--:|---|---|"]
    for sentence in check.sentences:
        line, _ = line_and_column(check.text, sentence.start)
        state = WORDS[sentence.state] + (f" ({sentence.reason})" if sentence.reason else "")
        lines.append(f"| {line} | {_escape(state)} | {_escape(sentence.text)} |")
    return "\n".join(lines) + "\n"


def to_sarif(checks: Sequence[Check]) -> str:
    """A SARIF 2.1.0 log: a result for each sentence that is not supported."""
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.values()]
    run = {
        "tool": {"driver": {"name": "adjudge", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(check.name)}} for check in checks],
        "results": [_sarif_result(check, sentence) for check in checks for sentence in _findings(check)],
    }
    return _json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def to_github(checks: Sequence[Check]) -> str:
    """Workflow commands that GitHub shows beside the lines of a pull request."""
    return "".join(map(_annotations, checks))


def _annotations(check: Check) -> str:
    lines = []
    for sentence in _findings(check):
        span = sentence.marks[0] if sentence.marks else Span(sentence.start, sentence.end)
        line, column = line_and_column(check.text, span.start)
        end_line, end_column = line_and_column(check.text, span.end)
        level = _LEVELS[sentence.state]
        columns = f",col={column},endColumn={end_column}" if line == end_line else f",endLine={end_line}"
        properties = (
            f"file={_property(check.name)},line={line}{columns},title=adjudge: {WORDS[sentence.state]}"
        )
        lines.append(f"::{level} {properties}::{_data(message_of(sentence))}\n")
    return "".join(lines)


EXPORTS: Mapping[str, Callable[[Sequence[Check]], str]] = {
    "json": to_json,
    "jsonl": to_jsonl,
    "md": to_markdown,
    "sarif": to_sarif,
    "github": to_github,
}
"""Formats that are plain text for programs, by name. HTML stands by itself: :mod:`adjudge.serving.check.html`."""


def message_of(sentence: CheckedSentence) -> str:
    """A finding in words: the sentence, what differs, and the weightiest evidence."""
    parts = [part for part in sentence.parts if part.state == sentence.state] or list(sentence.parts)
    words = f"{WORDS[sentence.state].capitalize()}: “{sentence.text}”"
    for part in parts[:1]:
        for fact in part.facts:
            if fact.outcome == "different":
                words += f" The text has {fact.text}, the evidence {fact.evidence}."
        if part.reason:
            words += f" {part.reason}."
        if evidence := weightiest(part):
            words += f" Evidence: “{evidence.text}” ({place_of(evidence)})"
    return words


def weightiest(part: CheckedPart) -> Evidence | None:
    """The evidence sentence that carried the verdict."""
    against = [mark.sentence for mark in part.evidence_marks]
    if against:
        return part.evidence[against[0]]
    return max(part.evidence, key=lambda sentence: sentence.weight or 0.0, default=None)


def place_of(sentence: Evidence) -> str:
    """Where an evidence sentence stands, in short."""
    name = sentence.page or sentence.title or "evidence"
    under = f", under “{headings}”" if (headings := headings_of(sentence)) else ""
    location = f", {sentence.location or f'sentence {sentence.line + 1}'}" if sentence.line >= 0 else ""
    return f"{name}{under}{location}"


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a character."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - text.rfind("\n", 0, offset)


def _part_record(check: Check, part: CheckedPart) -> dict[str, Any]:
    record: dict[str, Any] = {
        "statement": part.statement,
        "start": part.span.start,
        "end": part.span.end,
        "state": part.state.value,
        "reading": part.reading,
        "marks": [_marked(check, span) for span in part.marks],
        "facts": [_fact_record(fact) for fact in part.facts],
    }
    if part.reason:
        record["reason"] = part.reason
    if part.verdict is not None:
        verdict = verdict_record(part.verdict)
        record["probabilities"] = verdict["probabilities"]
        record["evidence"] = verdict["evidence"]
        if part.verdict.claim_cut:
            record["claim_cut"] = True
        if part.verdict.abstained:
            record["abstained"] = True
        record["evidence_marks"] = [
            {"sentence": mark.sentence, "start": mark.span.start, "end": mark.span.end}
            for mark in part.evidence_marks
        ]
    return record


def _fact_record(fact: FactCheck) -> dict[str, Any]:
    span, other = fact.span, fact.evidence_span
    record = {
        "kind": fact.kind,
        "outcome": fact.outcome,
        "text": fact.text,
        "start": span.start if span else None,
        "end": span.end if span else None,
        "evidence": fact.evidence,
        "sentence": fact.sentence,
        "evidence_start": other.start if other else None,
        "evidence_end": other.end if other else None,
    }
    return {key: value for key, value in record.items() if value is not None}


def _marked(check: Check, span: Span) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "text": check.text[span.start : span.end]}


def _findings(check: Check) -> Iterator[CheckedSentence]:
    return (sentence for sentence in check.sentences if sentence.state in _LEVELS)


def _sarif_result(check: Check, sentence: CheckedSentence) -> dict[str, Any]:
    spans = sentence.marks or (Span(sentence.start, sentence.end),)
    return {
        "ruleId": _RULES[sentence.state][0],
        "level": _LEVELS[sentence.state],
        "message": {"text": message_of(sentence)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(check.name)},
                    "region": _region(check.text, span),
                    "contextRegion": _region(check.text, Span(sentence.start, sentence.end)),
                }
            }
            for span in spans[:1]
        ],
    }


def _region(text: str, span: Span) -> dict[str, int]:
    line, column = line_and_column(text, span.start)
    end_line, end_column = line_and_column(text, span.end)
    return {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _uri(name: str) -> str:
    from urllib.parse import quote

    return quote(name.replace("\\", "/"), errors="replace")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def _escape(text: str) -> str:
    """Text as Markdown shows it literally, on one line."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in text)
    return " ".join(escaped.split())


def _marked_markdown(check: Check, sentence: CheckedSentence) -> str:
    position, pieces = sentence.start, []
    for span in sentence.marks:
        pieces += [
            _escape_inside(check.text[position : span.start]),
            f"**{_escape(check.text[span.start : span.end])}**",
        ]
        position = span.end
    return "".join([*pieces, _escape_inside(check.text[position : sentence.end])])


def _escape_inside(text: str) -> str:
    lead, tail = " " if text[:1].isspace() else "", " " if text[-1:].isspace() and text.strip() else ""
    return f"{lead}{_escape(text)}{tail}"


def _markdown_part(part: CheckedPart, several: bool) -> list[str]:
    lines = []
    if several:
        lines.append(f"- {WORDS[part.state]}: {_escape(part.statement)}")
    if part.reason:
        lines.append(f"- {_escape(part.reason)}")
    lines += [
        f"- {fact.kind} differs: {_escape(fact.text)} in the text, {_escape(fact.evidence or '')} in the evidence"
        for fact in part.facts
        if fact.outcome == "different"
    ]
    if part.state is not State.SUPPORTS and (evidence := weightiest(part)):
        lines.append(f"- evidence: {_escape(evidence.text)} ({_escape(place_of(evidence))})")
    return lines
