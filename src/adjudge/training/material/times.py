"""Facts in time: dates, opening hours, orders of events."""

from __future__ import annotations

import random

from adjudge.training.material.text import Fact, fill, pick_other, spell_number
from adjudge.training.material.wordings import read_wordings
from adjudge.training.material.words import MONTHS, SEASONS, WEEKDAYS

_ORDINAL_ENDS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
_FIRST_OF_SEASON = (3, 6, 9, 12)
"""Months of which a part belongs to the season before."""
_WEEKS = ((0, 4), (0, 5), (1, 5), (1, 6), (0, 3), (2, 6))


def date(rng: random.Random) -> Fact:
    """When something happened: to the day, month, season, year, and before or after other years."""
    texts = read_wordings("times")["date"]
    event = rng.choice(texts["events"])
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1880, 2025)
    far_month = (month + rng.randint(3, 8)) % 12 + 1
    wrong_year = year + rng.choice([-30, -10, -3, -2, -1, 1, 2, 3, 10, 30])
    name, far_name = MONTHS[month - 1], MONTHS[far_month - 1]
    season, far_season = _season(month), _season(far_month)
    slots = {
        "e": event,
        "o": pick_other(rng, texts["events"], event),
        "detail": rng.choice(texts["details"]),
        "y": year,
        "m": name,
        "season": season if month not in _FIRST_OF_SEASON else name,
        "far_season": far_season if far_season != season else far_name,
        "far_m": far_name,
        "wrong_y": wrong_year,
        "later": year + rng.randint(1, 9),
        "earlier": year - rng.randint(1, 9),
        "decade": year // 10 * 10,
        "wrong_decade": (year // 10 + rng.choice([-2, -1, 1, 2])) * 10,
        "half": "first" if month <= 6 else "second",
        "wrong_half": "second" if month <= 6 else "first",
    }
    supports, refutes = fill(texts["supports"], **slots), fill(texts["refutes"], **slots)
    if rng.random() < 0.6:
        when = [_write_day(rng, day, month, year) for _ in range(4)]
        supports += fill([f"{event} {_write_day(rng, day, month, year)}" for _ in range(3)])
        wrong = ((day % 28 + 1, month, year), (day, far_month, year), (day, month, wrong_year))
        refutes += fill([f"{event} {_write_day(rng, *numbers)}" for numbers in wrong])
    else:
        when = [f"in {name} {year}", f"in {name} of the year {year}"]
    evidence = [f"{event} {w}" for w in when] + [f"{w}, {event}" for w in when]
    return Fact(fill(evidence), supports, refutes, fill(texts["open"], **slots))


def hours(rng: random.Random) -> Fact:
    """When a place opens and closes, on which days."""
    texts = read_wordings("times")["hours"]
    venue = rng.choice(texts["places"])
    opening, closing = rng.randrange(6 * 60, 11 * 60, 30), rng.randrange(14 * 60, 22 * 60, 30)
    first, last = rng.choice(_WEEKS)
    outside = [day for day in range(7) if not first <= day <= last]
    slots = {
        "x": venue,
        "other": pick_other(rng, texts["places"], venue),
        "days": f"from {WEEKDAYS[first]} to {WEEKDAYS[last]}",
        "in": WEEKDAYS[rng.randint(first, last)],
        "out": WEEKDAYS[rng.choice(outside)],
        "a": _write_time(rng, opening),
        "b": _write_time(rng, closing),
        "a2": _write_time(rng, opening),
        "b2": _write_time(rng, closing),
        "mid": _write_time(rng, rng.randrange(opening + 60, closing - 60, 30)),
        "early": _write_time(rng, opening - 60),
        "late": _write_time(rng, closing + 60),
        "wrong_a": _write_time(rng, opening + rng.choice([-90, -60, 60, 90])),
        "wrong_b": _write_time(rng, closing + rng.choice([-120, -60, 60, 90])),
    }
    return Fact(*(fill(texts[part], **slots) for part in ("evidence", "supports", "refutes", "open")))


def order(rng: random.Random) -> Fact:
    """Two events, one before the other."""
    texts, events = read_wordings("times")["order"], read_wordings("times")["date"]["events"]
    first = rng.choice(events)
    second = pick_other(rng, events, first)
    year, gap = rng.randint(1900, 2020), rng.randint(1, 15)
    slots = {
        "a": first,
        "b": second,
        "c": pick_other(rng, events, first, second),
        "y": year,
        "z": year + gap,
        "gap": "one year" if gap == 1 else f"{spell_number(gap)} years",
    }
    return Fact(*(fill(texts[part], **slots) for part in ("evidence", "supports", "refutes", "open")))


def _season(month: int) -> str:
    return next(season for season, months in SEASONS.items() if month in months)


def _write_day(rng: random.Random, day: int, month: int, year: int) -> str:
    """A day in one of the forms in which people write it."""
    name, ordinal = MONTHS[month - 1], f"{day}{_ORDINAL_ENDS.get(day, 'th')}"
    forms = (f"{day} {name} {year}", f"{name} {day}, {year}", f"{name} {ordinal}, {year}")
    numeric = (
        f"{day:02d}.{month:02d}.{year}",
        f"{year}-{month:02d}-{day:02d}",
        f"the {ordinal} of {name} {year}",
    )
    return f"on {rng.choice([*forms, *numeric])}"


def _write_time(rng: random.Random, minutes: int) -> str:
    """A time of day on a clock of twelve or of twenty-four hours."""
    hour, minute = divmod(minutes, 60)
    if rng.random() < 0.5:
        return f"{hour}:{minute:02d}"
    half, twelve = "a.m." if hour < 12 else "p.m.", (hour - 1) % 12 + 1
    return f"{twelve}:{minute:02d} {half}" if minute else f"{twelve} {half}"


FRAMES = {"date": date, "hours": hours, "order": order}
