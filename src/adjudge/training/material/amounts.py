"""Facts with numbers: amounts, and the limits that they keep or break."""

from __future__ import annotations

import random
from collections.abc import Sequence

from adjudge.training.material.text import (
    Fact,
    fill,
    format_thousands,
    pick_other,
    spell_number,
    write_number,
)
from adjudge.training.material.wordings import read_wordings

SMALLER_UNITS = {
    "kilometres": (1000, "metres"),
    "tonnes": (1000, "kilograms"),
    "kg": (1000, "grams"),
    "kilograms": (1000, "grams"),
    "hours": (60, "minutes"),
    "minutes": (60, "seconds"),
    "days": (24, "hours"),
    "weeks": (7, "days"),
    "years": (12, "months"),
    "hectares": (10000, "square metres"),
}
"""What a unit is in a smaller one."""
MORE, LESS = ("more than", "over", "at least"), ("less than", "under", "at most", "no more than")
_SOURCES = ("the minutes", "the report", "the price list", "the manual", "the contract")
_BEFORE = ("", "", "", "in {y}, ", "at present, ", "according to the files, ", "on average, ")
_LIMIT_NAMES = ("threshold", "maximum", "permitted value", "ceiling")


def amount(rng: random.Random) -> Fact:
    """How much or how many, exactly and compared with round numbers."""
    kind = rng.choice(read_wordings("amounts")["amount"]["kind"])
    subjects, others = kind["subjects"], kind["others"]
    subject, unit = rng.choice(subjects), rng.choice(kind["units"])
    value = draw_whole_number(rng, *kind["reach"])
    phrases = _select_same_kind(rng.choice(kind["phrases"]), kind["phrases"])
    below, above = _bounds(rng, value)
    ends = (f", as {rng.choice(_SOURCES)} states", f" and {rng.choice(others)}", ", not counting extras")
    end = rng.choice(("", "", "", "", *ends))
    before = rng.choice(_BEFORE).format(y=rng.randint(1960, 2024))

    def state(quantity: str) -> list[str]:
        return [f"{subject} {phrase.format(v=quantity)}" for phrase in phrases]

    def with_unit(n: int) -> str:
        return f"{write_number(rng, n)} {unit}"

    def bounded(words: Sequence[str], bound: int) -> list[str]:
        return [text for word in words for text in state(f"{word} {with_unit(bound)}")]

    evidence = state(with_unit(value))
    supports = state(with_unit(value)) + (state(f"{spell_number(value)} {unit}") if value < 1000 else [])
    supports += bounded(MORE, below) + bounded(LESS, above)
    supports += state(f"between {with_unit(below).rsplit(' ', 1)[0]} and {with_unit(above)}")
    near = round(value, -max(1, len(str(value)) - 2)) if value > 95 else value
    if near != value:
        supports += bounded(("about", "roughly", "nearly" if near > value else "just over"), near)
    wrong = _draw_another(rng, value)
    refutes = state(with_unit(wrong)) * 3
    refutes += state(f"{'only' if wrong < value else 'as much as'} {with_unit(wrong)}")
    refutes += bounded(MORE, above) + bounded(LESS, below)
    if unit in SMALLER_UNITS:
        factor, smaller = SMALLER_UNITS[unit]
        supports += state(f"{format_thousands(value * factor)} {smaller}") * 2
        refutes += state(f"{format_thousands(_draw_another(rng, value * factor))} {smaller}")
    another = pick_other(rng, subjects, subject)
    opens = [] if " and " in end else [f"{subject} {text}" for text in others]
    opens += [f"{another} {phrase.format(v=with_unit(rng.choice([value, wrong])))}" for phrase in phrases]
    return Fact(fill([before + text + end for text in evidence]), fill(supports), fill(refutes), fill(opens))


def limit(rng: random.Random) -> Fact:
    """A measured value and the limit that it keeps or breaks."""
    texts = read_wordings("amounts")["limit"]
    subject, site, unit = (rng.choice(texts[part]) for part in ("things", "places", "units"))
    bound = draw_whole_number(rng, 4, 500)
    within = rng.random() < 0.5
    if within:
        value = max(1, round(bound * rng.uniform(0.1, 0.9)))
    else:
        value = max(bound + 1, round(bound * rng.uniform(1.1, 3)))
    name = "limit" if rng.random() < 0.6 else rng.choice(_LIMIT_NAMES)
    unrelated = pick_other(rng, texts["things"], subject)
    slots = {"x": subject, "p": site, "u": unit, "v": value, "b": bound, "w": name, "o": unrelated}
    same, turned = ("kept", "broken") if within else ("broken", "kept")
    return Fact(
        fill(texts["measured"] + texts[f"measured_{same}"], **slots),
        fill(texts[same], **slots),
        fill(texts[turned], **slots),
        fill(texts["open"], **slots),
    )


def draw_whole_number(rng: random.Random, low: int, high: int) -> int:
    """A whole number between two, small ones as likely as large ones, often a round one."""
    value = round(float(low * (high / low) ** rng.random()))
    if value > 200 and rng.random() < 0.6:
        digits = 10 ** (len(str(value)) - 2)
        value = max(low, value // digits * digits)
    return max(low, value)


def _select_same_kind(phrase: str, phrases: list[str]) -> list[str]:
    """The phrases that say the same as one: flour is not sugar, and what was raised was not spent."""
    alone = "{v} of" in phrase or phrase.startswith(("made", "took", "raised", "received", "spent"))
    return [phrase] if alone else phrases


def _bounds(rng: random.Random, value: int) -> tuple[int, int]:
    """A round number below and one above a value."""
    step = 10 ** max(0, len(str(value)) - 1)
    below = value // step * step
    if below == value or rng.random() < 0.4:
        below = max(1, value - max(1, round(value * rng.uniform(0.05, 0.4))))
    above = (value // step + 1) * step
    if rng.random() < 0.4:
        above = value + max(1, round(value * rng.uniform(0.05, 0.5)))
    return below, above


def _draw_another(rng: random.Random, value: int) -> int:
    """Another number of the same order."""
    choices = {value + 1, value - 1, value * 2, value * 10, value // 2, value + rng.randint(2, 20)}
    choices |= {round(value * rng.uniform(0.4, 0.95)), round(value * rng.uniform(1.05, 1.9))}
    if value > 9:
        choices.add(int(str(value)[::-1]))
    return rng.choice(sorted(n for n in choices if n > 1 and n != value) or [value + 3])


FRAMES = {"amount": amount, "limit": limit}
