"""The parts of a sentence that can be true or false by themselves, by rules: joined clauses, relative clauses,
appositions and lists, each made a sentence of its own with the subject it lacks.

The rules look for finite verbs in a list of common ones; what they do not recognise stays in one part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from adjudge.types import Span

MAX_PARTS = 8
"""More parts than that are a list that nobody wants judged item by item."""

_AUXILIARIES = (
    "is are was were has have had does do did will would can could may might must shall should cannot"
)
_REGULAR = (
    "open close carry serve produce create direct play employ host contain cover reach receive call name found "
    "start end "
    "move join live work study marry die retire publish release record perform appear star feature "
    "belong remain offer "
    "charge provide support develop design launch complete finish destroy damage repair replace expand earn score "
    "defeat attend attract visit elect appoint approve adopt ban allow require include own operate "
    "manage last return "
    "borrow cost pass cross flow connect link house store locate measure weigh rank top reduce increase "
    "decrease drop "
    "improve change report announce claim warn explain describe discover invent kill injure arrest convict sign "
    "transfer "
    "use accept reject train teach graduate travel arrive depart stay settle vote resign succeed lie "
    "stand hold follow "
    "burn add agree ask attack award collect collapse compete conduct consist contribute control cook "
    "cure decide deliver "
    "depend earn establish examine export fail fill form gain heat help import inherit introduce invest "
    "lack limit lower "
    "maintain mark mention merge need obtain occupy occur order paint plan prefer prevent protect raise "
    "refuse remove rent "
    "represent save share stop suffer supply survive treat turn wait want warn surprise rebuild restore"
).split()
_IRREGULAR = (
    "became began built bought brought came drew drove fell flew found gave grew held kept knew laid led left lent "
    "lost made "
    "met paid ran rose said saw sang sold sent spent spoke stood stole swam taught threw took told went won wore "
    "wrote got rebuilt ate broke fought shrank sank drank hid froze "
    "becomes begins builds buys brings comes falls gives goes grows keeps leads leaves lends loses makes meets "
    "pays runs "
    "rises says sees sells sends speaks spends takes teaches tells wins writes gets bears bore lies lay forms formed"
).split()


def _inflected(verb: str) -> list[str]:
    if verb.endswith("e"):
        return [f"{verb}s", f"{verb}d"]
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return [f"{verb[:-1]}ies", f"{verb[:-1]}ied"]
    doubled = f"{verb}{verb[-1]}ed" if verb in ("ban", "star", "drop", "transfer") else f"{verb}ed"
    return [f"{verb}es" if verb.endswith(("s", "sh", "ch", "x")) else f"{verb}s", doubled]


_FINITE = sorted(
    {*_AUXILIARIES.split(), *_IRREGULAR, *(form for verb in _REGULAR for form in _inflected(verb))}
)
_VERB = rf"(?:{'|'.join(_FINITE)})"
_ADVERB = r"(?:(?:also|later|then|still|now|often|never|only|first|once|since|thus|\w+ly) )?"
_STARTS_WITH_VERB = re.compile(rf"{_ADVERB}{_VERB}\b(?!['’-])", re.IGNORECASE)
_FIRST_VERB = re.compile(rf"(?<![-'’\w]){_VERB}\b(?!['’-])", re.IGNORECASE)
_CLAUSE = re.compile(
    rf"(?:(?:it|he|she|they|this|these|those|there|we|i|both|neither)\b|(?:the|a|an|its|his|her|their|one|"
    rf"two|three|each|"
    rf"every|all|most|some|many|no|about|more)\b|[A-Z0-9]|[a-z]+ )(?:(?!\b(?:which|who|"
    rf"that)\b)[^,;:]){{0,60}}?\b{_VERB}\b",
)
_JOIN = re.compile(
    rf"(?P<gap>(?:[,;]\s+|\s+)(?P<word>and|but|while|whereas|yet)\s+|;\s+|,\s+(?={_ADVERB}{_VERB}\b(?!['’-])))",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r",\s+(?P<pronoun>which|who|where)\s+(?P<rest>[^,;]+?)(?P<end>,\s+|(?=[.!?;]?$))", re.IGNORECASE
)
_APPOSITION = re.compile(
    r"^(?P<subject>(?:The |A |An )?[^,;]{1,60}?),\s+(?P<noun>(?:a|an|the|one of|its|his|her|"
    r"their)\s[^,;]{2,80}),\s+(?=(?P<next>\S+))"
)
_OPENING = re.compile(
    r"^(?:(?:In|On|At|By|From|Since|During|After|Before|Until|For|With|Under|Between|As of|According to|Today|"
    r"Originally|"
    r"However|Moreover|Furthermore|Meanwhile|Nevertheless|Finally|Unlike|Despite|Also|In addition)\b[^,]{0,60},\s+)"
)
_LIST = re.compile(
    r"(?P<items>(?P<first>[^\s,;]+(?: [^\s,;]+){0,4}), (?P<middle>(?:[^,;.]{2,40}, )*[^,;.]{2,40}?),? and "
    r"(?P<last>[^,;.]{2,40}))[.!]?$"
)
_BEFORE_ITEM = re.compile(
    rf"\b(?:{_VERB}|of|in|on|at|by|with|for|from|to|into|through|under|over|as|about|among|against|across|between|"
    rf"include|including|"
    rf"contains?)\s+(?=[^\s,]+(?: [^\s,]+){{0,3}}$)",
    re.IGNORECASE,
)
_NOUN_START = re.compile(r"\b(?:(?:the|a|an|its|his|her|their)(?= )|[A-Z])", re.IGNORECASE)
_NOUN_PHRASE = re.compile(
    r"(?:(?:the|a|an|its|his|her|their|The|A|An|Its|His|Her|Their) [^,;]{1,40}"
    r"|[A-Z][\w'’-]*(?: (?:of |the |de )?[A-Z][\w'’-]*)*)"
)
_PRONOUNS = re.compile(r"^(?:it|he|she|they)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a sentence as a statement of its own.

    Attributes:
        text: the statement, with the subject carried over where it lacks one.
        span: what of the sentence it is.
        offsets: for each character of ``text`` its place in the sentence, −1 for what was put in.
    """

    text: str
    span: Span
    offsets: tuple[int, ...]

    def sentence_span(self, span: Span) -> Span | None:
        """Characters of ``text`` as characters of the sentence; None for words that were put in."""
        offsets = [offset for offset in self.offsets[span.start : span.end] if offset >= 0]
        return Span(min(offsets), max(offsets) + 1) if offsets else None


Splitter = Callable[[str], Sequence["Part | str"]]
"""A sentence → its parts, as statements: texts, or parts that know their place."""

Piece = tuple[str, int]
"""Text and its place in the sentence, −1 for none."""


def whole(sentence: str) -> Part:
    """The sentence as its only part."""
    return Part(sentence, Span(0, len(sentence)), tuple(range(len(sentence))))


def split_by_rules(sentence: str) -> list[Part]:
    """The parts of a sentence, the whole sentence where the rules find only one."""
    pieces: list[Piece] = [(sentence, 0)]
    side: list[Part] = []
    pieces, apposition = _take_apposition(sentence, pieces)
    pieces, relative = _take_relative(pieces)
    side += [part for part in (apposition, relative) if part]
    main = _text(pieces)
    parts = list(_coordinated(main, _offsets(pieces)))
    parts = [item for part in parts for item in _items(part)]
    parts += side
    if not 1 < len(parts) <= MAX_PARTS:
        return [whole(sentence)]
    return sorted(parts, key=lambda part: part.span)


def subject_of(sentence: str) -> Span | None:
    """Where the subject of a sentence stands: what comes before its first finite verb, an opening phrase left out."""
    opening = _OPENING.match(sentence)
    begin = opening.end() if opening else 0
    verb = _FIRST_VERB.search(sentence, begin)
    while verb and verb.start() == begin:
        verb = _FIRST_VERB.search(sentence, verb.end())
    if not verb:
        return None
    subject = sentence[begin : verb.start()].rstrip(" ,")
    subject = re.sub(r"\s+(?:also|later|then|still|now|often|never|only|first|once|\w+ly)$", "", subject)
    if not subject or len(subject.split()) > 12 or "," in subject:
        return None
    return Span(begin, begin + len(subject))


def lacks_subject(sentence: str) -> bool:
    """Whether a sentence begins with its verb, as "Opened in 1932" does."""
    return bool(_STARTS_WITH_VERB.match(sentence)) and not sentence.rstrip().endswith("?")


def with_subject(sentence: str, subject: str) -> str:
    """A sentence that begins with a pronoun, a verb or a noun that stands for a name, with its subject put in."""
    if lacks_subject(sentence):
        return f"{subject} {sentence[:1].lower()}{sentence[1:]}"
    possessive = re.match(r"(?:its|his|her|their)\b(?!\s+(?:is|was|has)\b)", sentence, re.IGNORECASE)
    if possessive and not re.match(rf"her\s+{_VERB}\b", sentence, re.IGNORECASE):
        ending = "’" if subject.endswith("s") else "’s"
        return f"{subject}{ending}{sentence[possessive.end() :]}"
    pronoun = _PRONOUNS.match(sentence) or re.match(
        rf"(?:this|these|those)(?=\s+{_VERB}\b)", sentence, re.IGNORECASE
    )
    if pronoun:
        return f"{subject}{sentence[pronoun.end() :]}"
    noun = re.match(r"(?:the|this|that|these|those)\s+[a-z]+(?=\s)", sentence, re.IGNORECASE)
    if noun and subject[:1].isupper() and not subject.lower().startswith(("the ", "a ")):
        return f"{subject}{sentence[noun.end() :]}"
    return sentence


def _take_apposition(sentence: str, pieces: list[Piece]) -> tuple[list[Piece], Part | None]:
    """Make "X did Z" and "X is a Y" of "X, a Y, did Z"."""
    match = _APPOSITION.match(sentence)
    if not match or not re.fullmatch(rf"{_VERB}|also|\w+ly", match["next"], re.IGNORECASE):
        return pieces, None
    if _FIRST_VERB.search(match["subject"]) or _OPENING.match(sentence):
        return pieces, None
    past = re.fullmatch(r"was|were|had|did|\w+ed|" + "|".join(_IRREGULAR[:40]), match["next"], re.IGNORECASE)
    subject, noun = (match["subject"], match.start("subject")), (match["noun"], match.start("noun"))
    part = _part([subject, (" was " if past else " is ", -1), noun, (".", -1)], Span(*match.span("noun")))
    rest = (sentence[match.end() :], match.end())
    return [subject, (" ", -1), rest], part


def _take_relative(pieces: list[Piece]) -> tuple[list[Piece], Part | None]:
    """Make "X did Y" of "… X, which did Y, …", and the sentence without it."""
    text, offsets = _text(pieces), _offsets(pieces)
    match = _RELATIVE.search(text)
    if not match or match["pronoun"].lower() == "where" or not _STARTS_WITH_VERB.match(match["rest"]):
        return pieces, None
    noun = _last_noun_phrase(text[: match.start()])
    if noun and match["pronoun"].lower() == "who" and text[: noun.start].endswith(" of "):
        outer = _last_noun_phrase(text[: noun.start - len(" of ")])
        noun = Span(outer.start, noun.end) if outer else noun  # the author of the book, who
    if not noun:
        return pieces, None
    carried = _cut(text, offsets, *noun)
    start, end = match.span("rest")
    part = _part(
        [*carried, (" ", -1), *_cut(text, offsets, start, end), (".", -1)], _outer(offsets, start, end)
    )
    joint: list[Piece] = [(" ", -1)] if match["end"] else []
    before, after = _cut(text, offsets, 0, match.start()), _cut(text, offsets, match.end(), len(text))
    return [*before, *joint, *after], part


def _last_noun_phrase(text: str) -> Span | None:
    """The noun phrase that a text ends with: the nearest name, or what follows the nearest article."""
    starts = [match.start() for match in _NOUN_START.finditer(text)]
    for start in reversed(starts):
        if _NOUN_PHRASE.fullmatch(text, start) and not _FIRST_VERB.search(text, start):
            words = text[:start].split()
            if (
                words
                and words[-1][:1].isupper()
                and text[start].isupper()
                and not words[-1].endswith((",", "."))
            ):
                continue  # within a longer name
            return Span(start, len(text))
    return None


def _coordinated(text: str, offsets: Sequence[int]) -> Iterator[Part]:
    """The clauses of a sentence that are joined by "and", "but", "while" or a semicolon."""
    subject = subject_of(text)
    begin = 0
    carried: list[Piece] = []
    for match in _JOIN.finditer(text):
        right = text[match.end() :]
        comma = match["gap"].lstrip()[:1] in (",", ";") or match["gap"].startswith((",", ";"))
        if not _FIRST_VERB.search(text, begin, match.start()):
            continue
        if _STARTS_WITH_VERB.match(right) and subject:
            follows: list[Piece] = [*_cut(text, offsets, *subject), (" ", -1)]
        elif _CLAUSE.match(right) and (comma or _PRONOUNS.match(right)):
            follows = []
        else:
            continue
        yield _clause(text, offsets, carried, begin, match.start(), subject)
        begin, carried = match.end(), follows
    yield _clause(text, offsets, carried, begin, len(text), subject)


def _clause(
    text: str, offsets: Sequence[int], carried: list[Piece], begin: int, end: int, subject: Span | None
) -> Part:
    body = _cut(text, offsets, begin, end)
    own = text[begin:end]
    pronoun = _PRONOUNS.match(own)
    substitute = pronoun or re.match(r"(?:its|his|their)\b", own)
    if begin and not carried and subject and substitute:
        after = begin + substitute.end()
        genitive: list[Piece] = [] if pronoun else [("’s", -1)]
        body = [*_cut(text, offsets, *subject), *genitive, *_cut(text, offsets, after, end)]
    ending: list[Piece] = [] if own.rstrip().endswith((".", "!", "?")) else [(".", -1)]
    return _part([*carried, *body, *ending], _outer(offsets, begin, end))


def _items(part: Part) -> list[Part]:
    """One part for each item of "It lends books, maps and films"."""
    match = _LIST.search(part.text)
    if not match or not _FIRST_VERB.search(part.text):
        return [part]
    before = list(_BEFORE_ITEM.finditer(part.text, 0, match.end("first")))
    if not before:
        return [part]
    first = before[-1].end()
    bounds = [(first, match.end("first"))]
    position = match.start("middle")
    for item in match["middle"].split(", "):
        bounds.append((position, position + len(item)))
        position += len(item) + 2
    bounds.append(match.span("last"))
    if len(bounds) > MAX_PARTS or any(_FIRST_VERB.search(part.text, *bound) for bound in bounds):
        return [part]
    if _share_a_noun([part.text[start:end] for start, end in bounds]):
        return [part]
    head = _cut(part.text, part.offsets, 0, first)
    return [
        _part([*head, *_cut(part.text, part.offsets, *bound), (".", -1)], _outer(part.offsets, *bound))
        for bound in bounds
    ]


def _share_a_noun(items: Sequence[str]) -> bool:
    """Whether the items are no things of their own: adjectives of one noun, or a name and what it is."""
    article = re.compile(r"(?:the|a|an|its|his|her|their) ", re.IGNORECASE)
    others = [bool(article.match(item)) for item in items[1:]]
    adjectives = bool(article.match(items[0])) and not any(others) and " " in items[-1]
    apposition = items[0][:1].isupper() and bool(re.match(r"an? ", items[1]))
    return adjectives or apposition


def _part(pieces: Sequence[Piece], span: Span) -> Part:
    text, offsets = _text(pieces), _offsets(pieces)
    return Part(text[:1].upper() + text[1:], span, tuple(offsets))


def _text(pieces: Sequence[Piece]) -> str:
    return "".join(text for text, _ in pieces)


def _offsets(pieces: Sequence[Piece]) -> list[int]:
    return [-1 if start < 0 else start + index for text, start in pieces for index in range(len(text))]


def _cut(text: str, offsets: Sequence[int], start: int, end: int) -> list[Piece]:
    """A stretch of a text as pieces; places that do not follow one another begin a new one."""
    pieces: list[Piece] = []
    for position in range(start, end):
        offset = offsets[position]
        last = pieces[-1] if pieces else None
        follows = last and (offset == last[1] + len(last[0]) if last[1] >= 0 else offset < 0)
        if last and follows:
            pieces[-1] = (last[0] + text[position], last[1])
        else:
            pieces.append((text[position], offset))
    return pieces


def _outer(offsets: Sequence[int], start: int, end: int) -> Span:
    known = [offset for offset in offsets[start:end] if offset >= 0]
    return Span(min(known), max(known) + 1) if known else Span(0, 0)
