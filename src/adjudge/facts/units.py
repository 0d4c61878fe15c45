"""Units by their spellings, each with what it measures and its size in the base unit of that.

Temperatures are the one measure whose zero differs: :func:`to_base` knows it.
"""

from __future__ import annotations

import re

_TABLE = """
length 1: m metre metres meter meters
length 1000: km kilometre kilometres kilometer kilometers kms
length 0.01: cm centimetre centimetres centimeter centimeters
length 0.001: mm millimetre millimetres millimeter millimeters
length 1609.344: mile miles mi
length 0.9144: yard yards yd yds
length 0.3048: foot feet ft
length 0.0254: inch inches
mass 1: kg kilogram kilograms kilogramme kilogrammes kilo kilos
mass 0.001: g gram grams gramme grammes
mass 0.000001: mg milligram milligrams
mass 1000: tonne tonnes ton tons t
mass 0.45359237: lb lbs pound pounds
mass 0.028349523: oz ounce ounces
duration 1: day days
duration 7: week weeks
duration 30.4375: month months
duration 365.25: year years yr yrs
duration 3652.5: decade decades
duration 0.0416666667: hour hours hr hrs h
duration 0.000694444444: minute minutes min mins
duration 0.0000115740741: second seconds sec secs
duration 0.0000000115740741: millisecond milliseconds ms
area 1: m² m2 sqm sq-m square-metre square-metres square-meter square-meters
area 1000000: km² km2 sqkm sq-km square-kilometre square-kilometres square-kilometer square-kilometers
area 10000: hectare hectares ha
area 4046.8564: acre acres
area 2589988.11: square-mile square-miles sq-mi sq-miles
area 0.09290304: square-foot square-feet sqft sq-ft
volume 1: litre litres liter liters l
volume 0.001: ml millilitre millilitres milliliter milliliters
volume 1000: m³ m3 cubic-metre cubic-metres cubic-meter cubic-meters
volume 100: hectolitre hectolitres hl
volume 4.54609: gallon gallons
speed 1: km/h kmh kph km-per-hour kilometre-per-hour kilometres-per-hour km-an-hour kilometres-an-hour
speed 1: kilometer-per-hour kilometers-per-hour kilometers-an-hour
speed 1.609344: mph mile-per-hour miles-per-hour miles-an-hour
speed 3.6: m/s metres-per-second meters-per-second
speed 1.852: knot knots
power 1: w watt watts
power 1000: kw kilowatt kilowatts
power 1000000: mw megawatt megawatts
power 1000000000: gw gigawatt gigawatts
voltage 1: v volt volts
voltage 1000: kv kilovolt kilovolts
frequency 1: hz hertz
frequency 1000: khz kilohertz
frequency 1000000: mhz megahertz
frequency 1000000000: ghz gigahertz
food 1: kcal calories calorie
sound 1: db decibel decibels
pressure 1: bar bars
energy 1: kwh kilowatt-hour kilowatt-hours
energy 1000: mwh megawatt-hour megawatt-hours
energy 1000000: gwh gigawatt-hour gigawatt-hours
data 1: mb megabyte megabytes
data 1000: gb gigabyte gigabytes
data 1000000: tb terabyte terabytes
data 0.001: kb kilobyte kilobytes
celsius 1: °c celsius degrees-celsius
celsius 0.5555555556: °f fahrenheit degrees-fahrenheit
angle 1: ° degree degrees
share 0.01: % percent per-cent pct
points 0.01: percentage-point percentage-points
money:USD 1: dollar dollars usd
money:USD 0.01: cent cents
money:EUR 1: euro euros eur
money:GBP 1: gbp quid pounds-sterling
money:SEK 1: sek
money:NOK 1: nok
money:DKK 1: dkk
money:CAD 1: cad
money:AUD 1: aud
money:CNY 1: yuan cny
money:RUB 1: rouble roubles ruble rubles
money:KRONA 1: krona kronor krone kroner
money:PESO 1: peso pesos
money:GBP 0.01: pence penny
money:CHF 1: chf franc francs
money:JPY 1: yen jpy
money:INR 1: rupee rupees inr
"""
UNITS: dict[str, tuple[str, float]] = {
    spelling.replace("-", " "): (line.split()[0], float(line.split(": ", 1)[0].split()[1]))
    for line in _TABLE.strip().splitlines()
    for spelling in line.split(": ", 1)[1].split()
}
"""Spelling → (what it measures, its size in the base unit)."""

CURRENCIES = {
    "$": "money:USD",
    "us$": "money:USD",
    "£": "money:GBP",
    "€": "money:EUR",
    "¥": "money:JPY",
    "₹": "money:INR",
    **{code: f"money:{code.upper()}" for code in "usd eur gbp chf jpy inr sek nok dkk cad aud cny".split()},
}
"""Signs and codes that stand before an amount."""
_ADJECTIVES = (
    r"(?:(?:US|U\.S\.|American|Swiss|British|Indian|Canadian|Australian|Swedish|Danish|Norwegian)\s)?"
)

_LETTERS_ONLY_AFTER_DIGITS = frozenset(
    {
        "m",
        "g",
        "t",
        "h",
        "l",
        "w",
        "mi",
        "min",
        "sec",
        "mb",
        "ms",
        "ha",
        "v",
        "db",
        "cad",
        "bar",
        "bars",
        "hl",
    }
)
_SPELLINGS = sorted(UNITS, key=len, reverse=True)
_PATTERN = re.compile(
    rf"[ \u00a0\u202f-]?{_ADJECTIVES}("
    + "|".join(re.escape(name).replace(r"\ ", r"[ -]") for name in _SPELLINGS)
    + r")(?![\w²³])",
    re.IGNORECASE,
)


def unit_at(text: str, position: int, digits: bool) -> tuple[str, float, int] | None:
    """(what is measured, size, end) of the unit that follows a number; letters alone only after ``digits``."""
    match = _PATTERN.match(text, position)
    if not match:
        return None
    spelling = re.sub(r"[ -]+", " ", match[1].casefold())
    if spelling in _LETTERS_ONLY_AFTER_DIGITS and (
        not digits or (match[1] != match[1].lower() and spelling not in ("mb", "v", "w", "db", "cad"))
    ):
        return None
    measure, size = UNITS[spelling]
    return measure, size, match.end()


def to_base(value: float, measure: str, size: float) -> float:
    """A value in the base unit of what is measured."""
    if measure == "celsius" and size != 1.0:
        value -= 32.0
    return value * size
