"""Quantities of a text: a number with what bounds it ("at least"), its unit, and the noun that is counted."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from adjudge.facts.numbers import Number, numbers_of, ordinals_of
from adjudge.facts.records import Fact, Kind
from adjudge.facts.units import CURRENCIES, unit_at
from adjudge.facts.words import COMMON, stem

ABOUT = 0.1
"""Share of a value by which "about" may miss it."""

_BEFORE = re.compile(
    r"(?:\b(?P<above>(?<!no )more than|over|above|exceed(?:s|ed|ing)?|upwards? of|in excess of|(?:larger|bigger|"
    r"greater|higher|longer|older|taller) than)"
    r"|\b(?P<least>at least|no (?:less|fewer) than|not (?:less|fewer) than|a minimum of|minimum)"
    r"|\b(?P<below>(?<!no )less than|(?<!no )fewer than|(?:smaller|lower|shorter|younger) than|under|below)"
    r"|\b(?P<most>at most|up to|no more than|not more than|a maximum of|maximum)"
    r"|\b(?P<about>about|around|approximately|approx\.?|roughly|some|nearly|almost|circa|c\.|ca\.|close to|"
    r"an estimated|"
    r"estimated)"
    r"|\b(?P<exact>exactly|precisely|only|just|all|the|a total of))\s*(?:the\s+)?(?:US|[$£€¥₹])*\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s+(?:(?P<least>or (?:more|above|over|longer|older)|at least|upwards)|(?P<most>or (?:less|fewer|under|below)|"
    r"at most))"
    r"|\+(?!\w)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:–|—|-|\bto\b|\bthrough\b)\s*(?:[$£€¥₹]\s*)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(?:[$£€¥₹]\s*)?$", re.IGNORECASE)
_MONEY = re.compile(r"(us\$|[$£€¥₹])\s?$", re.IGNORECASE)
_ORDER = re.compile(r"\b(?:before|after)\s+(?:the\s+)?$", re.IGNORECASE)
_NOUN = re.compile(r"[\s-]+([A-Za-z][\w'’-]*)")
_NOT_NOUNS = COMMON | frozenset("another am pm bc ad ce bce times percent per times".split())
_PLURALS = frozenset(
    "people men women children species sheep staff police feet teeth mice fish aircraft seats".split()
)
_VERB_LIKE = frozenset(
    "is was has does goes says includes means makes takes lies plus minus this across always perhaps".split()
)


def quantities_of(text: str, taken: Sequence[tuple[int, int]] = ()) -> list[Fact]:
    """The quantities of a text, in order; ``taken`` are stretches that are something else, such as dates."""
    ordinals = _ordinals(text, taken)
    taken = [*taken, *((fact.start, fact.end) for fact in ordinals)]
    numbers = [
        n for n in numbers_of(text) if not any(n.start < end and start < n.end for start, end in taken)
    ]
    facts: list[Fact] = []
    for position, number in enumerate(numbers):
        fact = _quantity(text, number)
        if fact is None:
            continue
        previous = facts[-1] if facts else None
        if previous is not None and position and (joined := _compound(text, previous, fact)):
            facts[-1] = joined
        else:
            facts.append(fact)
    return [*facts, *ordinals]


def _quantity(text: str, number: Number) -> Fact | None:
    before, after = text[: number.start], number.end
    money = _MONEY.search(before)
    unit, size, end = "", 1.0, after
    if number.share:
        unit = "share"
    elif money:
        unit = CURRENCIES[money[1].lower()]
    elif measured := unit_at(text, after, number.digits):
        unit, size, end = measured
    start = money.start() if money else number.start
    head = "" if unit else _head(text, end)
    if (
        not unit
        and not number.digits
        and number.value == 1
        and (not head or re.match(r"\s+of\b", text[end:]))
    ):
        return None  # "one of", "one another"
    value, slack = number.value * size, number.slack * size
    fact = Fact(Kind.NUMBER, text[start:end], start, end, value, value, slack, unit, head)
    return _bounded(text, fact)


def _bounded(text: str, fact: Fact) -> Fact:
    """The fact with what stands around it: "more than", "or fewer", "about"."""
    value = fact.low
    before = _BEFORE.search(text[max(0, fact.start - 30) : fact.start])
    after = _AFTER.match(text, fact.end)
    role = before.lastgroup if before else None
    if after:
        role = after.lastgroup or "least"
    if role == "above":
        fact = replace(fact, low=math.nextafter(value, math.inf), high=math.inf)
    elif role == "least":
        fact = replace(fact, high=math.inf)
    elif role == "below":
        fact = replace(fact, low=-math.inf, high=math.nextafter(value, -math.inf))
    elif role == "most":
        fact = replace(fact, low=-math.inf)
    elif role == "about":
        fact = replace(fact, slack=max(fact.slack, ABOUT * abs(value)))
    if role not in (None, "exact") and before and not after:
        start = fact.start - (min(fact.start, 30) - before.start())
        fact = replace(fact, start=start, text=text[start : fact.end])
    elif after:
        fact = replace(fact, end=after.end(), text=text[fact.start : after.end()])
    return fact


def _compound(text: str, first: Fact, second: Fact) -> Fact | None:
    """Two numbers that make one fact: a range, or feet and inches."""
    between = text[first.end : second.start]
    if first.kind is not Kind.NUMBER or math.isinf(first.low) or math.isinf(second.high):
        return None
    is_range = bool(_RANGE.fullmatch(between)) or (
        between.strip() == "and" and bool(_BETWEEN.search(text[: first.start]))
    )
    if is_range and (first.unit in ("", second.unit)) and first.low < second.high:
        scale = 1.0
        if not first.unit and second.unit:
            measured = unit_at(text, second.end - len(second.text.split()[-1]), True)
            scale = second.low / _bare(second.text) if measured or _bare(second.text) else 1.0
        low = first.low * scale
        span = text[first.start : second.end]
        return replace(second, text=span, start=first.start, low=low, slack=0.0)
    if (
        first.unit == second.unit == "length"
        and between.strip(" ,") in ("", "and")
        and second.low < first.low
    ):
        value = first.low + second.low
        return replace(first, end=second.end, text=text[first.start : second.end], low=value, high=value)
    return None


def _bare(text: str) -> float:
    """The number of a quantity without its unit."""
    numbers = numbers_of(text)
    return numbers[0].value if numbers and numbers[0].value else 1.0


def _ordinals(text: str, taken: Sequence[tuple[int, int]]) -> list[Fact]:
    facts = []
    for number in ordinals_of(text):
        if any(number.start < end and start < number.end for start, end in taken):
            continue
        head = _head(text, number.end, nearest=True)
        if head:
            value = number.value
            if _ORDER.search(text[max(0, number.start - 12) : number.start]):
                continue  # "before the 58th minute"
            span = text[number.start : number.end]
            facts.append(Fact(Kind.ORDINAL, span, number.start, number.end, value, value, head=head))
    return facts


def _head(text: str, position: int, nearest: bool = False) -> str:
    """The stem of the noun that follows a number: the first plural of the next four words, or the next word."""
    following: list[str] = []
    while len(following) < 4 and (match := _NOUN.match(text, position)):
        word = match[1].casefold()
        if word in _NOT_NOUNS and not (word == "other" and not following):
            break
        if word in _VERB_LIKE:
            break
        following.append(word)
        position = match.end()
    if not following:
        return ""
    if not nearest:
        for word in following:
            if word in _PLURALS or (
                word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3
            ):
                return stem(word)
    return stem(following[0])
