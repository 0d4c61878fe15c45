"""A claim's facts against those of its evidence: which fact of which sentence is about the same thing?

A sentence may only contradict a fact where it speaks about the same thing: it shares most other words of the claim,
names no fewer names, and the two values are of one unit and counted noun, or stand after the same word. What cannot be
paired so is absent, not different.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from adjudge.data.text import evidence_title
from adjudge.facts.dates import same_scale
from adjudge.facts.extract import facts_of
from adjudge.facts.names import capitalised_words, has_name, initials
from adjudge.facts.records import Comparison, Fact, Kind, Outcome, relate
from adjudge.facts.relations import Contradiction, contradictions
from adjudge.facts.words import Word, fold, is_content, words_of
from adjudge.types import Evidence

SAME_TOPIC = 0.5
"""Share of the claim's other content words that a sentence must have to contradict a number or a date."""
SAME_TOPIC_NAME = 0.6
"""The same for names, which stand in more places of a sentence than numbers."""
MENTION = 0.25
"""Share from which on an equal value counts as a confirmation."""
WINDOW = 4
"""Words before and after a fact that say what it is about."""
_NAMES = (Kind.NAME, Kind.QUOTE)


@dataclass(frozen=True)
class Side:
    """A text with its facts and words; ``topic`` has the content stems, of evidence with title and context."""

    text: str
    facts: tuple[Fact, ...]
    words: tuple[Word, ...]
    topic: frozenset[str]
    folded: frozenset[str]

    def knowing(self, names: frozenset[str]) -> Side:
        """The side without words that begin the sentence and are not among the names."""
        facts = tuple(fact for fact in self.facts if fact.certain or fact.words[0] in names)
        return self if len(facts) == len(self.facts) else replace(self, facts=facts)

    def window(self, fact: Fact) -> frozenset[str]:
        """The content stems around a fact, facts left out."""
        before = [word for word in self.words if word.end <= fact.start][-WINDOW:]
        after = [word for word in self.words if word.start >= fact.end][:WINDOW]
        return frozenset(w.stem for w in (*before, *after) if is_content(w) and not _inside(w, self.facts))

    def neighbours(self, fact: Fact) -> tuple[str, str]:
        """The stems of the word before and of the word after a fact, articles passed over."""
        before = [w.stem for w in self.words if w.end <= fact.start and w.stem not in ("the", "a", "an")]
        after = [w.stem for w in self.words if w.start >= fact.end]
        return (before[-1] if before else "", after[0] if after else "")


def compare(claim: str, evidence: Sequence[Evidence]) -> tuple[Comparison, ...]:
    """How each fact of a claim relates to the evidence, in the order of the claim."""
    return _compare(claim, _texts(evidence))


@lru_cache(maxsize=2048)
def _compare(claim: str, evidence: Texts) -> tuple[Comparison, ...]:
    ours, sides = _sides(claim, evidence)
    acronyms = frozenset().union(*map(initials, (claim, *(text for text, _, _ in evidence))))
    overlaps = [_overlap(ours, side) for side in sides]
    return tuple(
        _compare_name(fact, ours, sides, overlaps, acronyms)
        if fact.kind in _NAMES
        else _compare_value(fact, ours, sides, overlaps)
        for fact in ours.facts
    )


def contradictions_with(claim: str, evidence: Sequence[Evidence]) -> list[tuple[int, Contradiction]]:
    """(sentence, contradiction) by the rules about words, of the sentence that shares most of the claim's words."""
    ours, sides = _sides(claim, _texts(evidence))
    overlaps = [_overlap(ours, side) for side in sides]
    best = max(range(len(sides)), key=overlaps.__getitem__, default=None)
    if best is None or overlaps[best] < SAME_TOPIC or not _names_met(None, ours, sides[best]):
        return []
    side = sides[best]
    return [(best, one) for one in contradictions(ours.words, side.words, ours.facts, side.facts)]


def overlap_of(claim: str, sentence: Evidence) -> float:
    """The share of the claim's content words, facts left out, that a sentence has with title and context."""
    ours, (side,) = _sides(claim, _texts([sentence]))
    return _overlap(ours, side)


Texts = tuple[tuple[str, str, str], ...]
"""(text, context, title) of each evidence sentence."""


def _texts(evidence: Sequence[Evidence]) -> Texts:
    return tuple((sentence.text, sentence.context, evidence_title(sentence)) for sentence in evidence)


def _sides(claim: str, evidence: Texts) -> tuple[Side, list[Side]]:
    """The claim and each sentence; a word that begins a sentence is a name where it is capitalised elsewhere."""
    every = [claim, *(text for texts in evidence for text in texts)]
    known = frozenset().union(*map(capitalised_words, every))
    sides = [_side(text, f"{title} . {context}").knowing(known) for text, context, title in evidence]
    return _side(claim, "").knowing(known), sides


@lru_cache(maxsize=4096)
def _side(text: str, around: str) -> Side:
    words = tuple(words_of(text))
    every = (*words, *words_of(around)) if around.strip(" .") else words
    return Side(
        text,
        facts_of(text),
        words,
        frozenset(word.stem for word in every if is_content(word)),
        frozenset(fold(piece) for word in every for piece in word.text.replace("-", " ").split()),
    )


def _inside(word: Word, facts: Sequence[Fact]) -> bool:
    return any(fact.start < word.end and word.start < fact.end for fact in facts)


def _overlap(claim: Side, evidence: Side) -> float:
    other = {w.stem for w in claim.words if is_content(w) and not _inside(w, claim.facts)}
    return len(other & evidence.topic) / len(other) if other else 1.0


def _compare_value(fact: Fact, claim: Side, sides: Sequence[Side], overlaps: Sequence[float]) -> Comparison:
    """The best pairing of a number, date or time: an equal value before a different one of the same standing."""
    pairings: list[tuple[float, Comparison]] = []
    for position, (side, overlap) in enumerate(zip(sides, overlaps, strict=True)):
        settled = _settled(fact, claim, side)
        for other in side.facts:
            pair = _comparable(fact, other)
            if pair is None:
                continue
            outcome = relate(*pair)
            near = _nearness(fact, other, claim, side)
            if outcome is Outcome.EQUAL:
                if (overlap < MENTION and near < 2) or (math.isinf(fact.high - fact.low) and near < 1):
                    continue  # nearly any number lies within "more than three"
                rank = overlap + 0.2 * near + 0.7
            else:
                if other in settled or not _same_thing(fact, other, claim, side, overlap, near):
                    continue
                rank = overlap + 0.2 * near
            pairings.append((rank, Comparison(fact, outcome, other, position, overlap)))
    if not pairings:
        return Comparison(fact, Outcome.ABSENT)
    return max(pairings, key=lambda pairing: pairing[0])[1]


def _comparable(claim: Fact, evidence: Fact) -> tuple[Fact, Fact] | None:
    if claim.kind is not evidence.kind:
        return None
    if claim.kind is Kind.DATE:
        return same_scale(claim, evidence)
    if claim.unit != evidence.unit:
        return None
    return claim, evidence


def _settled(fact: Fact, claim: Side, side: Side) -> list[Fact]:
    """Values of a sentence that are those of other facts of the claim: they do not contradict this one."""
    return [
        other
        for other in side.facts
        for own in claim.facts
        if own is not fact and (pair := _comparable(own, other)) and relate(*pair) is Outcome.EQUAL
        and own.kind not in _NAMES
    ]  # fmt: skip


def _nearness(fact: Fact, other: Fact, claim: Side, side: Side) -> int:
    """How much of what stands around two values is the same: noun counted, words near, the word before."""
    shared = len(claim.window(fact) & side.window(other))
    near = min(shared, 2) + (2 if fact.head and fact.head == other.head else 0)
    return near + (claim.neighbours(fact)[0] == side.neighbours(other)[0] != "")


def _same_thing(fact: Fact, other: Fact, claim: Side, side: Side, overlap: float, near: int) -> bool:
    """Whether a value that is not the claim's is about the same thing, so that it may contradict."""
    if overlap < SAME_TOPIC or not _names_met(fact, claim, side) or not _others_agree(fact, claim, side):
        return False
    if fact.kind is Kind.NUMBER and not fact.unit:
        if fact.head and other.head and fact.head != other.head:
            return False
        return near >= 2
    if fact.kind is Kind.ORDINAL:
        return fact.head == other.head
    return near >= 1 or (_is_only(fact, claim) and _is_only(other, side))


def _others_agree(fact: Fact, claim: Side, side: Side) -> bool:
    """Whether a sentence speaks about the same time: the figures of another year contradict nothing.

    A number is compared only where the dates of claim and sentence, if both have some, agree; a date only where one of
    the claim's other values does, if the sentence has any to compare them with.
    """
    others = [own for own in claim.facts if own is not fact and own.kind not in _NAMES]
    if fact.kind is Kind.DATE:
        others = [own for own in others if own.kind is Kind.NUMBER]
    else:
        others = [own for own in others if own.kind is Kind.DATE]
    pairs = [
        (own, pair) for own in others for other in side.facts
        if (pair := _comparable(own, other)) and (not own.head or own.head == other.head)
    ]  # fmt: skip
    return not pairs or any(relate(*pair) is not Outcome.DIFFERENT for _, pair in pairs)


def _is_only(fact: Fact, side: Side) -> bool:
    """Whether a text has one value of its kind and unit."""
    return sum(other.kind is fact.kind and other.unit == fact.unit for other in side.facts) == 1


def _names_met(fact: Fact | None, claim: Side, side: Side) -> bool:
    """Whether a sentence, with title and context, has the claim's names."""
    names = [own for own in claim.facts if own.kind is Kind.NAME and own is not fact]
    return all(has_name(name.words, side.folded) for name in names)


def _compare_name(
    fact: Fact, claim: Side, sides: Sequence[Side], overlaps: Sequence[float], acronyms: frozenset[str]
) -> Comparison:
    """A name is equal where a sentence has its words, different where another stands in its place."""
    best: tuple[float, Comparison] | None = None
    if len(fact.words) == 1 and fact.words[0] in acronyms:
        return Comparison(fact, Outcome.EQUAL)
    for position, (side, overlap) in enumerate(zip(sides, overlaps, strict=True)):
        if has_name(fact.words, side.folded):
            comparison = Comparison(fact, Outcome.EQUAL, _mention(fact, side), position, overlap)
            rank = overlap + 1.0
        elif other := _instead(fact, claim, side, overlap):
            comparison = Comparison(fact, Outcome.DIFFERENT, other, position, overlap)
            rank = overlap
        else:
            continue
        if best is None or rank > best[0]:
            best = rank, comparison
    return best[1] if best else Comparison(fact, Outcome.ABSENT)


def _mention(fact: Fact, side: Side) -> Fact | None:
    """Where a sentence has a name; None where only its title or context has it."""
    for other in side.facts:
        if other.kind in _NAMES and has_name(fact.words, frozenset(other.words)):
            return other
    words = [word for word in side.words if fold(word.text) in fact.words]
    if not words:
        return None
    start, end = words[0].start, words[0].end
    return replace(fact, text=side.text[start:end], start=start, end=end)


def _instead(fact: Fact, claim: Side, side: Side, overlap: float) -> Fact | None:
    """The name that a sentence has where the claim has another: after or before the same word, unknown to the claim."""
    if overlap < SAME_TOPIC_NAME or not _names_met(fact, claim, side):
        return None
    before, after = claim.neighbours(fact)
    for other in side.facts:
        if other.kind is not fact.kind or any(word in claim.folded for word in other.words):
            continue
        their_before, their_after = side.neighbours(other)
        if (before and before == their_before) or (after and after == their_after and not before):
            return other
    return None
