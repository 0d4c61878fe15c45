"""A text to be checked: its sentences with their places, and which of them state nothing that could be checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from adjudge.data.documents.markdown import HEADING, plain_offsets, read_text
from adjudge.data.documents.sentences import TextSpan as Line
from adjudge.data.documents.sentences import split, split_blocks
from adjudge.types import Span

MAX_STATEMENT = 1000
"""Characters; what runs on longer is no sentence."""

_QUESTION = re.compile(r"[?؟？]['\"”’)\]*_]*$")
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|greetings|welcome|good (?:morning|afternoon|evening|day)|thanks?|thank you|cheers|"
    r"best regards|"
    r"kind regards|sincerely|sure|certainly|of course|absolutely|great question|good question|no problem|"
    r"you're welcome|"
    r"i hope|hope (?:this|that)|let me know|feel free|happy to help|i'd be happy|here (?:is|are|'s) (?:a|an|the|"
    r"some|what|my)|"
    r"here you go|in (?:conclusion|summary|short)[,:]?$|as an ai|i'm (?:sorry|afraid)|i am (?:sorry|afraid)|sorry)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:i|we) (?:\w+ )?(?:think|believe|feel|guess|suppose|reckon|hope|doubt|prefer|recommend|suggest|would say|"
    r"love|like|"
    r"enjoyed|found it)\b|\bin (?:my|our) (?:humble )?(?:opinion|view)\b|\bif you ask me\b|\barguably\b|"
    r"\bit seems to me\b"
    r"|\b(?:is|was|are|were) (?:truly |really |simply |absolutely |very |a |an |one of the most |quite )*"
    r"(?:wonderful|amazing|beautiful|awful|terrible|stunning|breathtaking|charming|delightful|fantastic|gorgeous|lovely|"
    r"must-see|boring|ugly|disappointing|magnificent|superb|marvellous|marvelous|fascinating|impressive)\b"
    r"|\bworth (?:a visit|seeing|visiting|reading)\b|\bought to\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:please\s|let's\s|let us\s|do not\s|don't\s|never\s(?!been|was|had)|always\s)?"
    r"(?:please|see|note|read|consider|click|use|make sure|ensure|check|visit|contact|call|remember|imagine|try|"
    r"look|go to|"
    r"take a|keep in mind|open the|close the|press|select|choose|enter|add|remove|install|run|download|ask|tell|"
    r"send|bring|"
    r"book|stop|avoid|don't|do not|let's|let us|refer to|compare|write|turn|wait|follow|find out|"
    r"have a look)\b(?!['’]s|-|\s+(?:is|was|are|were|has|of|by|\d+)\b)",
    re.IGNORECASE,
)
_NOUN_FIRST = re.compile(
    r"(?:see|note|read|use|check|visit|contact|call|try|look|press|run|book|stop|write|turn|wait|follow|ask)\w*"
    r"(?:\s+(?!(?:that|if|when|whether|which|who|what|how|why|where|before|after|until|while|because)\b)[\w'’-]+){1,4}?"
    r"\s+(?:is|are|was|were|has|have|had|rose|fell|grew|will|would|can|could|\w{3,}ed)\b(?!\s+by you)",
    re.IGNORECASE,
)
"""A noun that could be an instruction, with its verb near it: "Visit numbers rose"."""
_ADVICE = re.compile(r"you (?:should|ought to|had better)\b", re.IGNORECASE)
_TITLE_QUESTION = re.compile(r"(?:why|how|what|when|where|who)\b[^.!]*$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+$", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|will|would|can|could|may|might|must|shall|should|"
    r"\w{2,}(?:ed|es|s)|became|began|built|came|fell|found|gave|got|grew|held|kept|knew|led|left|lost|made|met|paid|ran|rose|"
    r"said|sold|sent|set|stood|took|went|won|wrote|cost|put|lies|lay)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[.!]['\"”’)\]]*$")
_WORD = re.compile(r"[^\W\d_]+")
_ITEM_MARK = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?$")


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence of a text that is checked.

    Attributes:
        text: without inline marks of Markdown.
        start: where it begins in the text as given.
        end: where it ends there.
        reason: why it cannot be checked; None where it can.
        offsets: for each character of ``text`` its place in the text as given; empty where they follow one another.
    """

    text: str
    start: int
    end: int
    reason: str | None = None
    offsets: tuple[int, ...] = ()

    def source_span(self, span: Span) -> Span:
        """Characters of ``text`` as characters of the text as given."""
        if not self.offsets:
            return Span(self.start + span.start, self.start + span.end)
        last = self.offsets[max(span.start, min(span.end, len(self.offsets)) - 1)]
        return Span(self.offsets[span.start], last + 1)


def segment_text(text: str, markdown: bool = True) -> Iterator[Segment]:
    """The sentences of a text in order. Code, comments and front matter of Markdown are none.

    Args:
        text: what is to be checked.
        markdown: whether headings, lists, tables and inline marks are those of Markdown.
    """
    if not markdown:
        for span in split_blocks([text]):
            yield Segment(span.text, span.start, span.start + len(span.text), reason_not_to_check(span.text))
        return
    for sentence in read_text(text):
        start, end = int(sentence.start or 0), int(sentence.end or 0)
        if sentence.location == HEADING:
            yield Segment(sentence.text, start, end, "heading")
        elif sentence.location:
            yield Segment(sentence.text, start, end, "row of a table")
        else:
            yield from _sentences(text, start, end)


def _sentences(text: str, start: int, end: int) -> Iterator[Segment]:
    """A sentence as the reader of Markdown sees it; more than one where a link hid that one ends."""
    clean, offsets = plain_offsets(text[start:end])
    spans = list(split(clean)) if len(clean) < end - start else [Line(clean, 0)]
    for number, (sentence, begin) in enumerate(spans):
        places = tuple(start + offset for offset in offsets[begin : begin + len(sentence)])
        first = start if number == 0 else places[0]
        last = end if number == len(spans) - 1 else places[-1] + 1
        reason = reason_not_to_check(sentence, is_item=_is_item(text, start))
        follow = places == tuple(range(first, last))
        yield Segment(sentence, first, last, reason, () if follow else places)


def reason_not_to_check(text: str, is_item: bool = False) -> str | None:
    """Why a sentence states nothing that could be checked; None where it does."""
    text = text.strip()
    words = _WORD.findall(text)
    if not words:
        return "no words"
    if len(text) > MAX_STATEMENT:
        return f"longer than {MAX_STATEMENT:,} characters"
    letters = [letter for word in words for letter in word]
    if sum(letter < "\u0250" for letter in letters) * 2 < len(letters):
        return "not in Latin letters"
    if _ADDRESS.match(text):
        return "no statement"
    if _QUESTION.search(text) or _TITLE_QUESTION.match(text):
        return "question"
    if _GREETING.match(text):
        return "greeting or small talk"
    if _OPINION.search(text):
        return "opinion"
    if _ADVICE.match(text) or (_IMPERATIVE.match(text) and not _NOUN_FIRST.match(text)):
        return "instruction"
    complete = len(words) > 3 and bool(_END.search(text))
    if len(words) < 3 or not (complete or _VERB.search(text)):
        return "list item without a statement" if is_item else "no statement"
    return None


def _is_item(text: str, start: int) -> bool:
    line = text[max(text.rfind("\n", 0, start) + 1, start - 40) : start]
    return bool(_ITEM_MARK.match(line))
