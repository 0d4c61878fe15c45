"""Dates, periods, times of day and weekdays of a text, as intervals of days or minutes."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date

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
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH}(?!\w)",
        rf"\b{_MONTH}\s+{_DAY}\b(?![,.]\d|\s*(?:%|percent|people))",
    )
)
_MONTH_ALONE = re.compile(
    r"(?<=\bin )(?:early |late |mid-)?(?P<month>[A-Z][a-z]+)\b|"
    r"\b(?P<other>January|February|April|June|July|August|September|October|November|December)\b"
)
_DECADE = re.compile(r"\b(?P<decade>1[0-9]\d0|20\d0)['’]?s\b")
_CENTURY = re.compile(r"\b(?P<century>\d{1,2})(?:st|nd|rd|th)[ -]century\b", re.IGNORECASE)
_PERIOD = re.compile(
    rf"(?<![\d.,]){_YEAR}\s?(?:–|—|-|to|until|through)\s?(?P<until>(?:1[0-9]|20)\d\d|\d\d)(?![\d.,]*\d|\w)"
)
_BARE_YEAR = re.compile(
    rf"(?<![\w.,/$£€#+-])(?<!\d ){_YEAR}(?![\w%°]|[.,/:]\d|-\w|\s+(?:people|million|thousand|metres|meters|feet|km|"
    rf"miles|m\b))"
)
_YEAR_LEADS = re.compile(
    r"(?:\b(?:in|since|until|till|by|from|of|to|before|after|during|and|year|between|late|early|mid|spring|summer|autumn|"
    r"fall|winter|circa|around|about|for|the|season|edition|born|died|through)|[(,;–—])\s*$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s+(?!(?:is|was|has|as|its|his|this|plus|census|always|olympics|games|elections)\b)[a-z]+s\b"
)
_COMPARED = re.compile(
    r"\b(?:(?P<before>before|prior to|earlier than|no later than|by)|(?P<after>after|later than))\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>a\.m\.|am\b|p\.m\.|pm\b)"
    r"|\b(?P<hour24>[01]?\d|2[0-4]):(?P<minute24>[0-5]\d)\b|\b(?P<word>noon|midday|midnight)\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(r"\b(" + "|".join(day.capitalize() for day in _WEEKDAYS) + r")s?\b")


def dates_of(text: str) -> list[Fact]:
    """The dates, times and weekdays of a text; none overlaps another."""
    facts: list[Fact] = []

    def add(fact: Fact | None) -> None:
        if fact and not any(fact.start < other.end and other.start < fact.end for other in facts):
            facts.append(fact)

    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            add(_calendar_date(text, match))
    for match in _PERIOD.finditer(text):
        add(_period(text, match))
    for match in _DECADE.finditer(text):
        add(_years(text, match.start(), match.end(), int(match["decade"]), int(match["decade"]) + 9))
    for match in _CENTURY.finditer(text):
        first = 100 * (int(match["century"]) - 1)
        add(_years(text, match.start(), match.end(), first, first + 100))
    for match in _TIME.finditer(text):
        add(_time(text, match))
    for match in _BARE_YEAR.finditer(text):
        if _is_year(text, match):
            add(
                _compared(
                    text, _years(text, match.start(), match.end(), int(match["year"]), int(match["year"]))
                )
            )
    for match in _MONTH_ALONE.finditer(text):
        name = (match["month"] or match["other"]).lower()
        if name in MONTHS and match[0][:1].isupper():
            month = MONTHS[name]
            add(_fact(text, match, 100 * month + 1, 100 * month + 31, ANNUAL))
    for match in _WEEKDAY.finditer(text):
        day = float(_WEEKDAYS[match[1].lower()])
        add(Fact(Kind.WEEKDAY, match[0], match.start(), match.end(), day, day))
    return sorted(facts, key=lambda fact: fact.start)


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
        return _fact(text, match, 100 * month + day, 100 * month + day, ANNUAL)
    year = int(groups["year"])
    try:
        first = date(year, month, day or 1)
        last = first if day else date(year + month // 12, month % 12 + 1, 1)
    except ValueError:
        return None  # 31 February
    low, high = first.toordinal(), last.toordinal() - (0 if day else 1)
    return _compared(text, _fact(text, match, low, high))


def _period(text: str, match: re.Match[str]) -> Fact | None:
    first, until = int(match["year"]), match["until"]
    last = int(until) if len(until) == 4 else first // 100 * 100 + int(until)
    return _years(text, match.start(), match.end(), first, last) if last > first else None


def _years(text: str, start: int, end: int, first: int, last: int) -> Fact:
    low = date(max(first, 1), 1, 1).toordinal()
    high = date(min(max(last, 1), 9999), 12, 31).toordinal()
    return Fact(Kind.DATE, text[start:end], start, end, low, high)


def _is_year(text: str, match: re.Match[str]) -> bool:
    """Whether a four-digit number is a year: after a word that leads to one, and nothing counted after it."""
    if _COUNTED.match(text, match.end()):
        return False
    return bool(_YEAR_LEADS.search(text[max(0, match.start() - 12) : match.start()])) or match.start() == 0


def _compared(text: str, fact: Fact) -> Fact:
    before = _COMPARED.search(text[max(0, fact.start - 20) : fact.start])
    if not before:
        return fact
    start = fact.start - (min(fact.start, 20) - before.start())
    if before["after"]:
        return replace(fact, low=fact.high + 1, high=math.inf, start=start, text=text[start : fact.end])
    high = fact.high if before[0].lower().startswith(("by", "no later")) else fact.low - 1
    return replace(fact, low=-math.inf, high=high, start=start, text=text[start : fact.end])


def _time(text: str, match: re.Match[str]) -> Fact | None:
    if word := match["word"]:
        minutes = 0 if word.lower() == "midnight" else 720
    elif match["half"]:
        hour = int(match["hour"])
        if hour > 12:
            return None
        minutes = (
            hour % 12 * 60 + int(match["minute"] or 0) + (720 if match["half"].lower().startswith("p") else 0)
        )
    else:
        minutes = int(match["hour24"]) * 60 + int(match["minute24"])
    return Fact(Kind.TIME, match[0], match.start(), match.end(), minutes, minutes)


def _fact(text: str, match: re.Match[str], low: float, high: float, unit: str = "") -> Fact:
    return Fact(Kind.DATE, match[0], match.start(), match.end(), low, high, unit=unit)
