"""Numbers in digits and in words, with what they were rounded to."""

from __future__ import annotations

import re
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
_DIGITS = re.compile(
    r"(?<![\w.,/:])(?<![A-Za-z]-)(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:[\u00a0\u202f]\d{3})+|\d+)(?:\.\d+)?(?!\d|[.,/:]\d|(?:st|nd|rd|th)\b)"
    rf"(?:(?P<short>k|mn|m|bn|b|tn)(?!\w)|[ -](?P<scale>{_SCALE_WORD})\b)?",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rf"\b(?:{_BELOW_HUNDRED}(?:{_SCALED})+(?:(?:,? and)?[ ]{_BELOW_HUNDRED}(?:{_SCALED})*)*"
    rf"|{_BELOW_HUNDRED}|an?{_SCALED}(?:{_SCALED})*(?: and {_BELOW_HUNDRED}|)|dozen\b)",
    re.IGNORECASE,
)
_HALF = re.compile(rf"\bhalf an? (?P<scale>{_SCALE_WORD}|dozen)\b", re.IGNORECASE)
_FRACTION = re.compile(
    r"\b(?:(?P<count>a|an|one|two|three|four)[ -])?(?P<part>half|thirds?|quarters?|fifths?|tenths?)\b"
    r"(?=(?: of)?(?: (?:the|its|their|all|his|her|our))\b| of\b)",
    re.IGNORECASE,
)
_ORDINAL_DIGITS = re.compile(r"\b(\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_ORDINAL_WORDS = re.compile(
    r"\b(?:" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + r")\b", re.IGNORECASE
)


class Number(NamedTuple):
    """A number as written; ``slack`` is half a unit of its last digit where it was rounded ("1.3 million")."""

    value: float
    start: int
    end: int
    slack: float
    digits: bool
    share: bool = False


def numbers_of(text: str) -> list[Number]:
    """Every number of a text, in order; ordinals are not among them."""
    numbers = [_from_digits(match) for match in _DIGITS.finditer(text)]
    for match in _HALF.finditer(text):
        value = 0.5 * {**_SCALES, "dozen": 12}[match["scale"].lower()]
        numbers.append(Number(value, match.start(), match.end(), 0.05 * value, False))
    for match in _FRACTION.finditer(text):
        count = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}.get(
            (match["count"] or "one").lower(), 1
        )
        value = count * _FRACTIONS[match["part"].lower()]
        numbers.append(Number(value, match.start(), match.end(), 0.005, False, share=True))
    taken = [(number.start, number.end) for number in numbers]
    for match in _WORDS.finditer(text):
        if any(match.start() < end and start < match.end() for start, end in taken):
            continue
        in_words = _value_of_words(match[0])
        if in_words is not None:
            numbers.append(Number(in_words, match.start(), match.end(), 0.0, False))
    return sorted(numbers, key=lambda number: number.start)


def ordinals_of(text: str) -> list[Number]:
    """Every ordinal of a text, in order."""
    ordinals = [Number(float(m[1]), m.start(), m.end(), 0.0, True) for m in _ORDINAL_DIGITS.finditer(text)]
    ordinals += [
        Number(float(ORDINALS[m[0].lower()]), m.start(), m.end(), 0.0, False)
        for m in _ORDINAL_WORDS.finditer(text)
    ]
    return sorted(ordinals, key=lambda number: number.start)


def _from_digits(match: re.Match[str]) -> Number:
    text, short, scale = match.string, match["short"], match["scale"]
    end = match.end()
    if short and short.lower() in ("m", "b") and text[max(match.start() - 1, 0)] not in _MONEY_SIGNS:
        short, end = None, match.start("short")  # metres, not millions
    stop = match.start("short") if short else match.start("scale") if scale else end
    written = re.sub(r"[,\s-]", "", text[match.start() : stop])
    factor = _SHORT_SCALES[short.lower()] if short else _SCALES[scale.lower()] if scale else 1
    decimals = len(written.partition(".")[2])
    return Number(float(written) * factor, match.start(), end, _slack(written, decimals, factor), True)


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


def _value_of_words(text: str) -> float | None:
    """The value of a number in words; None where the words make none."""
    total = current = 0
    largest_scale = 10**15
    for word in re.split(r"[\s-]+", text.lower()):
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
    return float(total + current)
