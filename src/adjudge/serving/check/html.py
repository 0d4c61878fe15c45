"""A checked text as one HTML page that needs nothing else: the text with its marks, and the evidence beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge import __version__
from adjudge.data.documents.markdown import plain_offsets
from adjudge.errors import MissingExtra
from adjudge.serving.check.export import line_and_column, place_of, weightiest
from adjudge.serving.check.records import WORDS, Check, CheckedPart, CheckedSentence, State
from adjudge.types import Span

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATE = "page.html"
SIGNS = {
    State.SUPPORTS: "✓",
    State.REFUTES: "✗",
    State.NOT_ENOUGH_INFO: "?",
    State.NO_EVIDENCE: "∅",
    State.NOT_CHECKED: "·",
    State.ERROR: "!",
}
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_ITEM = re.compile(r"(?:^|\n)[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?$")
_MARKUP = re.compile(r"[#>*+_`|=:~-]|\d{1,9}[.)]|\[[ xX]\]")
_MOST_CODE = 2000


@dataclass
class Block:
    """A paragraph, heading, list or stretch of code of the text; ``items`` has the sentences, list items apart."""

    kind: str
    items: list[list[int]] = field(default_factory=list)
    text: str = ""


def to_html(check: Check) -> str:
    """The whole page.

    Raises:
        MissingExtra: Jinja2 is not installed.
    """
    environment = _environment()
    environment.globals.update(
        marked=lambda sentence: marked_sentence(check, sentence),
        pieces=lambda numbers: _pieces(check, numbers),
        evidence_of=lambda part: list(_evidence(check, part)),
    )
    cards = [
        {"number": number, "sentence": sentence, "line": line_and_column(check.text, sentence.start)[0]}
        for number, sentence in enumerate(check.sentences)
        if sentence.parts
    ]
    page = environment.get_template(TEMPLATE)
    values: dict[str, Any] = {
        "check": check,
        "blocks": blocks_of(check),
        "cards": cards,
        "signs": SIGNS,
        "words": WORDS,
    }
    return page.render(**values, version=__version__) + "\n"


def blocks_of(check: Check) -> list[Block]:
    """The text as a page shows it: sentences in paragraphs and lists, and what is no sentence between them."""
    blocks: list[Block] = []
    end = 0
    for number, sentence in enumerate(check.sentences):
        gap = check.text[end : sentence.start]
        _add_code(blocks, gap)
        if sentence.reason == "heading":
            blocks.append(Block("heading", [[number]]))
        elif _ITEM.search(gap):
            if not blocks or blocks[-1].kind != "list":
                blocks.append(Block("list"))
            blocks[-1].items.append([number])
        elif blocks and blocks[-1].kind in ("paragraph", "list") and not _BLANK_LINE.search(gap):
            blocks[-1].items[-1].append(number)
        else:
            blocks.append(Block("paragraph", [[number]]))
        end = sentence.end
    _add_code(blocks, check.text[end:])
    return blocks


def _add_code(blocks: list[Block], gap: str) -> None:
    """What stands between sentences, where it is more than white space and marks: code, comments."""
    if len(_MARKUP.sub("", gap).strip()) > 2:
        blocks.append(Block("code", text=gap.strip("\n")[:_MOST_CODE]))


def _pieces(check: Check, numbers: list[int]) -> Markup:
    from markupsafe import Markup

    pieces = []
    for number in numbers:
        sentence = check.sentences[number]
        slug, words = slug_of(sentence.state), WORDS[sentence.state]
        if sentence.parts:
            link = '<a class="s state-{}" id="s{}" href="#e{}" aria-label="{}: {}">{}</a>'
            pieces.append(
                Markup(link).format(slug, number, number, words, sentence.text, marked_sentence(check, sentence))
            )
        else:
            span = '<span class="s state-{}" title="{}">{}</span>'
            title = f"{words}: {sentence.reason}" if sentence.reason else words
            pieces.append(Markup(span).format(slug, title, marked_sentence(check, sentence)))
    return Markup(" ").join(pieces)


def marked_sentence(check: Check, sentence: CheckedSentence) -> Markup:
    """A sentence without inline marks of Markdown, its wrong words marked."""
    written = check.text[sentence.start : sentence.end]
    text, offsets = written, list(range(len(written)))
    if sentence.text != written:
        text, offsets = plain_offsets(written)
        if text != sentence.text:  # a row of a table
            text, offsets = sentence.text, []
    places = [sentence.start + offset for offset in offsets]
    wrong = [any(span.start <= place < span.end for span in sentence.marks) for place in places]
    return with_marks(text, _runs(wrong), "")


def _runs(wrong: list[bool]) -> list[Span]:
    spans: list[Span] = []
    for number, is_wrong in enumerate(wrong):
        if is_wrong and spans and spans[-1].end == number:
            spans[-1] = Span(spans[-1].start, number + 1)
        elif is_wrong:
            spans.append(Span(number, number + 1))
    return spans


def with_marks(text: str, spans: list[Span], css: str = "") -> Markup:
    """Text, escaped, with the characters of the spans within ``mark`` elements of a class."""
    from markupsafe import Markup

    pieces, position = [], 0
    opening = Markup("<mark{}>").format(Markup(' class="{}"').format(css) if css else "")
    for span in sorted(spans):
        start = max(span.start, position)
        pieces += [
            Markup.escape(text[position:start]),
            opening,
            Markup.escape(text[start : span.end]),
            Markup("</mark>"),
        ]
        position = max(position, span.end)
    return Markup("").join([*pieces, Markup.escape(text[position:])])


def _evidence(check: Check, part: CheckedPart) -> Iterator[dict[str, Any]]:
    """The evidence of a part, the sentence that carried the verdict first."""
    first = weightiest(part)
    order = sorted(
        range(len(part.evidence)),
        key=lambda n: (part.evidence[n] is not first, -(part.evidence[n].weight or 0.0)),
    )
    for number in order:
        sentence = part.evidence[number]
        spans = [mark.span for mark in part.evidence_marks if mark.sentence == number]
        before, after = check.passages.get(sentence.ref, ("", ""))
        yield {
            "marked": with_marks(sentence.text, spans, "against"),
            "before": before,
            "after": after,
            "place": place_of(sentence),
            "weight": None if sentence.weight is None else round(100 * sentence.weight),
        }


def slug_of(state: State) -> str:
    """What the classes of a state's style are called by."""
    return state.value.lower().replace(" ", "-")


def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtra("The HTML page needs Jinja2 (--format md does not)", "report") from None
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["slug"] = slug_of
    return environment
