"""Contradictions that are no wrong value: a negation, an opposite word, swapped roles, a quantifier that says too much.

Each rule looks at one sentence of evidence that speaks about the same thing, and asks that what differs stands in the
same company: the negated word is in both, the opposites have a neighbour in common, the names change sides of one verb.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adjudge.facts.opposites import OPPOSITES
from adjudge.facts.records import Fact, Kind
from adjudge.facts.words import COMMON, NEGATIONS, Word, is_content, stem

REACH = 3
"""Words after a negation among which the word that it negates stands."""
NEAR = 12
"""Characters between a name and the verb whose subject it is."""
SHORTEST = 5
"""Letters of a stem from which on "un-" before it makes the opposite."""
NEIGHBOURS = 3
"""Words on each side of an opposite that are its company."""
_UNIVERSAL = frozenset(
    "all every always everyone everybody everything none entirely completely exclusively whole".split()
)
_PARTIAL = frozenset(
    "some most many several few often usually sometimes partly mostly half majority minority rarely occasionally "
    "typically generally largely mainly part parts".split()
)
_PRONOUNS = frozenset("nobody nothing none nowhere".split())
_TURNS = frozenset("only merely just".split())
"""Words that take a negation just before them back: "not only"."""
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non")
_SYMMETRIC = frozenset(
    map(stem, "married met borders joined merged resembles equals near drew tied and".split())
)
"""Words that say the same when the names on their two sides change places."""
_TITLES = frozenset("mr mrs ms dr".split())


class Contradiction(NamedTuple):
    """What contradicts: the rule's name, the words of the claim, and those of the evidence."""

    rule: str
    claim: tuple[Word, ...]
    evidence: tuple[Word, ...]


RULES = ("negation", "opposite", "swapped", "quantifier")


def contradictions(
    claim: Sequence[Word],
    evidence: Sequence[Word],
    claim_facts: Sequence[Fact],
    evidence_facts: Sequence[Fact],
) -> list[Contradiction]:
    """All that the rules find between a claim and a sentence about the same thing."""
    return [
        *_negations(claim, evidence),
        *_opposites(claim, evidence),
        *_swapped(claim, evidence, claim_facts, evidence_facts),
        *_quantifiers(claim, evidence, evidence_facts),
    ]


def _negated(words: Sequence[Word]) -> dict[str, Word]:
    """The stems that are negated, with the word that negates them; "not until May" negates nothing."""
    negated: dict[str, Word] = {}
    for position, word in enumerate(words):
        if not _is_negation(word, position):
            continue
        following = words[position + 1 : position + 1 + REACH]
        texts = [other.text.casefold() for other in words[position + 1 : position + 2 + REACH]]
        if "until" in texts or (texts and texts[0] in _TURNS):
            continue
        for other in following:
            if is_content(other) and other.text.casefold() != "longer":
                negated.setdefault(other.stem, word)
                break
    return negated


def _is_negation(word: Word, position: int) -> bool:
    """Whether a word negates what follows it; "nobody" does at the beginning, "nothing" negates what comes before."""
    text = word.text.casefold().replace("’", "'")
    if text in _PRONOUNS:
        return position <= 1 and text in ("nobody", "none")
    return text in NEGATIONS or text.endswith("n't")


def _negations(claim: Sequence[Word], evidence: Sequence[Word]) -> list[Contradiction]:
    ours, theirs = _negated(claim), _negated(evidence)
    claim_stems, evidence_stems = {w.stem: w for w in claim}, {w.stem: w for w in evidence}
    if _is_double(claim) != _is_double(evidence):
        return []
    conflicts = [
        Contradiction("negation", (negation, claim_stems[stem]), (evidence_stems[stem],))
        for stem, negation in ours.items()
        if stem in evidence_stems and not set(theirs) & set(claim_stems)
    ]
    return conflicts + [
        Contradiction("negation", (claim_stems[stem],), (negation, evidence_stems[stem]))
        for stem, negation in theirs.items()
        if stem in claim_stems
        and not set(ours) & set(evidence_stems)
        and sum(word.stem == stem for word in evidence) == 1  # said without a negation too
    ]


def _is_double(words: Sequence[Word]) -> bool:
    """Whether two negations of a sentence cancel each other: "not without a ticket"."""
    texts = [word.text.casefold() for word in words]
    return "without" in texts and any(_is_negation(w, 9) for w in words[: texts.index("without")])


def _opposites(claim: Sequence[Word], evidence: Sequence[Word]) -> list[Contradiction]:
    """Opposite words with a neighbour in common, neither negated; the evidence lacks the claim's own word."""
    evidence_stems, claim_stems = {w.stem for w in evidence}, {w.stem for w in claim}
    negated = {*_negated(claim), *_negated(evidence)}
    conflicts = []
    for position, word in enumerate(claim):
        if word.stem in evidence_stems or word.stem in negated:
            continue
        company = _company(claim, position)
        for index, other in enumerate(evidence):
            if not _are_opposite(word.stem, other.stem) or other.stem in claim_stems or other.stem in negated:
                continue
            if company & _company(evidence, index):
                conflicts.append(Contradiction("opposite", (word,), (other,)))
    return conflicts


def _are_opposite(one: str, other: str) -> bool:
    """Whether two stems are in the list, or one is the other with "un-", "dis-" or the like before it."""
    if other in OPPOSITES.get(one, ()):
        return True
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= SHORTEST and any(longer == f"{prefix}{shorter}" for prefix in _PREFIXES)


def _company(words: Sequence[Word], position: int) -> frozenset[str]:
    around = [
        *words[max(0, position - NEIGHBOURS) : position],
        *words[position + 1 : position + 1 + NEIGHBOURS],
    ]
    return frozenset(word.stem for word in around if is_content(word))


def _swapped(
    claim: Sequence[Word],
    evidence: Sequence[Word],
    claim_facts: Sequence[Fact],
    evidence_facts: Sequence[Fact],
) -> list[Contradiction]:
    """Two names that stand on the two sides of one verb, and change them."""
    conflicts = []
    for position, verb in enumerate(claim):
        if not is_content(verb) or verb.stem in _SYMMETRIC or _in_name(verb, claim_facts):
            continue
        ours = _sides(verb, claim_facts)
        for index, other in enumerate(evidence):
            if other.stem != verb.stem or _in_name(other, evidence_facts):
                continue
            theirs = _sides(other, evidence_facts)
            if ours is None or theirs is None or _is_passive(claim, position) != _is_passive(evidence, index):
                continue
            if _same_name(ours[0], theirs[1]) and _same_name(ours[1], theirs[0]) and not _same_name(*ours):
                words = tuple(w for w in claim if _in_name(w, ours))
                conflicts.append(
                    Contradiction("swapped", words, tuple(w for w in evidence if _in_name(w, theirs)))
                )
    return conflicts[:1]


def _in_name(word: Word, facts: Sequence[Fact]) -> bool:
    return any(fact.kind is Kind.NAME and fact.start < word.end and word.start < fact.end for fact in facts)


def _sides(verb: Word, facts: Sequence[Fact]) -> tuple[Fact, Fact] | None:
    """The last name before a verb and the first one after it."""
    names = [fact for fact in facts if fact.kind is Kind.NAME]
    before = [name for name in names if name.end <= verb.start <= name.end + NEAR]
    after = [name for name in names if name.start >= verb.end]
    return (before[-1], after[0]) if before and after else None


def _same_name(one: Fact, other: Fact) -> bool:
    return bool((set(one.words) & set(other.words)) - COMMON - _TITLES)


def _is_passive(words: Sequence[Word], position: int) -> bool:
    """Whether "by" follows a verb, or a form of "be" comes before a participle."""
    follows = {word.text.casefold() for word in words[position + 1 : position + 5]}
    before = {word.stem for word in words[max(0, position - 2) : position]}
    return "by" in follows or ("be" in before and words[position].text.casefold().endswith("ed"))


def _quantifiers(
    claim: Sequence[Word], evidence: Sequence[Word], evidence_facts: Sequence[Fact]
) -> list[Contradiction]:
    """All, every or none in the claim where the evidence says most, some, or a share below one."""
    universal = [word for word in claim if word.text.casefold() in _UNIVERSAL]
    texts = {word.text.casefold() for word in evidence}
    both = [word for word in claim if word.text.casefold() == "both"]
    if both and not texts & {"both", "two"}:
        one = [word for word in evidence if word.text.casefold() in ("one", "neither")]
        return [Contradiction("quantifier", tuple(both), tuple(one))] if one else []
    if not universal or texts & _UNIVERSAL:
        return []
    shares = [fact for fact in evidence_facts if fact.unit == "share" and fact.high < 1.0]
    partial = [word for word in evidence if word.text.casefold() in _PARTIAL]
    partial += [w for w in evidence if any(fact.start < w.end and w.start < fact.end for fact in shares)]
    return [Contradiction("quantifier", tuple(universal), tuple(partial))] if partial else []
