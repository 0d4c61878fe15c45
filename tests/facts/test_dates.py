"""Dates as intervals of days: compared with what the calendar of the standard library says."""

from __future__ import annotations

import math
from datetime import date

import pytest

from adjudge.facts.dates import ANNUAL, dates_of, same_scale
from adjudge.facts.records import Fact, Kind, Outcome, relate


def only(text: str) -> Fact:
    (fact,) = dates_of(text)
    return fact


def days(first: date, last: date) -> tuple[int, int]:
    return first.toordinal(), last.toordinal()


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("opened in 1932", date(1932, 1, 1), date(1932, 12, 31)),
        ("opened on 5 March 1932", date(1932, 3, 5), date(1932, 3, 5)),
        ("opened on March 5, 1932", date(1932, 3, 5), date(1932, 3, 5)),
        ("opened on the 5th of March 1932", date(1932, 3, 5), date(1932, 3, 5)),
        ("opened on 1932-03-05", date(1932, 3, 5), date(1932, 3, 5)),
        ("opened in February 2024", date(2024, 2, 1), date(2024, 2, 29)),
        ("opened in December 1999", date(1999, 12, 1), date(1999, 12, 31)),
        ("popular in the 1990s", date(1990, 1, 1), date(1999, 12, 31)),
        ("mayor from 1939 to 1945", date(1939, 1, 1), date(1945, 12, 31)),
        ("mayor 1939–45", date(1939, 1, 1), date(1945, 12, 31)),
    ],
)
def test_a_date_is_the_days_it_may_mean(text, first, last):
    fact = only(text)
    assert (fact.low, fact.high) == days(first, last)


def test_before_and_after_are_open_intervals():
    assert only("built before 1932").high == date(1931, 12, 31).toordinal()
    assert only("built after 1932").low == date(1933, 1, 1).toordinal()
    assert only("built by 1932").high == date(1932, 12, 31).toordinal()
    assert math.isinf(only("built before 1932").low)


@pytest.mark.parametrize(
    "text", ["1500 people", "She may go.", "They march on.", "$1990", "1932.5", "in 19320"]
)
def test_what_is_no_date_gives_none(text):
    assert [fact for fact in dates_of(text) if fact.kind is Kind.DATE and fact.unit != ANNUAL] == []


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("at 9 am", 540), ("at 9:30 p.m.", 1290), ("at 14:05", 845), ("at noon", 720), ("at 12 am", 0)],
)
def test_a_time_counts_minutes_from_midnight(text, minutes):
    fact = only(text)
    assert (fact.kind, fact.low) == (Kind.TIME, minutes)


def test_a_weekday_is_a_day_of_the_week():
    assert (only("on Mondays").kind, only("on Mondays").low) == (Kind.WEEKDAY, 1)


@pytest.mark.parametrize(
    ("claim", "evidence", "outcome"),
    [
        ("in 1932", "on 5 March 1932", Outcome.EQUAL),
        ("on 5 March 1932", "in 1932", Outcome.OPEN),
        ("in 1932", "in 1933", Outcome.DIFFERENT),
        ("before 1940", "in 1932", Outcome.EQUAL),
        ("before 1930", "in 1932", Outcome.DIFFERENT),
        ("on 5 March", "on 5 March 1932", Outcome.EQUAL),
        ("on 6 March", "on 5 March 1932", Outcome.DIFFERENT),
        ("in the 1990s", "in 1994", Outcome.EQUAL),
    ],
)
def test_a_claim_follows_where_the_evidence_lies_within_it(claim, evidence, outcome):
    pair = same_scale(only(claim), only(evidence))
    assert pair is not None
    assert relate(*pair) is outcome


def test_a_year_says_nothing_about_a_day_without_one():
    assert same_scale(only("on 5 March"), only("in 1932")) is None
