"""Names and quoted words of a claim against those of its evidence: who stands in whose place?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from adjudge.facts.names import GENERIC, distinctive, given_names_clash, has_name
from adjudge.facts.records import Comparison, Fact, Kind, Outcome
from adjudge.facts.sides import NAMES, Side, has_contrast, names_met
from adjudge.facts.words import COMMON, fold, stem

SAME_TOPIC = 0.6
"""Share of the claim's other content words that a sentence must have to contradict a name."""
_ALL_WORDS = 0.999
_BE = stem("is")
_DESCRIPTION = 2
"""Words between an article and a name that describe it: "the chemist Karl Berg"."""


class Position(NamedTuple):
    """What stands around a name: the words before it and its description, the word after it, its verb if it acts."""

    before: frozenset[str]
    after: str
    acts: str
    equated: bool


def compare_name(
    fact: Fact, claim: Side, sides: Sequence[Side], overlaps: Sequence[float], acronyms: frozenset[str]
) -> Comparison:
    """A name is equal where a sentence has its words, different where another stands in its place."""
    spelled = tuple(word for word in fact.words if word not in acronyms)
    if not spelled:
        return Comparison(fact, Outcome.EQUAL)
    best: tuple[float, Comparison] | None = None
    for position, (side, share) in enumerate(zip(sides, overlaps, strict=True)):
        known = has_name(fact.words, side.folded) or has_name(spelled, side.folded)
        if known and not _another_of_the_name(spelled, side):
            comparison = Comparison(fact, Outcome.EQUAL, _mention(fact, side), position, share)
            rank = share + 1.0
        elif other := _instead(fact, claim, side, share):
            comparison = Comparison(fact, Outcome.DIFFERENT, other, position, share)
            rank = share
        else:
            continue
        if best is None or rank > best[0]:
            best = rank, comparison
    return best[1] if best else Comparison(fact, Outcome.ABSENT)


def _another_of_the_name(words: Sequence[str], side: Side) -> bool:
    """Whether all bearers of a surname in a sentence have given names that are not the claim's."""
    bearers = [other for other in side.facts if other.kind is Kind.NAME and words[-1] in other.words]
    return bool(bearers) and all(given_names_clash(words, other.words) for other in bearers)


def _mention(fact: Fact, side: Side) -> Fact | None:
    """Where a sentence has a name; None where only its title or context has it."""
    for other in side.facts:
        if other.kind in NAMES and has_name(fact.words, frozenset(other.words)):
            return other
    words = [word for word in side.words if fold(word.text) in fact.words]
    if not words:
        return None
    start, end = words[0].start, words[0].end
    return replace(fact, text=side.text[start:end], start=start, end=end)


def _instead(fact: Fact, claim: Side, side: Side, share: float) -> Fact | None:
    """The name that a sentence has where the claim has another: in the same position, unknown to the claim."""
    if share < SAME_TOPIC or not names_met(fact, claim, side) or has_contrast(claim, side):
        return None
    elsewhere = claim.folded - frozenset(fact.words)
    ours = _position(fact, claim)
    for other in side.facts:
        if other.kind is not fact.kind or any(word in elsewhere for word in distinctive(other.words)):
            continue
        if has_name(other.words, frozenset(fact.words)):
            continue
        theirs = _position(other, side)
        same = ours.before & theirs.before or (ours.after and ours.after == theirs.after and not ours.before)
        acting = ours.acts and ours.acts == theirs.acts
        equated = share >= _ALL_WORDS and ours.equated and theirs.equated
        if same or acting or equated:
            return other
    return None


def _position(fact: Fact, side: Side) -> Position:
    words = [word for word in side.words if word.end <= fact.start]
    stems = [word.stem for word in words]
    before, after = side.neighbours(fact)
    places = {before} - {""}
    for length in range(1, _DESCRIPTION + 1):
        article = len(stems) - length - 1
        if article > 0 and stems[article] in ("the", "a", "an") and not set(stems[article + 1 :]) & COMMON:
            places.add(stems[article - 1])  # "by the chemist Karl Berg"
    if stems and stems[-1] in GENERIC and len(stems) > 1:
        places.add(next((one for one in reversed(stems[:-1]) if one not in ("the", "a", "an")), ""))
    acts = ""
    if before == "by" and len(stems) > 1:
        acts = stems[-2]
    elif not places or places <= COMMON:
        acts = after if after and after != _BE else ""
    equated = (before == _BE and len(stems) > 1) or (after == _BE and not before)
    return Position(frozenset(places - {""}), after, acts, equated)
