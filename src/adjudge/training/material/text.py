"""Small helpers of all who write sentences: choose a wording, fill its slots, make a sentence of it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORD = re.compile(r"[a-z]{4,}|\d+")
_FILES = ("a", "doc", "draft", "file", "final", "n", "notes", "readme", "scan", "text", "untitled", "v")


class Fact(NamedTuple):
    """A fact in several wordings, with claims that it supports, refutes and leaves open."""

    evidence: Sequence[str]
    supports: Sequence[str]
    refutes: Sequence[str]
    open: Sequence[str] = ()


def find_words(text: str) -> set[str]:
    """The longer words and the numbers of a text."""
    return set(_WORD.findall(text.lower()))


def write_sentence(text: str) -> str:
    """Text with one space between words, a capital at its beginning and a full stop at its end."""
    text = re.sub(r"\s+([,.;:])", r"\1", " ".join(text.split()))
    text = re.sub(r"\b([Aa])n? (?=[aeiouAEIOU](?!ne\b|uro|ni[tvfq]|se))", r"\1n ", text)
    text = re.sub(r"\b([Aa])n (?=[bcdfgjklmnpqrstvwxyzBCDFGJKPQTVWYZ])", r"\1 ", text)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def fill(templates: Sequence[str], **slots: object) -> list[str]:
    """Every template with its slots filled, as sentences."""
    return [write_sentence(template.format(**slots)) for template in templates]


def pick_other(rng: random.Random, items: Sequence[str], *but: str) -> str:
    """One of the items that is none of ``but``."""
    while (item := rng.choice(items)) in but:
        pass
    return item


def spell_number(number: int) -> str:
    """A whole number below a million in words; larger ones, and odd thousands, in digits."""
    if number < 20:
        return _UNITS[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{_UNITS[number % 10]}" if number % 10 else "")
    if number < 1000:
        rest = number % 100
        return f"{_UNITS[number // 100]} hundred" + (f" and {spell_number(rest)}" if rest else "")
    if number < 1_000_000 and number % 1000 == 0:
        return f"{spell_number(number // 1000)} thousand"
    return format_thousands(number)


def format_thousands(number: float) -> str:
    """A number with commas between its thousands, and no needless zeros."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.2f}".rstrip("0")


def write_number(rng: random.Random, number: int) -> str:
    """A whole number as somebody may write it."""
    return spell_number(number) if number <= 12 and rng.random() < 0.5 else format_thousands(number)


def name_of_file(title: str, rng: random.Random) -> str:
    """What a file with this title could be called: a few words of it, often cut short, or a name that says nothing."""
    words = re.findall(r"[^\W_]+", title.lower()) or ["text"]
    at = rng.randrange(len(words))
    name = rng.choice(["-", "_", " ", ""]).join(words[at : at + rng.randint(1, 3)])
    chance = rng.random()
    if chance < 0.3:
        name = rng.choice(_FILES)
    elif chance < 0.5:
        name = name[: rng.randint(1, 4)]
    if rng.random() < 0.3:
        name += rng.choice(["-", "_", " ", ""]) + str(rng.choice([1, 2, 3, 12, 2019, 2024]))
    return name
