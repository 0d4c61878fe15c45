"""Quantities of a text: a number with what bounds it ("at least"), its unit, and the noun that is counted."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from adjudge.facts.numbers import Number, numbers_of, ordinals_of
from adjudge.facts.records import Fact, Kind
from adjudge.facts.units import CURRENCIES, to_base, unit_at
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
    r"\s+(?:(?P<least>or (?:more|above|over|longer|older)|at least|upwards|and (?:over|above|older))|"
    r"(?P<most>or (?:less|"
    r"fewer|under|below|younger)|at most|and (?:under|younger)))\b|\+(?!\w)",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:up to|at most|a maximum of|or (?:more|older|over|fewer|younger|under)|and (?:over|older|under|"
    r"younger)|(?:children|"
    r"people|persons|those|anyone|kids|pupils|visitors|groups|adults|aged|ages?) (?:under|over|below|above|from))\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:–|—|-|\bto\b|\bthrough\b)\s*(?:[$£€¥₹]\s*)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(?:[$£€¥₹]\s*)?$", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:rais|rose|ris|increas|grew|grow|fell|fall|drop|declin|decreas|reduc|cut|chang|expand|extend|"
    r"shrank|climb|jump|lower|"
    r"mov|went|gone|up|down)\w*\b.{0,40}\bfrom\s+(?:[$£€¥₹]\s*)?$",
    re.IGNORECASE,
)
_MONEY = re.compile(
    rf"(us\$|[$£€¥₹]|\b(?:{'|'.join(code for code in CURRENCIES if code.isalpha())})\b)\s?$", re.IGNORECASE
)
_AND_A_HALF = re.compile(r"\s+and\s+a\s+(half|quarter)\b", re.IGNORECASE)
_ONE_UNIT = re.compile(
    r"\b(?:an?|one)(?=\s+(?:hour|day|week|month|year|mile|kilometre|kilo|metre|litre|tonne|decade|"
    r"pint)\s+and\s+a\s+(?:half|quarter)\b)",
    re.IGNORECASE,
)
_FEET = re.compile(
    r"(?<![\w.,])(\d{1,2})\s?(?:ft|feet|foot|′|')[\s-]?(\d{1,2})\s?(?:in\b\.?|inch(?:es)?\b|″|\"|′′|'')",
    re.IGNORECASE,
)
_AGE_BEFORE = re.compile(r"\b(?:aged|(?:at )?(?:the )?age(?:s)? (?:of )?)\s*$", re.IGNORECASE)
_AGE_AFTER = re.compile(r"[\s-]+old\b", re.IGNORECASE)
_PERIODS = {
    "minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "daily": 1.0, "night": 1.0, "nightly": 1.0, "week": 7.0,
    "weekly": 7.0, "month": 30.4375, "monthly": 30.4375,
    "year": 365.25, "yearly": 365.25, "annually": 365.25, "annum": 365.25,
}  # fmt: skip
_PER = re.compile(
    r"(?:\s+[\w'’-]+){0,3}?\s+(?:(?:an?|per|each|every)\s+(?P<period>minute|hour|day|night|week|month|year|annum)\b|"
    r"(?P<adverb>daily|nightly|weekly|monthly|yearly|annually)\b)|\s?/\s?(?P<short>day|week|month|year|hour)\b",
    re.IGNORECASE,
)
_DIMENSIONS = {
    "deep": "deep", "depth": "deep", "long": "long", "length": "long", "wide": "wide", "width": "wide", "broad": "wide",
    "high": "high", "tall": "high", "height": "high", "thick": "thick", "thickness": "thick", "diameter": "diameter",
    "altitude": "altitude", "elevation": "altitude",
}  # fmt: skip
_DIMENSION_AFTER = re.compile(
    r"[\s-]+(deep|long|wide|broad|high|tall|thick|in (?:length|width|height|depth|diameter))\b"
)
_DIMENSION_BEFORE = re.compile(
    r"\b(depth|length|width|height|thickness|diameter|altitude|elevation)(?: of| is| was)?(?: \w+){0,2} $"
)
_TIMES = re.compile(
    r"\b(?:(?P<word>twice|double|thrice)(?= (?:as|the|that|its)\b)|(?P<verb>doubled|doubles|tripled|"
    r"triples|trebled|quadrupled|"
    r"quintupled|halved|halves)\b|(?P<count>\d+(?:\.\d+)?|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)"
    r"(?:[ -]times(?= (?:as|more|the|larger|bigger|higher|that|its)\b)|-?fold\b))",
    re.IGNORECASE,
)
_MULTIPLES = {
    "twice": 2,
    "double": 2,
    "thrice": 3,
    "tripl": 3,
    "trebl": 3,
    "quadrupl": 4,
    "quintupl": 5,
    "halv": 0.5,
}
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
    apart = [*_ordinals(text, taken), *_multiples(text), *_heights(text)]
    taken = [*taken, *((fact.start, fact.end) for fact in apart)]
    numbers = [
        *numbers_of(text),
        *(Number(1.0, m.start(), m.end(), 0.0, False) for m in _ONE_UNIT.finditer(text)),
    ]
    facts: list[Fact] = []
    for number in sorted(numbers, key=lambda one: one.start):
        if any(number.start < end and start < number.end for start, end in taken):
            continue
        if facts and number.start < facts[-1].end:
            continue  # "one" of "one hour and a half"
        fact = _quantity(text, number)
        if fact is None:
            continue
        if facts and (joined := _compound(text, facts[-1], fact)):
            facts[-1] = joined
        else:
            facts.append(fact)
    return [*facts, *apart]


def _multiples(text: str) -> list[Fact]:
    """Return "twice as", "doubled", "three times the", as numbers of times."""
    facts = []
    for match in _TIMES.finditer(text):
        count = match["count"]
        word = match[0].lower()
        if count:
            value = numbers_of(count)[0].value
        else:
            value = float(next(size for start, size in _MULTIPLES.items() if word.startswith(start)))
        facts.append(Fact(Kind.NUMBER, match[0], match.start(), match.end(), value, value, unit="times"))
    return facts


def _heights(text: str) -> list[Fact]:
    """Return "6 ft 2 in" as one length."""
    inch = 0.0254
    return [
        Fact(
            Kind.NUMBER,
            m[0],
            m.start(),
            m.end(),
            value,
            value,
            unit="length",
            head="high",
            size=inch,
            step=inch,
        )
        for m in _FEET.finditer(text)
        for value in [(12 * int(m[1]) + int(m[2])) * inch]
    ]


def _quantity(text: str, number: Number) -> Fact | None:
    before = text[: number.start]
    money = _MONEY.search(before)
    unit, size, end = "", 1.0, number.end
    if number.share:
        unit = "share"
    elif money:
        unit = CURRENCIES[money[1].lower()]
    elif measured := unit_at(text, end, number.digits):
        unit, size, end = measured
    value = number.value
    if unit and unit != "share" and (more := _AND_A_HALF.match(text, end)):
        value, end = value + (0.5 if more[1].lower() == "half" else 0.25), more.end()
    start = money.start() if money else number.start
    unit, head, size = _subject(text, start, end, unit, size)
    if not unit and not number.digits and value == 1 and (not head or re.match(r"\s+of\b", text[end:])):
        return None  # "one of", "one another"
    low = to_base(value, unit, size)
    high = low if number.high is None else number.high * size
    period = _PER.match(text, end)
    name = (period["period"] or period["adverb"] or period["short"]).lower() if period else ""
    fact = Fact(
        Kind.NUMBER, text[start:end], start, end, low, high, number.slack * size, unit, head,
        per=_PERIODS.get(name, 0.0), size=size, step=number.step * size,
    )  # fmt: skip
    return _bounded(text, fact) if number.high is None else fact


def _subject(text: str, start: int, end: int, unit: str, size: float) -> tuple[str, str, float]:
    """(unit, head, size) of a quantity: an age, a measure with its dimension, or a count of things."""
    age = _AGE_BEFORE.search(text[max(0, start - 16) : start])
    if unit == "duration" and _AGE_AFTER.match(text, end):
        return "age", "", size
    if not unit and age:
        return "age", "", 365.25
    if unit == "length":
        after = _DIMENSION_AFTER.match(text, end)
        before = _DIMENSION_BEFORE.search(text[max(0, start - 40) : start])
        word = after[1] if after else before[1] if before else ""
        return unit, _DIMENSIONS.get(word.removeprefix("in "), ""), size
    return unit, "" if unit else _head(text, end), size


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
    first = max(0, fact.start - 24)
    written = text[first : after.end() if after else fact.end]
    if role in ("most", "least", "below", "above") and _LIMIT.search(written):
        fact = replace(fact, form="limit")
    if role not in (None, "exact") and before and not after:
        start = fact.start - (min(fact.start, 30) - before.start())
        fact = replace(fact, start=start, text=text[start : fact.end])
    elif after:
        fact = replace(fact, end=after.end(), text=text[fact.start : after.end()])
    return fact


def _compound(text: str, first: Fact, second: Fact) -> Fact | None:
    """Two numbers that make one fact: a range, or two units as in "2 hours 30 minutes"."""
    between = text[first.end : second.start]
    if math.isinf(first.low) or math.isinf(second.high) or first.form:
        return None
    is_between = between.strip() == "and" and bool(_BETWEEN.search(text[: first.start]))
    is_between = is_between or (between.strip() == "or" and second.low == first.low + 1)  # "one or two"
    is_range = bool(_RANGE.fullmatch(between)) and not _CHANGE.search(
        text[max(0, first.start - 70) : first.start]
    )
    span = text[first.start : second.end]
    if (is_range or is_between) and first.unit in ("", second.unit) and first.low < second.high:
        low = first.low if first.unit == second.unit else to_base(first.low, second.unit, second.size)
        form = "" if is_between else "range"
        return replace(second, text=span, start=first.start, low=low, slack=0.0, form=form)
    small_change = second.text.lower().endswith(("cents", "cent", "pence", "p")) and second.unit.startswith(
        "money"
    )
    if small_change and between.strip(" ,") in ("", "and"):
        unit = "money:GBP" if first.text.lower().endswith(("pound", "pounds")) else first.unit
        if unit.startswith("money"):
            value = first.low / first.size + second.low
            return replace(first, end=second.end, text=span, low=value, high=value, unit=unit, size=1.0)
    joins = first.unit == second.unit in ("length", "mass", "duration") and second.size < first.size
    if joins and between.strip(" ,") in ("", "and") and second.low < first.size:
        value = first.low + second.low
        return replace(first, end=second.end, text=span, low=value, high=value, step=second.step)
    return None


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
