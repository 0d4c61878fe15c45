"""Planning claims before the pages are written, so that a claim's words cannot depend on its label.

Label, subject, relation, wording, polarity and granularity are drawn independently; only then is it
decided what the page says. The claimed value is uniform over its pool under every label, for facts
are uniform and every substitute is drawn without looking at the label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from adjudge.data.world.facts import Draft, Entity
from adjudge.data.world.pages import COARSER, EXACT, MISSING, Fact, Places, States
from adjudge.data.world.schema import COARSE, KINDS, PATHS, Relation
from adjudge.types import Label, SentenceRef

PARAPHRASE = "paraphrase"
NEGATION = "negation"
SUBSTITUTION = "substitution"
GENERALISATION = "generalisation"
TWO_HOP = "two-hop"
MISSING_FACT = "missing fact"
CONFUSION = "entity confusion"
PHENOMENA = (PARAPHRASE, NEGATION, SUBSTITUTION, GENERALISATION, TWO_HOP, MISSING_FACT, CONFUSION)
"""What a claim tests. The first that applies of two-hop, confusion, negation, generalisation names it;
a plain claim is a paraphrase (SUPPORTS), a substitution (REFUTES) or a missing fact (NOT ENOUGH INFO)."""

TWO_HOP_SHARE = 0.10
CONFUSION_SHARE = 0.10
NEGATED_SHARE = 0.15
GENERAL_SHARE = 0.4  # of the relations that have coarser values
SIBLING_SHARE = 0.4  # of the wrong and unknown values, where the page has another relation of the type
AGAIN_SHARE = 0.5  # of the claims about a fact that another claim is about: pairs that differ in the value
_ATTEMPTS = 60


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """A claim and the facts that settle it together; none for NOT ENOUGH INFO."""

    text: str
    label: Label
    phenomenon: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class _ClaimAttempt:
    plan: ClaimPlan
    states: States
    subject: tuple[Fact, ...] = ()


def plan(draft: Draft, labels: Sequence[Label], rng: Random) -> tuple[list[ClaimPlan], States]:
    """One claim for each label, and what the pages must say and leave out for the labels to hold."""
    plans: list[ClaimPlan] = []
    states: States = {}
    seen: set[str] = set()
    asked: dict[bool, list[Fact]] = {True: [], False: []}
    for label in labels:
        known = asked[label is not Label.NOT_ENOUGH_INFO]
        for attempt in _attempts(draft, label, known, rng):
            agrees = all(states.get(fact, state) == state for fact, state in attempt.states.items())
            if agrees and attempt.plan.text not in seen:
                states.update(attempt.states)
                seen.add(attempt.plan.text)
                plans.append(attempt.plan)
                known.extend(attempt.subject)
                break
    return plans, states


def gold(plan: ClaimPlan, references: Places) -> tuple[tuple[SentenceRef, ...], ...]:
    """Every alternative group of sentences that settles the claim."""
    if not plan.facts:
        return ()
    groups = product(*(references[fact] for fact in plan.facts))
    # One sentence may state both facts of a two-hop claim, and two routes may end in the same group.
    return tuple(dict.fromkeys(tuple(dict.fromkeys(group)) for group in groups))


def _attempts(draft: Draft, label: Label, asked: Sequence[Fact], rng: Random) -> Iterator[_ClaimAttempt]:
    """Ever new claims with the label: the form stays until it proves too hard to fit in."""
    chance = rng.random()
    negated = rng.random() < NEGATED_SHARE
    for _ in range(_ATTEMPTS):
        if chance < TWO_HOP_SHARE:
            yield _two_hop(draft, label, negated, rng)
        elif chance < TWO_HOP_SHARE + CONFUSION_SHARE:
            yield _confusion(draft, label, negated, rng)
        else:
            break
    while True:
        yield _single(draft, label, negated, asked, rng)


def _must_match(label: Label, negated: bool) -> bool | None:
    """Whether the claimed value must be the page's; None if the page must not tell."""
    return None if label is Label.NOT_ENOUGH_INFO else (label is Label.SUPPORTS) != negated


def _single(draft: Draft, label: Label, negated: bool, asked: Sequence[Fact], rng: Random) -> _ClaimAttempt:
    if asked and rng.random() < AGAIN_SHARE:
        fact = rng.choice(asked)
    else:
        index = rng.choice(draft.by_kind[rng.choice(tuple(KINDS))])
        open_ = [
            r.name for r in draft.entities[index].kind.relations if r.name != draft.entities[index].identity
        ]
        fact = (index, rng.choice(open_))
    entity = draft.entities[fact[0]]
    relation = entity.kind.relation(fact[1])
    truth = entity.facts[relation.name]
    matches = _must_match(label, negated)
    if relation.type in COARSE and rng.random() < GENERAL_SHARE:
        value, state = _general(relation.type, truth, matches, rng)
        phenomenon = GENERALISATION
        states = {fact: state}
    elif relation.type in COARSE and matches is not True and rng.random() < 0.4:
        # The page is vaguer than the claim: silent on the value inside its class, against it outside.
        value = _pick_inside(relation.type, truth, matches is None, rng)
        phenomenon = GENERALISATION
        states = {fact: COARSER}
    else:
        value, states = _claim_exactly(draft, fact[0], relation, matches, rng)
        phenomenon = {True: PARAPHRASE, False: SUBSTITUTION, None: MISSING_FACT}[matches]
        states[fact] = MISSING if matches is None else EXACT
    text = _write_claim(rng.choice(relation.claims), entity, value, negated)
    needs = () if matches is None else (fact,)
    return _ClaimAttempt(ClaimPlan(text, label, NEGATION if negated else phenomenon, needs), states, (fact,))


def _claim_exactly(
    draft: Draft, index: int, relation: Relation, matches: bool | None, rng: Random
) -> tuple[str, States]:
    """The claimed value, often one that the page gives for another relation of the same type."""
    entity = draft.entities[index]
    truth = entity.facts[relation.name]
    if matches:
        return truth, {}
    siblings = [r.name for r in entity.kind.relations if r.type == relation.type and r is not relation]
    if siblings and rng.random() < SIBLING_SHARE:
        sibling = rng.choice(siblings)
        return entity.facts[sibling], {(index, sibling): EXACT}
    return _pick_other(draft.pools[relation.type], {truth, entity.name}, rng), {}


def _general(type_: str, truth: str, matches: bool | None, rng: Random) -> tuple[str, str]:
    """A coarser value and the state of the page: mostly exact, so that the reader must generalise."""
    classes = tuple(dict.fromkeys(COARSE[type_].values()))
    if matches is None:
        return rng.choice(classes), MISSING
    value = COARSE[type_][truth] if matches else _pick_other(classes, {COARSE[type_][truth]}, rng)
    return value, COARSER if rng.random() < 0.3 else EXACT


def _pick_inside(type_: str, truth: str, inside: bool, rng: Random) -> str:
    """An exact value inside (or outside) the coarser class of the truth."""
    classes = COARSE[type_]
    return rng.choice([value for value in classes if (classes[value] == classes[truth]) == inside])


def _confusion(draft: Draft, label: Label, negated: bool, rng: Random) -> _ClaimAttempt:
    """A claim about one of two namesakes; a wrong or unknown value is the other one's."""
    pairs = [(i, entity.namesake) for i, entity in enumerate(draft.entities) if entity.namesake is not None]
    index, other = rng.choice(pairs)
    entity = draft.entities[index]
    relation = rng.choice(
        [relation for relation in entity.kind.relations if relation.name != entity.identity]
    )
    theirs = draft.entities[other].facts[relation.name]
    if theirs == entity.facts[relation.name]:
        return _single(draft, label, negated, (), rng)
    matches = _must_match(label, negated)
    fact = (index, relation.name)
    value = entity.facts[relation.name] if matches else theirs
    states: States = {fact: MISSING if matches is None else EXACT, (other, relation.name): EXACT}
    text = _write_claim(rng.choice(relation.claims), entity, value, negated)
    return _ClaimAttempt(ClaimPlan(text, label, CONFUSION, () if matches is None else (fact,)), states)


def _two_hop(draft: Draft, label: Label, negated: bool, rng: Random) -> _ClaimAttempt:
    path = rng.choice(PATHS)
    index = rng.choice(draft.by_kind[path.kind])
    entity = draft.entities[index]
    middle = draft.home[entity.facts[path.first]]
    facts: tuple[Fact, Fact] = ((index, path.first), (middle, path.second))
    truth = draft.entities[middle].facts[path.second]
    pool = draft.pools[KINDS[path.target].relation(path.second).type]
    matches = _must_match(label, negated)
    states = dict.fromkeys(facts, EXACT)
    if matches is None:
        states[rng.choice(facts)] = MISSING
        value = rng.choice(pool)
    else:
        value = truth if matches else _pick_other(pool, {truth}, rng)
    text = _write_claim(rng.choice(path.claims), entity, value, negated)
    return _ClaimAttempt(ClaimPlan(text, label, TWO_HOP, () if matches is None else facts), states)


def _pick_other(pool: Sequence[str], avoid: set[str], rng: Random) -> str:
    while (value := rng.choice(pool)) in avoid:
        pass
    return value


_CHOICE = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")


def _write_claim(template: str, entity: Entity, value: str, negated: bool) -> str:
    text = _CHOICE.sub(r"\2" if negated else r"\1", template)
    text = text.replace("{s}", entity.mention).replace("{v}", value)
    return text[0].upper() + text[1:]
