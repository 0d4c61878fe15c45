"""A claim's facts against those of its evidence: which fact of which sentence is about the same thing?

A sentence may only contradict a fact where it speaks about the same thing: it shares most other words of the claim,
names no fewer names, and the two values are of one unit and counted noun, or stand after the same word. What cannot be
paired so is absent, not different.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from adjudge.facts.names import initials
from adjudge.facts.naming import compare_name
from adjudge.facts.records import Comparison
from adjudge.facts.relations import Contradiction, contradictions
from adjudge.facts.sides import NAMES, Texts, names_met, other_subject, overlap, sides_of, texts_of
from adjudge.facts.values import SAME_TOPIC, compare_value
from adjudge.types import Evidence


def compare(claim: str, evidence: Sequence[Evidence]) -> tuple[Comparison, ...]:
    """How each fact of a claim relates to the evidence, in the order of the claim."""
    return _compare(claim, texts_of(evidence))


@lru_cache(maxsize=2048)
def _compare(claim: str, evidence: Texts) -> tuple[Comparison, ...]:
    ours, sides = sides_of(claim, evidence)
    acronyms = frozenset().union(*map(initials, (claim, *(text for text, _, _ in evidence))))
    overlaps = [overlap(ours, side) for side in sides]
    return tuple(
        compare_name(fact, ours, sides, overlaps, acronyms)
        if fact.kind in NAMES
        else compare_value(fact, ours, sides, overlaps)
        for fact in ours.facts
    )


def contradictions_with(claim: str, evidence: Sequence[Evidence]) -> list[tuple[int, Contradiction]]:
    """(sentence, contradiction) by the rules about words, of the sentence that shares most of the claim's words."""
    ours, sides = sides_of(claim, texts_of(evidence))
    overlaps = [overlap(ours, side) for side in sides]
    best = max(range(len(sides)), key=overlaps.__getitem__, default=None)
    if best is None or overlaps[best] < SAME_TOPIC or not names_met(None, ours, sides[best]):
        return []
    side = sides[best]
    if other_subject(ours, side):
        return []
    return [(best, conflict) for conflict in contradictions(ours.words, side.words, ours.facts, side.facts)]


def overlap_of(claim: str, sentence: Evidence) -> float:
    """The share of the claim's content words, facts left out, that a sentence has with title and context."""
    ours, (side,) = sides_of(claim, texts_of([sentence]))
    return overlap(ours, side)
