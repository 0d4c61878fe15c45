"""Who and what exists: a neighbourhood of entities and the one true value of each of their relations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

from adjudge.data.world.schema import FIXED_POOLS, KINDS, Kind
from adjudge.data.world.vocabulary import (
    BAND_TITLES,
    COMPANY_TITLES,
    FILM_TITLES,
    FIRST_NAMES,
    NOVEL_TITLES,
    spell,
)

COUNTS = {"person": 9, "town": 4, "river": 3, "film": 3, "novel": 3, "company": 2, "band": 2}
"""Entities per neighbourhood."""
_NAMED = {"region": 3, "hills": 3, "lake": 3}  # they have names, but pages of their own would say little
_FAMILIES = 5  # fewer surnames than people: relatives are near misses for a retriever
_SPELLED = {
    **{kind: count for kind, count in COUNTS.items() if kind != "person"},
    **_NAMED,
    "surname": _FAMILIES,
}
_TITLES = {"film": FILM_TITLES, "novel": NOVEL_TITLES, "company": COMPANY_TITLES, "band": BAND_TITLES}
_IDENTITY = {"person": "occupation", "film": "year", "novel": "year"}


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity: ``facts`` maps each relation to its true value, whether or not a page states it.

    ``mention`` is what a claim calls it, ``short`` what its own page may call it after the lead.
    ``namesake`` is the index of the entity of the same name, and ``identity`` then the relation
    that tells the two apart.
    """

    kind: Kind
    name: str
    page: str
    title: str
    mention: str
    short: tuple[str, ...]
    facts: dict[str, str]
    namesake: int | None = None
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A neighbourhood before its pages are written: entities, value pools, and which page a value has."""

    entities: tuple[Entity, ...]
    pools: dict[str, tuple[str, ...]]
    home: dict[str, int]
    by_kind: dict[str, tuple[int, ...]]


def _relations_by_type(kind: Kind) -> tuple[tuple[str, tuple[str, ...]], ...]:
    types: dict[str, list[str]] = {}
    for relation in kind.relations:
        types.setdefault(relation.type, []).append(relation.name)
    return tuple((type_, tuple(names)) for type_, names in types.items())


_BY_TYPE = {name: _relations_by_type(kind) for name, kind in KINDS.items()}


def draft(seed: int, neighbourhood: int, rng: Random) -> Draft:
    """Draw one neighbourhood: names that no other neighbourhood of the seed has, and all facts."""
    shifts = _shifts(seed)
    names = {
        kind: [spell(kind, neighbourhood * count + k, shifts[kind]) for k in range(count)]
        for kind, count in _SPELLED.items()
    }
    for kind, titles in _TITLES.items():
        names[kind] = [rng.choice(titles).format(stem) for stem in names[kind]]
    people, pronouns = _people(names.pop("surname"), rng)
    names["person"] = people

    # The first two of one kind share a name. Neither is ever a value, so values stay unambiguous.
    twins = rng.choice(("person", "film", "novel"))
    names[twins][1] = names[twins][0]
    if twins == "person":
        pronouns[1] = pronouns[0]
    pools = {**FIXED_POOLS, **{kind: tuple(names[kind]) for kind in ("town", "river", *_NAMED)}}
    pools["person"] = tuple(people[2:])

    entities: list[Entity] = []
    by_kind: dict[str, tuple[int, ...]] = {}
    for kind, count in COUNTS.items():
        first = len(entities)
        by_kind[kind] = tuple(range(first, first + count))
        facts = [_facts(kind, names[kind][k], pools, rng) for k in range(count)]
        paired = kind == twins
        if paired:
            identity = _IDENTITY[kind]
            facts[0][identity], facts[1][identity] = rng.sample(pools[KINDS[kind].relation(identity).type], 2)
        for k in range(count):
            short = (pronouns[k], people[k].split()[1]) if kind == "person" else KINDS[kind].short
            partner = first + 1 - k if paired and k < 2 else None
            entities.append(_entity(KINDS[kind], names[kind][k], short, facts[k], partner))
    home = {entity.name: index for index, entity in enumerate(entities) if entity.namesake is None}
    return Draft(tuple(entities), pools, home, by_kind)


@cache
def _shifts(seed: int) -> dict[str, int]:
    """Where each kind of name starts: apart, so that a neighbourhood's towns and people do not rhyme."""
    rng = Random(f"names:{seed}")
    return {kind: rng.randrange(1 << 20) for kind in _SPELLED}


def _people(surnames: list[str], rng: Random) -> tuple[list[str], list[str]]:
    names: list[str] = []
    pronouns: list[str] = []
    while len(names) < COUNTS["person"]:
        pronoun = rng.choice(("She", "He"))
        name = f"{rng.choice(FIRST_NAMES[pronoun])} {surnames[len(names) % _FAMILIES]}"
        if name not in names:
            names.append(name)
            pronouns.append(pronoun)
    return names, pronouns


def _facts(kind: str, name: str, pools: dict[str, tuple[str, ...]], rng: Random) -> dict[str, str]:
    """Values of the same type differ within an entity, so that a value points at one relation."""
    facts: dict[str, str] = {}
    for type_, relations in _BY_TYPE[kind]:
        values = rng.sample(pools[type_], len(relations) + 1)
        if name in values:  # nobody is their own teacher
            values.remove(name)
        facts.update(zip(relations, values, strict=False))
    return facts


def _entity(
    kind: Kind, name: str, short: tuple[str, ...], facts: dict[str, str], partner: int | None
) -> Entity:
    title, mention, identity = name, name, None
    if kind.name == "river":
        title, mention = f"{name} (river)", f"the {name}"
    if partner is not None:
        identity = _IDENTITY[kind.name]
        value = facts[identity]
        detail = value.split()[-1] if kind.name == "person" else f"{value} {kind.name}"
        title, mention = f"{name} ({detail})", f"the {detail} {name}"
    page = title.replace(" ", "_").replace("(", "-LRB-").replace(")", "-RRB-")
    return Entity(kind, name, page, title, mention, short, facts, partner, identity)
