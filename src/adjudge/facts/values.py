"""Numbers, dates and times of a claim against those of its evidence: which value is about the same thing?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from adjudge.facts.dates import same_clock, same_scale
from adjudge.facts.records import Comparison, Fact, Kind, Outcome, relate
from adjudge.facts.sides import NAMES, Side, has_contrast, names_met

SAME_TOPIC = 0.5
"""Share of the claim's other content words that a sentence must have to contradict a number or a date."""
MENTION = 0.25
"""Share from which on an equal value counts as a confirmation."""
SAME_RATE = 0.02
"""Share by which two rates in different periods may differ: a month has no whole number of weeks."""
_DECISIVE = {Kind.DATE: (Kind.NUMBER, Kind.ORDINAL), Kind.ORDINAL: (Kind.DATE, Kind.NUMBER)}
"""The kinds of other facts that say whether two values are about the same thing."""
_PERSON = "person"
_PERSONS = frozenset(
    "employe worker resident inhabitant member visitor guest spectator passenger patient student pupil soldier victim "
    "participant volunteer citizen man woman child player refugee".split()
)


def compare_value(fact: Fact, claim: Side, sides: Sequence[Side], overlaps: Sequence[float]) -> Comparison:
    """The best pairing of a number, date or time: an equal value before a different one of the same standing."""
    pairings: list[tuple[float, Comparison]] = []
    for position, (side, share) in enumerate(zip(sides, overlaps, strict=True)):
        settled = _settled(fact, claim, side)
        for other in side.facts:
            pair = comparable(fact, other)
            if pair is None:
                continue
            outcome = relate(*pair)
            near = _nearness(fact, other, claim, side)
            if outcome is Outcome.EQUAL:
                if (share < MENTION and near < 2) or (math.isinf(fact.high - fact.low) and near < 1):
                    continue  # nearly any number lies within "more than three"
                rank = share + 0.2 * near + (0.7 if _confirms(fact, other) else 0.0)
            else:
                if other in settled or not _same_thing(fact, other, claim, side, share, near):
                    continue
                rank = share + 0.2 * near
            pairings.append((rank, Comparison(fact, outcome, other, position, share)))
    if not pairings:
        return Comparison(fact, Outcome.ABSENT)
    return max(pairings, key=lambda pairing: pairing[0])[1]


def _confirms(fact: Fact, other: Fact) -> bool:
    """Whether an equal value outweighs a different one: it counts the same, surely so where most numbers would fit."""
    if fact.head and math.isinf(fact.high - fact.low):
        return fact.head == other.head
    return _same_heads(fact.head, other.head)


def comparable(claim: Fact, evidence: Fact) -> tuple[Fact, Fact] | None:
    """Two facts on one scale; None where there is none."""
    if claim.kind is not evidence.kind or claim.kind in NAMES:
        return None
    if claim.kind is Kind.DATE:
        return same_scale(claim, evidence)
    if claim.kind is Kind.TIME:
        return same_clock(claim, evidence)
    if claim.unit != evidence.unit:
        return _same_unit(claim, evidence)
    if claim.unit and claim.head and evidence.head and claim.head != evidence.head:
        return None  # 30 metres deep, 4 kilometres long
    if claim.per and evidence.per and claim.per != evidence.per:
        one, other = _each_day(claim), _each_day(evidence)
        return (one, other) if relate(one, other) is Outcome.EQUAL else None
    return claim, evidence


def _each_day(fact: Fact) -> Fact:
    slack = max(fact.slack, SAME_RATE * abs(fact.low)) if not math.isinf(fact.low) else fact.slack
    return replace(fact, low=fact.low / fact.per, high=fact.high / fact.per, slack=slack / fact.per)


def _same_unit(claim: Fact, evidence: Fact) -> tuple[Fact, Fact] | None:
    """Two facts whose units differ, where the words do not say which unit is meant, or the currency alone differs."""
    if {claim.unit, evidence.unit} == {"angle", "celsius"}:
        return claim, evidence
    if {claim.unit, evidence.unit} == {"mass", "money:GBP"}:
        pair = [_sterling(fact) for fact in (claim, evidence)]
        return (pair[0], pair[1]) if pair[0] and pair[1] else None
    same_amount = (
        claim.low == evidence.low and claim.high == evidence.high and not math.isinf(claim.high - claim.low)
    )
    if claim.unit.startswith("money:") and evidence.unit.startswith("money:") and same_amount:
        return claim, replace(evidence, low=math.inf, high=math.inf)  # 20 dollars are not 20 euros
    return None


def _sterling(fact: Fact) -> Fact | None:
    if fact.unit == "money:GBP":
        return fact
    if not fact.text.lower().endswith(("pound", "pounds")):
        return None
    return replace(fact, low=fact.low / fact.size, high=fact.high / fact.size, unit="money:GBP", size=1.0)


def _settled(fact: Fact, claim: Side, side: Side) -> list[Fact]:
    """Values of a sentence that are those of other facts of the claim: they do not contradict this one."""
    return [
        other
        for other in side.facts
        for own in claim.facts
        if own is not fact and (pair := comparable(own, other)) and relate(*pair) is Outcome.EQUAL
    ]


def _nearness(fact: Fact, other: Fact, claim: Side, side: Side) -> int:
    """How much of what stands around two values is the same: noun counted, words near, the word before."""
    shared = len(claim.window(fact) & side.window(other))
    near = min(shared, 2) + (2 if fact.head and fact.head == other.head else 0)
    return near + (claim.neighbours(fact)[0] == side.neighbours(other)[0] != "")


def _same_thing(fact: Fact, other: Fact, claim: Side, side: Side, share: float, near: int) -> bool:
    """Whether a value that is not the claim's is about the same thing, so that it may contradict."""
    if share < SAME_TOPIC or not names_met(fact, claim, side) or not _others_agree(fact, claim, side):
        return False
    ours, theirs = claim.direction(fact), side.direction(other)
    if (ours and theirs and ours != theirs) or has_contrast(claim, side):
        return False  # raised by 100 to 700; the south tower
    if fact.kind is Kind.NUMBER and _on_other_days(claim, side):
        return False
    if fact.kind in (Kind.DATE, Kind.TIME) and (anchor := claim.anchor(fact)) and anchor not in side.topic:
        return False
    if fact.kind is Kind.NUMBER and not fact.unit:
        return _same_heads(fact.head, other.head) and near >= 2
    if fact.kind is Kind.ORDINAL:
        return fact.head == other.head
    return near >= 1 or (_is_only(fact, claim) and _is_only(other, side))


def _same_heads(one: str, other: str) -> bool:
    """Whether two counted nouns may be the same things: equal, one unknown, or people of some sort."""
    return not one or not other or one == other or (_PERSON in (one, other) and bool({one, other} & _PERSONS))


def _on_other_days(claim: Side, side: Side) -> bool:
    """Whether a sentence speaks of days of the week where the claim names none."""
    ours, theirs = (any(fact.kind is Kind.WEEKDAY for fact in one.facts) for one in (claim, side))
    return theirs and not ours


def _others_agree(fact: Fact, claim: Side, side: Side) -> bool:
    """Whether a sentence speaks about the same time and the same one of several.

    A number is compared only where the dates and ordinals of claim and sentence, if both have some, agree; a date only
    where one of the claim's numbers does, if the sentence has any to compare them with; an ordinal needs both.
    """
    for kind in _DECISIVE.get(fact.kind, (Kind.DATE, Kind.ORDINAL)):
        others = [own for own in claim.facts if own is not fact and own.kind is kind]
        pairs = [
            pair for own in others for other in side.facts
            if (pair := comparable(own, other)) and (not own.head or own.head == other.head)
        ]  # fmt: skip
        if pairs and all(relate(*pair) is Outcome.DIFFERENT for pair in pairs):
            return False
    return True


def _is_only(fact: Fact, side: Side) -> bool:
    """Whether a text has one value of its kind and unit."""
    return sum(other.kind is fact.kind and other.unit == fact.unit for other in side.facts) == 1
