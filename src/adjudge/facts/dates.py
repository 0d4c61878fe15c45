"""Dates, periods, times of day and weekdays of a text, as intervals of days or minutes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from adjudge.facts.numbers import ORDINALS
from adjudge.facts.records import Fact, Kind

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_WEEKDAYS = {
    name: number
    for number, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split(), start=1)
}
ANNUAL = "annual"
"""The unit of a date without a year: month · 100 + day."""

_MONTH = r"(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>1[0-9]\d\d|20\d\d|21\d\d)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})\b",
        r"(?<![\d./])(?P<day>\d{1,2})\.\s?(?P<number>\d{1,2})\.\s?(?P<year>(?:1[0-9]|20)\d\d)\b",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH}(?!\w)",
        rf"\b{_MONTH}\s+{_DAY}\b(?![,.]\d|\s*(?:%|percent|people))",
    )
)
_SLASHES = re.compile(
    r"(?<![\d/])(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>(?:1[0-9]|20)\d\d)(?![\d/])"
)
_MONTH_ALONE = re.compile(
    r"(?<=\bin )(?:early |late |mid-)?(?P<month>[A-Z][a-z]+)\b|"
    r"\b(?:every|each|since|until|by|last|next|from|to|of|early|late|during) (?P<after>March|May)\b|"
    r"\b(?P<other>January|February|April|June|July|August|September|October|November|December)\b"
)
_PART = r"(?:(?P<part>early|mid|late|first half of|second half of|beginning of|end of)(?: the)?[ -])?"
_ORDINAL = "|".join(sorted(ORDINALS, key=len, reverse=True))
_TEENS = {
    "twenties": 1920,
    "thirties": 1930,
    "forties": 1940,
    "fifties": 1950,
    "sixties": 1960,
    "seventies": 1970,
}
_TEENS |= {"eighties": 1980, "nineties": 1990}
_DECADE = re.compile(
    rf"\b{_PART}(?:(?P<decade>1[0-9]\d0|20\d0)['’]?s\b|(?<=the )(?:(?P<word>{'|'.join(_TEENS)})\b|"
    rf"['’]?(?P<short>[2-9]0)['’]?s\b))",
    re.IGNORECASE,
)
_CENTURY = re.compile(
    rf"\b{_PART}(?:(?P<century>\d{{1,2}})(?:st|nd|rd|th)|(?P<word>{_ORDINAL}))[ -]century\b(?P<bc>\s+BCE?\b)?",
    re.IGNORECASE,
)
_ERA = re.compile(
    r"\b(?:(?P<ad>AD|CE)\s(?P<after>\d{1,4})|(?P<year>\d{1,4})\s(?P<era>BCE?|B\.C\.|AD|A\.D\.|CE))(?!\w)"
)
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11)}
_PART_OF_YEAR = re.compile(
    rf"\b(?:(?P<season>spring|summer|autumn|fall)(?: of)?|(?P<half>first|second) half of|(?P<quarter>first|"
    rf"second|third|fourth) "
    rf"quarter of|Q(?P<short>[1-4])(?: of|/)?|(?P<part>early|mid|late)(?: in)?)[ -]?{_YEAR}\b(?!['’]?s)",
    re.IGNORECASE,
)
_SHARES = {
    "early": (0.0, 0.5), "beginning of": (0.0, 0.3), "first half of": (0.0, 0.5), "mid": (0.3, 0.7), "late": (0.5, 1.0),
    "end of": (0.7, 1.0), "second half of": (0.5, 1.0),
}  # fmt: skip
_PERIOD = re.compile(
    rf"(?:\b(?P<from>from|between)\s+)?(?<![\d.,]){_YEAR}(?:\s?(?:–|—|-|to|until|till|through)\s?|"
    rf"(?<=\d) (?P<and>and) )"
    r"(?P<until>(?:1[0-9]|20)\d\d|\d\d)(?![\d.,]*\d|\w)"
)
_BARE_YEAR = re.compile(
    rf"(?<![\w.,/$£€#+-])(?<!\d ){_YEAR}(?![\w%°]|[.,/:]\d|-\w|\s+(?:people|million|thousand|metres|meters|feet|km|"
    rf"miles|m\b))"
)
_YEAR_LEADS = re.compile(
    r"(?:\b(?:in|since|until|till|by|from|of|to|before|after|during|and|year|between|late|early|mid|"
    r"spring|summer|autumn|"
    r"fall|winter|circa|around|about|for|the|season|edition|born|died|through)|[(,;–—])\s*$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s+(?!(?:is|was|has|as|its|his|this|plus|census|always|olympics|games|elections)\b)[a-z]+s\b"
)
_ONLY_YEARS = re.compile(r"\b(?:in|since|during|until)\s+$", re.IGNORECASE)
OLDEST = 1500
"""The first year that "In 1500 sales" may be about; "in 1200 cases" counts."""
_COMPARED = re.compile(
    r"\b(?:(?P<before>before|prior to|earlier than|no later than|by)|(?P<after>after|later than))\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_HOUR_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_HOURS = "|".join(_HOUR_WORDS)
_TIME = re.compile(
    r"\b(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>a\.m\.|am\b|p\.m\.|pm\b)"
    r"|\b(?P<hour24>[01]?\d|2[0-4]):(?P<minute24>[0-5]\d)\b|\b(?P<word>noon|midday|midnight)\b"
    rf"|\b(?P<share>half|(?:a )?quarter|\d{{1,2}}|ten|twenty|five) (?:minutes )?(?P<past>past|"
    rf"to) (?P<base>{_HOURS}|1[0-2]|[1-9])\b(?! \w+s\b|[.,]?\d)"
    rf"|\b(?P<clock>{_HOURS}|1[0-2]|[1-9]) o['’]clock",
    re.IGNORECASE,
)
CLOCK = "clock"
"""The unit of a time that may be before or after noon."""
_DAY_NAMES = "|".join(day.capitalize() for day in _WEEKDAYS)
_WEEKDAY = re.compile(
    rf"\b(?P<first>{_DAY_NAMES})s?(?:\s?(?:–|—|-|\bto\b|\bthrough\b|\buntil\b)\s?(?P<last>{_DAY_NAMES})s?|"
    r"(?P<and> and Sundays?))?\b|\b(?P<week>[Ww]eekends?|[Ww]eekdays?)\b"
)


def dates_of(text: str) -> list[Fact]:
    """The dates, times and weekdays of a text; none overlaps another."""
    facts: list[Fact] = []

    def add(fact: Fact | None) -> None:
        if fact and not any(fact.start < other.end and other.start < fact.end for other in facts):
            facts.append(fact)

    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            add(_calendar_date(text, match))
    for find, read in _READERS.items():
        for match in find.finditer(text):
            add(read(text, match))
    return sorted(facts, key=lambda fact: fact.start)


def same_clock(claim: Fact, evidence: Fact) -> tuple[Fact, Fact]:
    """Two times of day: where one may be before or after noon, both on the face of a clock."""
    if claim.unit == evidence.unit:
        return claim, evidence
    one, other = (
        replace(fact, low=fact.low % 720, high=fact.high % 720, unit=CLOCK) for fact in (claim, evidence)
    )
    return one, other


def same_scale(claim: Fact, evidence: Fact) -> tuple[Fact, Fact] | None:
    """Two dates that can be compared: where one lacks the year, both without it; None where that cannot be."""
    if claim.unit == evidence.unit:
        return claim, evidence
    full, other = (claim, evidence) if evidence.unit == ANNUAL else (evidence, claim)
    if math.isinf(full.low) or math.isinf(full.high) or full.high - full.low > 31:
        return None
    first, last = date.fromordinal(int(full.low)), date.fromordinal(int(full.high))
    low, high = 100 * first.month + first.day, 100 * last.month + last.day
    annual = replace(full, low=low, high=high, unit=ANNUAL)
    return (annual, other) if full is claim else (other, annual)


def _calendar_date(text: str, match: re.Match[str]) -> Fact | None:
    groups = match.groupdict()
    month = int(groups["number"]) if groups.get("number") else MONTHS[groups["month"].lower()]
    if not groups.get("number") and not groups["month"][:1].isupper():
        return None  # "may", "march"
    day = int(groups["day"]) if groups.get("day") else None
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    if not groups.get("year"):
        if day is None:
            return None
        return _compared(text, _fact(text, match, 100 * month + day, 100 * month + day, ANNUAL))
    year = int(groups["year"])
    try:
        first = date(year, month, day or 1)
        last = first if day else date(year + month // 12, month % 12 + 1, 1)
    except ValueError:
        return None  # 31 February
    low, high = first.toordinal(), last.toordinal() - (0 if day else 1)
    return _compared(text, _fact(text, match, low, high))


def _numeric_date(text: str, match: re.Match[str]) -> Fact | None:
    """12/05/1998 is the 12th of May or the 5th of December: both, and what lies between."""
    first, second, year = (int(match[name]) for name in ("first", "second", "year"))
    days = []
    for day, month in ((first, second), (second, first)):
        try:
            days.append(date(year, month, day).toordinal())
        except ValueError:
            continue
    return _fact(text, match, min(days), max(days)) if days else None


def _period(text: str, match: re.Match[str]) -> Fact | None:
    first, until = int(match["year"]), match["until"]
    between = (match["from"] or "").lower() == "between"
    if bool(match["and"]) != between or (match["and"] and len(until) < 4):
        return None
    last = int(until) if len(until) == 4 else first // 100 * 100 + int(until)
    fact = _years(text, match.start(), match.end(), first, last)
    return replace(fact, form="" if between else "range") if last > first else None


def _part_of_year(text: str, match: re.Match[str]) -> Fact:
    year = int(match["year"])
    if match["season"]:
        first, last = _SEASONS[match["season"].lower()]
    elif match["half"]:
        first, last = (1, 6) if match["half"].lower() == "first" else (7, 12)
    elif match["part"]:
        first, last = {"early": (1, 6), "mid": (4, 9), "late": (7, 12)}[match["part"].lower()]
    else:
        quarter = int(match["short"]) if match["short"] else ORDINALS[match["quarter"].lower()]
        first, last = 3 * quarter - 2, 3 * quarter
    end = date(year + last // 12, last % 12 + 1, 1).toordinal() - 1
    return _compared(text, _fact(text, match, date(year, first, 1).toordinal(), end))


def _decade(text: str, match: re.Match[str]) -> Fact:
    if match["decade"]:
        first = int(match["decade"])
    else:
        first = _TEENS[match["word"].lower()] if match["word"] else 1900 + int(match["short"])
    return _part_of_years(text, match, first, 10)


def _century(text: str, match: re.Match[str]) -> Fact:
    count = int(match["century"]) if match["century"] else ORDINALS[match["word"].lower()]
    if match["bc"]:
        return _years(text, match.start(), match.end(), -100 * count, -100 * count + 99)
    return _part_of_years(text, match, 100 * (count - 1), 101)


def _part_of_years(text: str, match: re.Match[str], first: int, length: int) -> Fact:
    """A decade or century, or the part of it that is named."""
    part = match["part"]
    low, high = _SHARES[part.lower()] if part else (0.0, 1.0)
    last = first + math.ceil(high * length) - 1
    return _years(text, match.start(), match.end(), first + math.floor(low * length), last)


def _era(text: str, match: re.Match[str]) -> Fact | None:
    year = int(match["after"] or match["year"])
    is_before = (match["era"] or "").startswith("B")
    year = 1 - year if is_before else year
    return _compared(text, _years(text, match.start(), match.end(), year, year))


def _bare_year(text: str, match: re.Match[str]) -> Fact | None:
    year = int(match["year"])
    return (
        _compared(text, _years(text, match.start(), match.end(), year, year))
        if _is_year(text, match)
        else None
    )


def _month_alone(text: str, match: re.Match[str]) -> Fact | None:
    group = next(name for name in ("month", "after", "other") if match[name])
    month = MONTHS.get(match[group].lower())
    if month is None or not match[group][:1].isupper():
        return None
    start, end = match.span(group)
    return Fact(Kind.DATE, text[start:end], start, end, 100 * month + 1, 100 * month + 31, unit=ANNUAL)


def _weekday(text: str, match: re.Match[str]) -> Fact:
    if week := match["week"]:
        first, last = (6.0, 7.0) if week.lower().startswith("weekend") else (1.0, 5.0)
    else:
        first = float(_WEEKDAYS[match["first"].lower()])
        last = float(_WEEKDAYS[match["last"].lower()]) if match["last"] else first
        if match["and"]:
            last = 7.0 if first == 6.0 else first
    last += 7.0 if last < first else 0.0
    return Fact(Kind.WEEKDAY, match[0], match.start(), match.end(), first, last)


def _years(text: str, start: int, end: int, first: int, last: int) -> Fact:
    low, high = _first_day(first), _first_day(last + 1) - 1
    return Fact(Kind.DATE, text[start:end], start, end, low, high)


def _first_day(year: int) -> int:
    """The first day of a year, counted from year 1; years before it are negative."""
    if 1 <= year <= 9999:
        return date(year, 1, 1).toordinal()
    return round(365.2425 * (year - 1)) + 1


def _is_year(text: str, match: re.Match[str]) -> bool:
    """Whether a four-digit number is a year: after a word that leads to one, and nothing counted after it."""
    lead = text[max(0, match.start() - 8) : match.start()]
    if _COUNTED.match(text, match.end()) and not (_ONLY_YEARS.search(lead) and int(match["year"]) >= OLDEST):
        return False
    return bool(_YEAR_LEADS.search(text[max(0, match.start() - 12) : match.start()])) or match.start() == 0


def _compared(text: str, fact: Fact) -> Fact:
    before = _COMPARED.search(text[max(0, fact.start - 20) : fact.start])
    if not before:
        return fact
    start = fact.start - (min(fact.start, 20) - before.start())
    first, last = (101, 1231) if fact.unit == ANNUAL else (-math.inf, math.inf)
    if before["after"]:
        return replace(fact, low=fact.high + 1, high=last, start=start, text=text[start : fact.end])
    high = fact.high if before[0].lower().startswith(("by", "no later")) else fact.low - 1
    return replace(fact, low=first, high=high, start=start, text=text[start : fact.end])


def _time(text: str, match: re.Match[str]) -> Fact | None:
    unit = ""
    if word := match["word"]:
        minutes = 0 if word.lower() == "midnight" else 720
    elif match["half"]:
        hour = int(match["hour"])
        if hour > 12:
            return None
        afternoon = match["half"].lower().startswith("p")
        minutes = hour % 12 * 60 + int(match["minute"] or 0) + (720 if afternoon else 0)
    elif match["hour24"]:
        hour = int(match["hour24"])
        minutes = hour * 60 + int(match["minute24"])
        unit = CLOCK if 1 <= hour <= 11 and not match["hour24"].startswith("0") else ""
    else:
        minutes, unit = _spoken_minutes(match) % 720, CLOCK
    return Fact(Kind.TIME, match[0], match.start(), match.end(), minutes, minutes, unit=unit)


def _spoken_minutes(match: re.Match[str]) -> int:
    """The minutes of "nine o'clock" or "half past six", on the face of a clock."""

    def count(word: str) -> int:
        return int(word) if word.isdigit() else _HOUR_WORDS.index(word) + 1

    if match["clock"]:
        return 60 * count(match["clock"].lower())
    share = match["share"].lower().removeprefix("a ")
    minutes = {"half": 30, "quarter": 15, "twenty": 20}.get(share) or count(share)
    return 60 * count(match["base"].lower()) + (minutes if match["past"].lower() == "past" else -minutes)


def _fact(text: str, match: re.Match[str], low: float, high: float, unit: str = "") -> Fact:
    return Fact(Kind.DATE, match[0], match.start(), match.end(), low, high, unit=unit)


_READERS: dict[re.Pattern[str], Callable[[str, re.Match[str]], Fact | None]] = {
    _SLASHES: _numeric_date,
    _PERIOD: _period,
    _PART_OF_YEAR: _part_of_year,
    _DECADE: _decade,
    _CENTURY: _century,
    _ERA: _era,
    _TIME: _time,
    _BARE_YEAR: _bare_year,
    _MONTH_ALONE: _month_alone,
    _WEEKDAY: _weekday,
}
