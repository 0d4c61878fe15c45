"""Words that stand for, or against, other words, and names."""

from __future__ import annotations

from collections.abc import Iterable

from adjudge.training.material.wordings import read_wordings

_WORDS = read_wordings("words")


def _build_table(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for word, new in pairs:
        table.setdefault(word, []).append(new)
    return {word: tuple(dict.fromkeys(news)) for word, news in table.items()}


def _opposites_both_ways() -> Iterable[tuple[str, str]]:
    for pair in _WORDS["opposites"]:
        first, second = pair.split()
        yield first, second
        yield second, first


OPPOSITE = _build_table(_opposites_both_ways())
"""The opposites of a word: a thing can be the one or the other, hardly both."""
SYNONYM = _build_table(tuple(line.split(": ")) for line in _WORDS["synonyms"])
"""Words that may stand for a word without making a sentence false."""
PHRASES: tuple[tuple[str, str], ...] = tuple(tuple(line.split(" => ")) for line in _WORDS["phrases"])
"""(pattern, what may stand for it)."""

MONTHS = "January February March April May June July August September October November December".split()
SEASONS = {"winter": (12, 1, 2), "spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11)}
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

FIRST_NAMES: list[str] = _WORDS["first_names"]
LAST_NAMES: list[str] = _WORDS["last_names"]
PLACES: list[str] = _WORDS["places"]
