"""Numbers in digits and in words, with what they were rounded to."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen "
        "eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SHORT_SCALES = {"k": 1_000, "m": 10**6, "mn": 10**6, "bn": 10**9, "b": 10**9, "tn": 10**12}
_UNIT_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth".split()
ORDINALS = {
    **{word: value for value, word in enumerate(_UNIT_ORDINALS, start=1)},
    **{
        word: value
        for value, word in enumerate(
            "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth "
            "nineteenth".split(),
            start=10,
        )
    },
    **{f"{word[:-1]}ieth": value for word, value in _TENS.items()},
    **{
        f"{tens}-{unit}": ten + value
        for tens, ten in _TENS.items()
        for value, unit in enumerate(_UNIT_ORDINALS, start=1)
    },
}
_FRACTIONS = {
    "half": 1 / 2,
    "third": 1 / 3,
    "thirds": 1 / 3,
    "quarter": 1 / 4,
    "quarters": 1 / 4,
    "fifth": 1 / 5,
}
_FRACTIONS |= {"fifths": 1 / 5, "tenth": 1 / 10, "tenths": 1 / 10}

_SCALE_WORD = "|".join(_SCALES)
_BELOW_HUNDRED = rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(list(_SMALL)[1:10])}))?|{'|'.join(_SMALL)})\b"
_SCALED = rf"[ -](?:{_SCALE_WORD}|dozen)\b"
_MONEY_SIGNS = "$£€¥₹"
_SIGN = r"(?:(?<![^\s(])[-−](?=\d)|\bminus )?"
_DIGITS = re.compile(
    rf"{_SIGN}(?<![\w.,/:])(?<![A-Za-z]-)(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:[\u00a0\u202f]\d{{3}})+|"
    rf"(?<!\d )\d{{1,3}}(?: \d{{3}})+(?! ?\d)"
    rf"|\d+)(?:\.\d+)?(?P<vulgar>[½¼¾⅓⅔])?(?!\d|[.,/:]\d|(?:st|nd|rd|th)\b)"
    rf"(?:(?P<short>k|mn|m|bn|b|tn)(?!\w)| (?P<spaced>mn|bn|tn)\b|[ -](?P<scale>{_SCALE_WORD})\b)?",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rf"(?:\bminus )?\b(?:{_BELOW_HUNDRED}(?:{_SCALED})+(?:(?:,? and)?[ ]{_BELOW_HUNDRED}(?:{_SCALED})*)*"
    rf"|{_BELOW_HUNDRED}|an?{_SCALED}(?:{_SCALED})*(?: and {_BELOW_HUNDRED}|)|dozen\b)",
    re.IGNORECASE,
)
_AND_A_HALF = re.compile(
    rf"\b(?P<whole>\d+|{_BELOW_HUNDRED}) and (?:a (?P<half>half)|a (?P<quarter>quarter)|three (?P<three>quarters))\b"
    rf"(?: (?P<scale>{_SCALE_WORD})\b)?",
    re.IGNORECASE,
)
_POINT = re.compile(
    rf"\b(?P<whole>{_BELOW_HUNDRED}) point (?P<decimals>(?:{'|'.join(list(_SMALL)[:10])})(?: "
    rf"(?:{'|'.join(list(_SMALL)[:10])}))*)\b"
    rf"(?: (?P<scale>{_SCALE_WORD})\b)?",
    re.IGNORECASE,
)
_HALF = re.compile(rf"\bhalf an? (?P<scale>{_SCALE_WORD}|dozen)\b", re.IGNORECASE)
_PART_OF_UNIT = re.compile(
    r"\b(?:(?P<count>an?|one|two|three) )?(?P<part>half|thirds?|quarters?)(?: of)? an?(?= (?P<unit>[a-z]+))",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    r"(?P<by>(?<=\bby ))?\b(?:(?P<count>a|an|one|two|three|four)[ -])?"
    r"(?P<part>half|thirds?|quarters?|fifths?|tenths?)\b"
    r"(?:(?=(?: of)?(?: (?:the|its|their|all|his|her|our))\b| of\b)|"
    r"(?(by)(?(count)|(?<=half))(?=[.,;:]|$| (?:in|to|from|since|over|between|after|during|this|last|on|at|and|"
    r"compared|within|by|for|as|when|while)\b)|(?!)))",
    re.IGNORECASE,
)
_RATIO = re.compile(
    rf"\b(?P<some>{_BELOW_HUNDRED}|\d{{1,3}})(?: in (?:every )?| out of (?:every "
    rf")?)(?P<all>{_BELOW_HUNDRED}|\d{{1,3}})\b(?![.,]\d)"
    r"|(?<![\w./,-])(?P<upper>\d{1,2})[/⁄](?P<lower>\d{1,2})(?=\s+of\b)|(?P<vulgar>[½¼¾⅓⅔])(?=\s+of\b)",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    rf"\b(?:(?P<few>several|a few|a couple of) (?P<scale>{_SCALE_WORD}|dozen)\b|(?P<many>dozens|hundreds|"
    rf"thousands|millions|"
    r"billions)(?: of\b|(?= (?:more|dead)\b)))",
    re.IGNORECASE,
)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_VULGAR = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_OF_UNITS = frozenset(
    "hour minute day week month year century decade kilo kilogram kilometre kilometer mile metre meter "
    "litre liter ton tonne "
    "percent pound dollar euro inch acre hectare".split()
)
_ORDINAL_DIGITS = re.compile(r"\b(\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_ORDINAL_WORDS = re.compile(
    r"\b(?:" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + r")\b", re.IGNORECASE
)


class Number(NamedTuple):
    """A number as written; ``slack`` is half a unit of its last digit where it was rounded ("1.3 million").

    ``step`` is the value of one unit of its last digit; ``high`` the largest of a vague number ("several hundred").
    """

    value: float
    start: int
    end: int
    slack: float
    digits: bool
    share: bool = False
    step: float = 1.0
    high: float | None = None


def numbers_of(text: str) -> list[Number]:
    """Every number of a text, in order; ordinals are not among them, and none overlaps another."""
    numbers: list[Number] = []
    for kind in (
        _mixed_numbers,
        _vague_numbers,
        _parts_of_units,
        _fractions,
        _digit_numbers,
        _numbers_in_words,
    ):
        taken = [(number.start, number.end) for number in numbers]
        numbers += [n for n in kind(text) if not any(n.start < end and start < n.end for start, end in taken)]
    return sorted(numbers, key=lambda number: number.start)


def _digit_numbers(text: str) -> Iterator[Number]:
    return map(_from_digits, _DIGITS.finditer(text))


def _numbers_in_words(text: str) -> Iterator[Number]:
    for match in _WORDS.finditer(text):
        value = value_of_words(match[0])
        if value is not None:
            yield Number(value, match.start(), match.end(), 0.0, False)


def _mixed_numbers(text: str) -> Iterator[Number]:
    """Yield numbers with a part in words: "two and a half", "two point five million", "half a million"."""
    for match in _AND_A_HALF.finditer(text):
        part = 0.5 if match["half"] else 0.25 if match["quarter"] else 0.75
        scale = _SCALES[match["scale"].lower()] if match["scale"] else 1
        value = (_value(match["whole"]) + part) * scale
        yield Number(value, match.start(), match.end(), 0.05 * value if scale > 1 else 0.0, False, step=0.0)
    for match in _POINT.finditer(text):
        decimals = "".join(str(_SMALL[word]) for word in match["decimals"].lower().split())
        scale = _SCALES[match["scale"].lower()] if match["scale"] else 1
        value = float(f"{_value(match['whole']):.0f}.{decimals}") * scale
        step = scale * 10.0 ** -len(decimals)
        yield Number(value, match.start(), match.end(), min(step / 2, 0.05 * value), False, step=step)
    for match in _HALF.finditer(text):
        value = 0.5 * {**_SCALES, "dozen": 12}[match["scale"].lower()]
        yield Number(value, match.start(), match.end(), 0.05 * value, False)


def _vague_numbers(text: str) -> Iterator[Number]:
    """Yield "several hundred" (200 to 1,000) and "hundreds of" (from 100 on)."""
    for match in _VAGUE.finditer(text):
        if match["few"]:
            scale = float({**_SCALES, "dozen": 12}[match["scale"].lower()])
            yield Number(2 * scale, match.start(), match.end(), 0.0, False, high=10 * scale)
        else:
            scale = float({**_SCALES, "dozen": 12}[match["many"].lower().rstrip("s")])
            yield Number(scale, match.start(), match.end(), 0.0, False, high=math.inf)


def _parts_of_units(text: str) -> Iterator[Number]:
    """Yield "half an" of "half an hour"."""
    for match in _PART_OF_UNIT.finditer(text):
        if match["unit"].lower() in _OF_UNITS:
            value = _COUNTS[(match["count"] or "one").lower()] * _FRACTIONS[match["part"].lower()]
            yield Number(value, match.start(), match.end(), 0.0, False, step=0.0)


def _fractions(text: str) -> Iterator[Number]:
    """Yield parts of a whole: "two thirds of", "one in four", "1/3 of"."""
    for match in _FRACTION.finditer(text):
        value = _COUNTS[(match["count"] or "one").lower()] * _FRACTIONS[match["part"].lower()]
        yield Number(value, match.start(), match.end(), 0.005, False, share=True)
    for match in _RATIO.finditer(text):
        if match["vulgar"]:
            some, whole = _VULGAR[match["vulgar"]], 1.0
        else:
            some, whole = _value(match["some"] or match["upper"]), _value(match["all"] or match["lower"])
        if 0 < some < whole:
            yield Number(some / whole, match.start(), match.end(), 0.005, False, share=True)


def _value(text: str) -> float:
    """The value of a whole number in digits or words."""
    return float(text) if text.isdigit() else value_of_words(text) or 0.0


def ordinals_of(text: str) -> list[Number]:
    """Every ordinal of a text, in order."""
    ordinals = [Number(float(m[1]), m.start(), m.end(), 0.0, True) for m in _ORDINAL_DIGITS.finditer(text)]
    ordinals += [
        Number(float(ORDINALS[m[0].lower()]), m.start(), m.end(), 0.0, False)
        for m in _ORDINAL_WORDS.finditer(text)
    ]
    return sorted(ordinals, key=lambda number: number.start)


def _from_digits(match: re.Match[str]) -> Number:
    text, scale = match.string, match["scale"]
    short, group = (match["spaced"], "spaced") if match["spaced"] else (match["short"], "short")
    end = match.end()
    if short and short.lower() in ("m", "b") and text[max(match.start() - 1, 0)] not in _MONEY_SIGNS:
        short, end = None, match.start("short")  # metres, not millions
    stop = match.start(group) if short else match.start("scale") if scale else end
    written = re.sub(r"[^\d.]", "", text[match.start() : stop])
    negative = not match[0][0].isdigit()
    factor = _SHORT_SCALES[short.lower()] if short else _SCALES[scale.lower()] if scale else 1
    decimals = len(written.partition(".")[2])
    value = (float(written) + _VULGAR.get(match["vulgar"] or "", 0.0)) * factor
    slack, step = _slack(written, decimals, factor), factor * 10.0**-decimals
    return Number(-value if negative else value, match.start(), end, slack, True, step=step)


def _slack(written: str, decimals: int, factor: int) -> float:
    """Half a unit of the last digit of a rounded number, at most a twentieth of it.

    "1.3 million" stands for 1.25 to 1.35 million, 48,000 for 47,500 to 48,500; 1,312 was counted.
    """
    zeros = 0 if decimals else len(written) - len(written.rstrip("0"))
    if factor == 1 and not decimals and zeros < 3:
        return 0.0
    return min(
        0.5 * factor * 10.0 ** (zeros - decimals if zeros < len(written) else 0),
        0.05 * float(written) * factor,
    )


def value_of_words(text: str) -> float | None:
    """The value of a number in words; None where the words make none."""
    total = current = 0
    largest_scale = 10**15
    text = text.lower()
    sign = -1.0 if text.startswith("minus ") else 1.0
    for word in re.split(r"[\s-]+", text.removeprefix("minus ")):
        if word in ("a", "an"):
            continue
        if word == "and":
            if not current and not total:
                return None
        elif word in _SMALL:
            current += _SMALL[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word == "dozen":
            current = max(current, 1) * 12
        elif word == "hundred":
            current = max(current, 1) * 100
        else:
            scale = _SCALES[word]
            if scale >= largest_scale:
                return None
            total, current, largest_scale = total + max(current, 1) * scale, 0, scale
    return sign * (total + current)
