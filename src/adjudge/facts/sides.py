"""A claim and a sentence of evidence, each with its facts and words, and how much they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from adjudge.data.text import evidence_title
from adjudge.facts.extract import facts_of
from adjudge.facts.names import capitalised_words, has_name
from adjudge.facts.numbers import ORDINALS
from adjudge.facts.opposites import OPPOSITES, SELECTORS
from adjudge.facts.records import Fact, Kind
from adjudge.facts.words import Word, fold, is_content, stem, words_of
from adjudge.types import Evidence

WINDOW = 4
"""Words before and after a fact that say what it is about."""
BEGINNING = 3
"""Words at the beginning of a sentence that may say which of several things it is about."""
NAMES = (Kind.NAME, Kind.QUOTE)
_ARTICLES = ("the", "a", "an")
_ORDINALS = frozenset(map(stem, ORDINALS))
_DIRECTION = re.compile(r"(?:\b(?P<word>by|to|from|until|till|since)|(?P<dash>[–—-]))\s*$", re.IGNORECASE)
_DIRECTIONS = {"until": "to", "till": "to", "since": "from"}

Texts = tuple[tuple[str, str, str], ...]
"""(text, context, title) of each evidence sentence."""


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
        words = [word for word in self.words if not self.in_fact(word)]
        before = [word for word in words if word.end <= fact.start][-WINDOW:]
        after = [word for word in words if word.start >= fact.end][:WINDOW]
        return frozenset(word.stem for word in (*before, *after) if is_content(word))

    def neighbours(self, fact: Fact) -> tuple[str, str]:
        """The stems of the word before and of the word after a fact, articles passed over."""
        before = [w.stem for w in self.words if w.end <= fact.start and w.stem not in _ARTICLES]
        after = [w.stem for w in self.words if w.start >= fact.end]
        return (before[-1] if before else "", after[0] if after else "")

    def anchor(self, fact: Fact) -> str:
        """The stem of the content word nearest before a fact, other facts passed over: what happened then."""
        before = [w for w in self.words if w.end <= fact.start and is_content(w) and not self.in_fact(w)]
        return before[-1].stem if before else ""

    def direction(self, fact: Fact) -> str:
        """``by``, ``to`` or ``from`` where such a word stands before a fact; a dash is "to"."""
        match = _DIRECTION.search(self.text[max(0, fact.start - 8) : fact.start])
        if not match:
            return ""
        word = "to" if match["dash"] else match["word"].lower()
        return _DIRECTIONS.get(word, word)

    def in_fact(self, word: Word) -> bool:
        """Whether a word is part of a fact."""
        return any(fact.start < word.end and word.start < fact.end for fact in self.facts)

    def content(self) -> frozenset[str]:
        """The content stems that are no part of a fact."""
        return frozenset(w.stem for w in self.words if is_content(w) and not self.in_fact(w))


def texts_of(evidence: Sequence[Evidence]) -> Texts:
    """What of each sentence is compared."""
    return tuple((sentence.text, sentence.context, evidence_title(sentence)) for sentence in evidence)


def sides_of(claim: str, evidence: Texts) -> tuple[Side, list[Side]]:
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


def overlap(claim: Side, evidence: Side) -> float:
    """The share of the claim's content words, facts left out, that the evidence has."""
    other = claim.content()
    return len(other & evidence.topic) / len(other) if other else 1.0


def names_met(fact: Fact | None, claim: Side, side: Side) -> bool:
    """Whether a sentence, with title and context, has the claim's names."""
    names = [own for own in claim.facts if own.kind is Kind.NAME and own is not fact]
    return all(has_name(name.words, side.folded) for name in names)


def has_contrast(claim: Side, side: Side) -> bool:
    """Whether a sentence has the opposite of a word of the claim that it lacks: the south tower, not the north one."""
    ours, theirs = claim.content(), side.content()
    return any(
        (OPPOSITES.get(stem, frozenset()) | SELECTORS.get(stem, frozenset())) & theirs - ours
        for stem in ours - side.topic
    )


def other_subject(claim: Side, side: Side) -> bool:
    """Whether a sentence begins with another one of the claim's things: "The old hall …", "The new hall …"."""
    ours, theirs = (
        {noun.stem: word.stem for word, noun in pairwise(one.words[:BEGINNING])} for one in (claim, side)
    )
    return any(_picks_another(ours[noun], theirs[noun]) for noun in ours.keys() & theirs.keys())


def _picks_another(one: str, other: str) -> bool:
    return (one != other and one in _ORDINALS and other in _ORDINALS) or other in SELECTORS.get(one, ())
