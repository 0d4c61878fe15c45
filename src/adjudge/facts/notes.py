"""How the values of a sentence stand to those of a claim, in words that a judge reads beside the sentence.

"The crossing lasts more than seven hours." beside "It leaves at 22:15 and docks at 05:45." gives "22:15 to 05:45 is
7.5 hours, as more than seven hours". What a small encoder cannot compute (units, arithmetic, the calendar) stands in
the row; what the values are about is left to the judge.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

from adjudge.facts.dates import dates_of
from adjudge.facts.quantities import quantities_of
from adjudge.facts.records import Fact, Kind, Outcome, relate
from adjudge.facts.values import comparable

MAX_NOTES = 4
"""Notes beside one sentence."""
MAX_LENGTH = 1_000
"""Characters of a claim or sentence that are searched for values."""
_PER_VALUE = 2
"""Notes about one value of the claim."""
_VALUES = 6
"""Values of a sentence that are added, subtracted and divided."""
_SHARE_SLACK = 0.006
"""What a share may be off: 33% is a third."""
_ROUNDED = 1e-6
_DAY = 1440
_CHANGED = (
    r"rose|risen|rise|rises|fell|fallen|fall|falls|grew|grown|grow|grows|increase\w*|decrease\w*|decline\w*|drop\w*|"
    r"raise\w*|reduc\w*|cut|cuts|shr[aiu]nk\w*|expand\w*|climb\w*|jump\w*|gain\w*|lost|up by|down by"
)
_CHANGES = re.compile(rf"\b(?:{_CHANGED})\b", re.IGNORECASE)
_COMPARES = re.compile(
    rf"\b(?:{_CHANGED}|more|less|fewer|most|least|than|as (?:many|much|long|old|high|far)|equal(?:ly)?|same|"
    r"exceed\w*|outnumber\w*|outweigh\w*|"
    r"earl(?:y|ier|iest)|late(?:r|st)|before|after|first|last|long(?:er|est)|short(?:er|est)|high(?:er|est)|"
    r"low(?:er|est)|larg(?:er|est)|small(?:er|est)|bigg(?:er|est)|cheap(?:er|est)|dear(?:er|est)|old(?:er|est)|"
    r"young(?:er|est)|heav(?:ier|iest)|light(?:er|est)|fast(?:er|est)|slow(?:er|est)|warm(?:er|est)|cold(?:er|est)|"
    r"profit|loss|surplus|deficit|difference)\b",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"\b(under|over|than|within|about|nearly|almost|least|most|by|for|in|takes?|took|lasts?|lasted|exactly|only|after|every)"
    r" an?(?= (?:minute|hour|day|week|fortnight|month|year|decade|mile|kilometre|metre|kilo|pound|tonne|litre|pint)\b)",
    re.IGNORECASE,
)
_MAJORITY = re.compile(
    r"\b(?:(?:in )?(?:a|the) )?(?:(?P<majority>majority)|minority)\b(?: of)?", re.IGNORECASE
)
_YEAR = 365.25


def value_notes(claim: str, sentence: str) -> str:
    """What is to be read beside a sentence about its values and the claim's; nothing where there is nothing to say."""
    ours = values_of(claim)
    if not ours and not _COMPARES.search(claim):
        return ""
    theirs = values_of(sentence)
    if not theirs:
        return ""
    by_value = {fact: _notes_on(fact, theirs, claim) for fact in ours}
    notes = list(dict.fromkeys(note for own in by_value.values() for note in own))
    if not any(own for fact, own in by_value.items() if fact.kind is Kind.NUMBER) and _COMPARES.search(claim):
        notes += _order(theirs)
    return "; ".join(notes[:MAX_NOTES])


@lru_cache(maxsize=4096)
def values_of(text: str) -> tuple[Fact, ...]:
    """The numbers, dates and times of a text, in order."""
    text = _ONE.sub(r"\1 one", text[:MAX_LENGTH])
    text = _MAJORITY.sub(lambda m: f"{'more' if m['majority'] else 'less'} than half of", text)
    dates = dates_of(text)
    values = [*dates, *quantities_of(text, [fact.span for fact in dates])]
    return tuple(sorted(values, key=lambda fact: fact.start))


def _notes_on(fact: Fact, theirs: Sequence[Fact], claim: str) -> list[str]:
    """The notes about one value of the claim: values of the sentence, then what can be computed of them."""
    pairs = [pair for other in theirs if (pair := _pair(fact, other))]
    outcomes = [(relate(ours, other), ours, other) for ours, other in pairs]
    equal = [one for one in outcomes if one[0] is Outcome.EQUAL]
    notes = [_sentence(*one) for one in equal or outcomes if one[1].text.lower() != one[2].text.lower()]
    if not equal:
        notes = _computed_notes(fact, theirs, claim) + notes
    return notes[:_PER_VALUE]


def _pair(fact: Fact, other: Fact) -> tuple[Fact, Fact] | None:
    """Two values on one scale; counts of different things only where they are equal."""
    if fact.unit == "age" and not other.unit and other.form == "limit":  # children under eight
        other = replace(other, low=_YEAR * other.low, high=_YEAR * other.high, unit="age", head="")
    pair = comparable(fact, other)
    if pair is None or fact.unit or fact.kind is not Kind.NUMBER:
        return pair
    if fact.head == other.head:
        return pair
    return pair if relate(*pair) is Outcome.EQUAL else None


def _sentence(outcome: Outcome, ours: Fact, other: Fact) -> str:
    if outcome is Outcome.EQUAL:
        relation = "as"
    elif outcome is Outcome.OPEN:
        relation = "including" if other.low <= ours.low and ours.high <= other.high else "perhaps"
    elif ours.kind is Kind.WEEKDAY:
        relation = "not"
    else:
        above = other.low > ours.high or (math.isinf(ours.high) and other.low > ours.low)
        if ours.kind in (Kind.DATE, Kind.TIME):
            relation = "after" if above else "before"
        else:
            relation = "more than" if above else "less than"
    return f"{other.text}, {relation} {ours.text}"


def _computed_notes(fact: Fact, theirs: Sequence[Fact], claim: str) -> list[str]:
    """Notes about computed values: those that are the claim's value, and those that nothing else can be meant by."""
    equal, certain = [], []
    for other, is_certain in _computed(fact, theirs, claim):
        if (pair := comparable(fact, other)) is None:
            continue
        if (outcome := relate(*pair)) is Outcome.EQUAL:
            equal.append(_sentence(outcome, *pair))
        elif is_certain:
            certain.append(_sentence(outcome, *pair))
    return equal + certain


def _computed(fact: Fact, theirs: Sequence[Fact], claim: str) -> Iterator[tuple[Fact, bool]]:
    """Values computed of a sentence's that are on the claim's scale, and whether nothing else can be meant."""
    changes, compares = bool(_CHANGES.search(claim)), bool(_COMPARES.search(claim))
    exact = [other for other in theirs if other.low == other.high and other.kind is Kind.NUMBER][:_VALUES]
    if fact.unit in ("duration", "age"):
        yield from ((span, True) for span in _spans(fact, theirs))
    if fact.unit in ("share", "times"):
        yield from ((other, len(exact) == 2) for other in _ratios(fact, exact, changes))
    alike = [other for other in exact if other.unit == fact.unit]
    if fact.kind is not Kind.NUMBER or fact.unit == "times":
        return
    for one, two in combinations(alike, 2):
        if one.text != two.text and not math.isinf(fact.high - fact.low):
            yield _derive(f"{one.text} and {two.text} together", one.low + two.low, fact), False
        if one.low != two.low:
            difference = abs(one.low - two.low)
            text = f"{one.text} against {two.text} is {_write(difference / fact.size)}"
            yield _derive(text, difference, fact), compares and len(alike) == 2
    if len(alike) >= 3 and len({other.text for other in alike}) == len(alike):
        yield _derive("all together", sum(other.low for other in alike), fact), False
    if fact.unit == "share":
        yield from ((_derive(f"the rest of {one.text}", 1 - one.low, fact), False) for one in alike)


def _spans(fact: Fact, theirs: Sequence[Fact]) -> Iterator[Fact]:
    """The time between the two dates or the two times of a sentence, in the claim's unit."""
    for kind in (Kind.TIME, Kind.DATE):
        ends = [other for other in theirs if other.kind is kind and not math.isinf(other.high - other.low)]
        if len(ends) != 2 or ends[0].unit != ends[1].unit:
            continue
        one, two = ends
        if kind is Kind.TIME:
            days = ((two.low - one.low) % _DAY) / _DAY
            slack = _ROUNDED
        elif one.unit:
            continue  # days of a year without the year
        else:
            days = abs((one.low + one.high) / 2 - (two.low + two.high) / 2)
            slack = max(one.high - one.low, two.high - two.low, 0.02 * days)
        text = f"{one.text} to {two.text} is {days / fact.size:.3g} {_unit_word(fact)}".rstrip()
        yield Fact(Kind.NUMBER, text, 0, 0, days, days, slack, fact.unit, size=fact.size)


def _unit_word(fact: Fact) -> str:
    return fact.text.split()[-1] if fact.text[-1:].isalpha() else ""


def _ratios(fact: Fact, exact: Sequence[Fact], changes: bool) -> Iterator[Fact]:
    """One value as a share or a multiple of another; for a claim about a change, by what share it changes."""
    for one, two in combinations(exact, 2):
        small, large = sorted((one, two), key=lambda value: value.low)
        if one.unit != two.unit or small.low <= 0 or small.low == large.low:
            continue
        if fact.unit == "times":
            yield _derive(f"{large.text} to {small.text}", large.low / small.low, fact)
        elif changes:
            change = abs(two.low - one.low) / one.low
            yield _derive(f"{one.text} to {two.text} is {change:.0%}", change, fact)
        else:
            yield _derive(
                f"{small.text} of {large.text} is {small.low / large.low:.0%}", small.low / large.low, fact
            )


def _write(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _derive(text: str, value: float, fact: Fact) -> Fact:
    """A computed value on the scale of the claim's."""
    slack = _SHARE_SLACK if fact.unit == "share" else _ROUNDED * abs(value)
    return Fact(
        Kind.NUMBER, text, 0, 0, value, value, slack, fact.unit, fact.head, size=fact.size, step=fact.step
    )


def _order(theirs: Sequence[Fact]) -> Iterator[str]:
    """How two values of a sentence stand to one another, for a claim that compares without a value of its own."""
    pairs = [pair for one, two in combinations(theirs[:_VALUES], 2) if (pair := _pair(two, one))]
    different = [pair for pair in pairs if relate(*pair) is Outcome.DIFFERENT]
    if len(different) == 1:
        yield _sentence(Outcome.DIFFERENT, *different[0])
