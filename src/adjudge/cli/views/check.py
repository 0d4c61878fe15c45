"""A checked text on a terminal: every sentence with its state and marked words, and the evidence under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from adjudge.cli.output import terminal_safe
from adjudge.data.text import without_controls
from adjudge.serving.check.export import place_of, weightiest
from adjudge.serving.check.records import WORDS, State

if TYPE_CHECKING:
    from rich.console import RenderableType

    from adjudge.serving.check.records import Check, CheckedPart, CheckedSentence

STYLES = {
    State.SUPPORTS: ("✓", "green"),
    State.REFUTES: ("✗", "red"),
    State.NOT_ENOUGH_INFO: ("?", "yellow"),
    State.NO_EVIDENCE: ("∅", "magenta"),
    State.NOT_CHECKED: ("·", "dim"),
    State.ERROR: ("!", "bold red"),
}
"""The sign and the colour of each state; the state is also written out, for those who see no colours."""


def checks_view(checks: Sequence[Check]) -> RenderableType:
    """Several texts under their names, or one without."""
    if len(checks) == 1:
        return check_view(checks[0])
    views = [Group(Text(terminal_safe(check.name), "bold"), check_view(check), Text()) for check in checks]
    return Group(*views)


def check_view(check: Check, evidence: bool = True) -> RenderableType:
    """The whole text; with ``evidence`` also what speaks for or against each sentence that is not supported."""
    parts: list[RenderableType] = []
    for sentence in check.sentences:
        parts.append(_sentence(check, sentence))
        if evidence and sentence.state not in (State.SUPPORTS, State.NOT_CHECKED):
            parts += [
                Padding(line, (0, 0, 0, 4)) for part in sentence.parts for line in _part(part, sentence)
            ]
    summary = Text(f"{check.summary}.", style="bold")
    return Group(*parts, Text(), summary) if parts else Group(summary)


def _sentence(check: Check, sentence: CheckedSentence) -> Text:
    sign, style = STYLES[sentence.state]
    dim = "dim" if sentence.state is State.NOT_CHECKED else ""
    view = Text.assemble((f"{sign} ", style), (f"{WORDS[sentence.state]}  ", style))
    position = sentence.start
    for span in sentence.marks:
        view.append(_one_line(check.text[position : span.start]), dim)
        view.append(_one_line(check.text[span.start : span.end]), f"bold underline {style}")
        position = span.end
    view.append(_one_line(check.text[position : sentence.end]), dim)
    if sentence.reason:
        view.append(f"  ({sentence.reason})", "dim")
    return view


def _part(part: CheckedPart, sentence: CheckedSentence) -> list[Text]:
    sign, style = STYLES[part.state]
    lines = []
    if len(sentence.parts) > 1 or part.reading == "in context":
        reading = "  (read in context)" if part.reading == "in context" else ""
        confidence = f"  {part.confidence:.2f}" if part.verdict else ""
        lines.append(
            Text.assemble((f"{sign} ", style), terminal_safe(part.statement), confidence, (reading, "dim"))
        )
    if part.state is State.SUPPORTS:
        return lines
    if part.reason:
        lines.append(Text(terminal_safe(part.reason), "dim"))
    for fact in part.facts:
        if fact.outcome == "different":
            ours, theirs = terminal_safe(fact.text), terminal_safe(fact.evidence or "")
            text = f"{fact.kind}: {ours} in the text, {theirs} in the evidence"
            lines.append(Text.assemble(("≠ ", style), text))
    sentence_shown = weightiest(part)
    if sentence_shown is not None:
        shown = part.evidence.index(sentence_shown)
        line = Text("» ", "cyan")
        position = 0
        for span in sorted(mark.span for mark in part.evidence_marks if mark.sentence == shown):
            line.append(_one_line(sentence_shown.text[position : span.start]))
            line.append(_one_line(sentence_shown.text[span.start : span.end]), "bold cyan")
            position = max(position, span.end)
        line.append(_one_line(sentence_shown.text[position:]))
        lines.append(line.append(f"  {terminal_safe(place_of(sentence_shown))}", "dim"))
    return lines


def _one_line(text: str) -> str:
    """Text whose spaces at the ends stay, without line breaks and characters that steer a terminal."""
    return without_controls("".join(" " if letter.isspace() else letter for letter in text))
