"""All facts of a text."""

from __future__ import annotations

from functools import lru_cache

from adjudge.facts.dates import dates_of
from adjudge.facts.names import names_of, quotes_of
from adjudge.facts.quantities import quantities_of
from adjudge.facts.records import Fact

MAX_TEXT = 2_000
"""Characters looked at; what follows in a longer text is not compared."""


@lru_cache(maxsize=4096)
def facts_of(text: str) -> tuple[Fact, ...]:
    """The facts of a text, in order; none overlaps another. Names that may be ordinary words are not certain."""
    text = text[:MAX_TEXT]
    facts = dates_of(text)
    facts += quantities_of(text, [fact.span for fact in facts])
    quotes = [quote for quote in quotes_of(text) if len(quote.words) > 0]
    facts += [quote for quote in quotes if not _overlaps(quote, facts)]
    facts += names_of(text, [fact.span for fact in facts])
    return tuple(sorted(facts, key=lambda fact: (fact.start, fact.end)))


def _overlaps(fact: Fact, others: list[Fact]) -> bool:
    return any(fact.start < other.end and other.start < fact.end for other in others)
