"""Numbers with bounds, units and nouns; every value was worked out by hand."""

from __future__ import annotations

import math

import pytest

from adjudge.facts.dates import dates_of
from adjudge.facts.numbers import numbers_of
from adjudge.facts.quantities import quantities_of
from adjudge.facts.records import Fact, Kind


def only(text: str) -> Fact:
    facts = [fact for fact in quantities_of(text) if fact.kind is Kind.NUMBER]
    assert len(facts) == 1, facts
    return facts[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,312 boats", 1312),
        ("two million boats", 2_000_000),
        ("twenty-three boats", 23),
        ("two hundred and five boats", 205),
        ("three hundred thousand boats", 300_000),
        ("a dozen boats", 12),
        ("a hundred boats", 100),
        ("2.5 million boats", 2_500_000),
        ("40k boats", 40_000),
        ("3 bn boats", 3 * 10**9),
        ("zero boats", 0),
    ],
)
def test_a_number_in_digits_or_words_has_its_value(text, value):
    assert [number.value for number in numbers_of(text)] == [value]


@pytest.mark.parametrize(
    "text",
    ["version 1.2.3", "2019/20", "at 9:30", "COVID-19", "A4", "the end", "the 21st boat", "by a third party"],
)
def test_what_is_no_number_gives_none(text):
    assert numbers_of(text) == []


def test_two_numbers_joined_by_and_stay_two():
    assert [number.value for number in numbers_of("two and three boats")] == [2, 3]


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("It is 3 km long.", "length", 3000),
        ("It is 1.5 miles long.", "length", 2414.016),  # 1.5 · 1609.344
        ("It weighs 2 tonnes.", "mass", 2000),
        ("It took two weeks.", "duration", 14),
        ("It took 48 hours.", "duration", 2),
        ("15% agreed.", "share", 0.15),
        ("15 per cent agreed.", "share", 0.15),
        ("Half of the members agreed.", "share", 0.5),
        ("Two thirds of the members agreed.", "share", 2 / 3),
        ("Sales grew by a quarter.", "share", 0.25),
        ("Sales fell by half in spring.", "share", 0.5),
        ("It cost £2.5 million.", "money:GBP", 2_500_000),
        ("It cost €1.9m.", "money:EUR", 1_900_000),
        ("It cost 40 dollars.", "money:USD", 40),
        ("It covers 3 square kilometres.", "area", 3_000_000),
        ("It is 1.9m high.", "length", 1.9),
    ],
)
def test_a_unit_is_measured_in_its_base_unit(text, unit, value):
    fact = only(text)
    assert fact.unit == unit
    assert fact.low == fact.high == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("more than 20 boats", 20, math.inf),
        ("over 20 boats", 20, math.inf),
        ("at least 20 boats", 20, math.inf),
        ("20 boats or more", 20, 20),  # "or more" does not stand beside the number
        ("20 or more boats", 20, math.inf),
        ("fewer than 20 boats", -math.inf, 20),
        ("no more than 20 boats", -math.inf, 20),
        ("up to 20 boats", -math.inf, 20),
        ("between 20 and 30 boats", 20, 30),
        ("20–30 boats", 20, 30),
        ("20 to 30 boats", 20, 30),
        ("exactly 20 boats", 20, 20),
    ],
)
def test_bounds_and_ranges_are_intervals(text, low, high):
    fact = only(text)
    assert (fact.low, fact.high) == (pytest.approx(low), pytest.approx(high))


def test_more_than_leaves_the_number_itself_out_and_at_least_does_not():
    assert only("more than 20 boats").low > 20
    assert only("at least 20 boats").low == 20


def test_a_range_takes_the_unit_of_its_end():
    fact = only("It is 5 to 7 km long.")
    assert (fact.unit, fact.low, fact.high) == ("length", 5000, 7000)


def test_about_allows_a_tenth():
    assert only("about 200 boats").slack == 20


@pytest.mark.parametrize(
    ("text", "slack"),
    [("1,312 boats", 0), ("1.3 million boats", 50_000), ("48,000 boats", 500), ("3 million boats", 150_000)],
)
def test_a_rounded_number_allows_half_a_unit_of_its_last_digit_at_most_a_twentieth(text, slack):
    assert only(text).slack == pytest.approx(slack)


@pytest.mark.parametrize(
    ("text", "head"),
    [("48,000 bound volumes", "volum"), ("120 people", "person"), ("It has 12.", ""), ("300 of them", "")],
)
def test_the_noun_that_is_counted_is_kept_as_its_stem(text, head):
    assert only(text).head == head


def test_one_of_and_one_another_count_nothing():
    assert quantities_of("It is one of the oldest, and they helped one another.") == []


def test_an_ordinal_keeps_the_noun_that_follows():
    (fact,) = quantities_of("It was the twenty-first festival.")
    assert (fact.kind, fact.low, fact.head) == (Kind.ORDINAL, 21, "festival")


def test_the_span_is_what_is_written_with_its_bound():
    text = "It has more than 20 boats."
    fact = only(text)
    assert text[fact.start : fact.end] == fact.text == "more than 20"


def test_a_date_is_no_quantity():
    text = "In 1932 it had 12 boats."
    dates = dates_of(text)
    assert [fact.text for fact in quantities_of(text, [fact.span for fact in dates])] == ["12"]
