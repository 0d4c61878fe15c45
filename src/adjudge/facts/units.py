"""Units by their spellings, each with what it measures and its size in the base unit of that."""

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
area 1: m² sqm square-metre square-metres square-meter square-meters
area 1000000: km² sqkm square-kilometre square-kilometres square-kilometer square-kilometers
area 10000: hectare hectares ha
area 4046.8564: acre acres
area 2589988.11: square-mile square-miles
area 0.09290304: square-foot square-feet sqft
volume 1: litre litres liter liters l
volume 0.001: ml millilitre millilitres milliliter milliliters
volume 1000: m³ cubic-metre cubic-metres cubic-meter cubic-meters
speed 1: km/h kmh kph
speed 1.609344: mph
speed 3.6: m/s
speed 1.852: knot knots
power 1: w watt watts
power 1000: kw kilowatt kilowatts
power 1000000: mw megawatt megawatts
energy 1: kwh kilowatt-hour kilowatt-hours
energy 1000: mwh megawatt-hour megawatt-hours
data 1: mb megabyte megabytes
data 1000: gb gigabyte gigabytes
data 1000000: tb terabyte terabytes
data 0.001: kb kilobyte kilobytes
celsius 1: °c celsius degrees-celsius
fahrenheit 1: °f fahrenheit degrees-fahrenheit
angle 1: ° degree degrees
share 0.01: % percent per-cent pct
points 0.01: percentage-point percentage-points
money:USD 1: dollar dollars usd
money:USD 0.01: cent cents
money:EUR 1: euro euros eur
money:GBP 1: gbp quid
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
}

_LETTERS_ONLY_AFTER_DIGITS = frozenset({"m", "g", "t", "h", "l", "w", "mi", "min", "sec", "mb", "ms", "ha"})
_SPELLINGS = sorted(UNITS, key=len, reverse=True)
_PATTERN = re.compile(
    r"[ \u00a0\u202f-]?("
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
        not digits or match[1] != match[1].lower() and spelling != "mb"
    ):
        return None
    measure, size = UNITS[spelling]
    return measure, size, match.end()
