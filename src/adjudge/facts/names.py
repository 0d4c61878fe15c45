"""Proper names and quoted words of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from adjudge.facts.dates import MONTHS
from adjudge.facts.records import Fact, Kind
from adjudge.facts.words import COMMON, fold

_DOTTED = r"(?:(?<=\b[A-Z])\.|(?<=\bDr)\.|(?<=\bMr)\.|(?<=\bSt)\.)?"
_CAPITALISED = rf"(?:[A-ZÀ-ÖØ-Þ][\w'’]*(?:[-.][A-Za-zÀ-ÿ0-9][\w'’]*)*{_DOTTED})"
_NAME = re.compile(
    rf"(?<![\w'’-]){_CAPITALISED}(?:(?:\s+(?:of|de|la|du|van|von|der|the|al|del|di|da|y|&)){{0,2}}\s+{_CAPITALISED})*"
)
_QUOTE = re.compile(r"[\"“”«]([^\"“”«»]{2,120})[\"”»]")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]['\"”’)]*)\s*[\"“‘'(\[]*$")
_NOT_NAMES = (
    COMMON
    | frozenset(MONTHS)
    | frozenset(
        "mr mrs ms dr prof sir i according among once first second third last since despite although though "
        "including later "
        "another every several many most few two three four five six seven eight nine ten today yesterday tomorrow "
        "members "
        "people monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
        "thursdays fridays "
        "saturdays sundays am pm bc ad".split()
    )
)
_TITLES = frozenset(
    "mr mrs ms miss dr prof professor sir dame lady lord president chancellor minister mayor king "
    "queen emperor empress prince "
    "princess duke duchess count countess baron general colonel captain major sergeant admiral "
    "judge justice senator governor "
    "bishop archbishop pope cardinal father sister brother rabbi imam sheikh chef coach the".split()
)
GENERIC = frozenset(
    "river lake mount mt saint st inc ltd corp corporation company co gmbh ag plc llc".split()
)
"""Words that say what a name names: the name is what stands beside them."""
_DEMONYM_PAIRS = """
norway norwegian|denmark danish|france french|netherlands dutch|holland dutch|greece greek|britain british|uk british
england english|scotland scottish|wales welsh|ireland irish|germany german|spain spanish|switzerland swiss
sweden swedish
finland finnish|poland polish|turkey turkish|iceland icelandic|belgium belgian|peru peruvian
norway norwegians|cyprus cypriot
thailand thai|china chinese|pakistan pakistani|iraq iraqi|israel israeli|argentina argentine|america american
usa american
us american|wales welshman|denmark dane|spain spaniard|sweden swede|poland pole|scotland scot|turkey turk
quebec quebecois
europe european|czechia czech|hungary hungarian|philippines filipino|naples neapolitan|venice venetian|vienna viennese
"""
_DEMONYM = frozenset(
    tuple(sorted(pair.split())) for pair in _DEMONYM_PAIRS.replace("\n", "|").strip("|").split("|")
)
_DEMONYMS = ("an", "ian", "ish", "ese", "ean")
SLIP = 0.85
"""Two words that are at least so similar are one word, mistyped."""
SHORT_SLIP = 0.9
"""The same for words of five letters."""
_UMLAUT = re.compile(r"([aou])e")
"""Müller is also written Mueller; folding leaves ``muller``."""
_SPELLED_OUT = re.compile(r"[a-z](?:\.[a-z])+")
_STRIP = re.compile(r"(?:['’]s?|[.,])$")


def names_of(text: str, taken: Sequence[tuple[int, int]] = ()) -> list[Fact]:
    """The names of a text, in order.

    A single capitalised word at the beginning of a sentence is certain only where it cannot be an ordinary word
    (``NASA``, ``McCoy``).
    """
    facts: list[Fact] = []
    for match in _NAME.finditer(text):
        start, end = match.span()
        written = match[0]
        first = re.split(r"\s+", written)[0]
        initial = bool(_SENTENCE_START.search(text[max(0, start - 8) : start]))
        if fold(first).rstrip(".") in _TITLES or (initial and fold(first).rstrip(".") in _NOT_NAMES):
            rest = re.search(rf"\s({_CAPITALISED}.*)$", written, re.DOTALL)
            if rest is None:
                continue
            start, written, initial = start + rest.start(1), rest[1], False
        stripped = _STRIP.sub("", written)
        end = start + len(stripped)
        words = tuple(filter(None, (_word(word) for word in re.split(r"[\s-]+", stripped))))
        if all(word in _NOT_NAMES or word.isdigit() for word in words):
            continue
        if any(start < stop and begin < end for begin, stop in taken):
            continue
        certain = not initial or len(words) > 1 or _must_be_name(stripped)
        facts.append(Fact(Kind.NAME, stripped, start, end, words=words, certain=certain))
    return facts


def _word(written: str) -> str:
    """A word of a name, folded; of an acronym with full stops the letters alone."""
    folded = fold(written).strip(".")
    return folded.replace(".", "") if _SPELLED_OUT.fullmatch(folded) else folded


def quotes_of(text: str) -> list[Fact]:
    """Words in quotation marks, without the marks."""
    return [
        Fact(
            Kind.QUOTE,
            m[1],
            m.start(1),
            m.end(1),
            words=tuple(filter(None, map(fold, re.findall(r"[\w'’]+", m[1])))),
        )
        for m in _QUOTE.finditer(text)
    ]


@lru_cache(maxsize=4096)
def capitalised_words(text: str) -> frozenset[str]:
    """The words that are capitalised within a sentence, folded: names, most of them."""
    return frozenset(
        fold(word)
        for match in _NAME.finditer(text)
        if not _SENTENCE_START.search(text[max(0, match.start() - 8) : match.start()]) or " " in match[0]
        for word in re.split(r"[\s-]+", _STRIP.sub("", match[0]))
    )


def has_name(words: Sequence[str], folded: frozenset[str]) -> bool:
    """Whether a text (as its folded words) has the name: all its words, in any order; its demonym counts too.

    Titles, and words as "River" or "Ltd", may be missing; an initial stands for any name that begins with it.
    """
    if len(words) > 1 and "".join(word[0] for word in words if word not in _CONNECTORS) in folded:
        return True  # the evidence has the acronym
    return all(
        word in folded or any(_related(word, other) for other in folded)
        for word in distinctive(words) or words
    )


def distinctive(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a name that are no titles, initials or words for what it names."""
    return tuple(
        word
        for word in words
        if word not in _CONNECTORS
        and word not in _TITLES
        and word not in GENERIC
        and word not in COMMON
        and not (len(word) == 1 and len(words) > 1)
    )


def given_names_clash(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two names with one surname have given names, or initials of them, that cannot be the same."""
    if one[-1] not in other or other.index(one[-1]) == 0 or len(one) < 2:
        return False
    ours, theirs = (
        [word for word in names if word not in _TITLES and word not in GENERIC and word not in _CONNECTORS]
        for names in (one[:-1], other[: other.index(one[-1])])
    )
    return bool(ours and theirs) and not any(_same_given(a, b) for a in ours for b in theirs)


def _same_given(one: str, other: str) -> bool:
    if len(one) == 1 or len(other) == 1:
        return one[0] == other[0]
    return one == other or _related(one, other) or one.startswith(other) or other.startswith(one)


_CONNECTORS = frozenset("of de la du van von der the al del di da y &".split())


def _related(one: str, other: str) -> bool:
    """``german`` and ``germany``, ``portugal`` and ``portuguese``, a plural and its singular, a slip of the pen."""
    if tuple(sorted((one, other))) in _DEMONYM:
        return True
    one, other = (_UMLAUT.sub(r"\1", word) for word in (one, other))
    shorter, longer = sorted((one, other), key=len)
    if shorter == longer:
        return True
    if len(shorter) < 4 or len(longer) - len(shorter) > 4 or shorter[:3] != longer[:3]:
        return False
    if longer.startswith(shorter):
        return True
    if len(shorter) > 4 and longer.startswith(shorter[:-1]) and longer.endswith(_DEMONYMS):
        return True
    if len(shorter) > 5 and longer[:5] == shorter[:5] and longer.endswith(_DEMONYMS):
        return True
    similar = SLIP if len(shorter) > 5 else SHORT_SLIP
    return len(shorter) > 4 and SequenceMatcher(None, shorter, longer).ratio() >= similar


@lru_cache(maxsize=4096)
def initials(text: str) -> frozenset[str]:
    """Acronyms that runs of capitalised words of a text may have: ``British Phonographic Industry`` → ``bpi``."""
    acronyms = set()
    for match in _NAME.finditer(text):
        letters = [word[0] for word in re.split(r"[\s-]+", match[0]) if word[:1].isupper()]
        for first in range(len(letters) - 1):
            for last in range(first + 2, len(letters) + 1):
                acronyms.add("".join(letters[first:last]).casefold())
    return frozenset(acronyms)


def _must_be_name(word: str) -> bool:
    return len(word) > 1 and any(letter.isupper() or letter.isdigit() for letter in word[1:])
