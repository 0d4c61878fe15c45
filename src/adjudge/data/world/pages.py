"""Writing the pages of a neighbourhood: which facts are stated, in what words, on which line."""

from __future__ import annotations

from random import Random

from adjudge.data.world.facts import Draft, Entity
from adjudge.data.world.schema import COARSE
from adjudge.types import Page, Sentence, SentenceRef

EXACT, COARSER, MISSING = "exact", "coarser", "missing"

Fact = tuple[int, str]
"""An entity's index and the name of one of its relations."""
States = dict[Fact, str]
Places = dict[Fact, list[SentenceRef]]
_Line = tuple[str, tuple[str, ...], tuple[Fact, ...]]  # text, links, the facts it states


def complete(draft: Draft, planned: States, rng: Random) -> States:
    """Decide for every fact that the claims leave open whether its page states it."""
    states = dict(planned)
    for index, entity in enumerate(draft.entities):
        for relation in entity.kind.relations:
            fact = (index, relation.name)
            if fact not in states:
                chance = rng.random()
                coarse = relation.type in COARSE
                states[fact] = MISSING if chance < 0.22 else COARSER if coarse and chance < 0.32 else EXACT
        if entity.identity is not None:  # the title gives it away
            states[index, entity.identity] = EXACT
    return states


def write(draft: Draft, states: States, rng: Random) -> tuple[list[Page], Places]:
    """The pages of a neighbourhood and where each stated fact stands (mirrored facts stand twice)."""
    mirrored = _mirrors(draft, states, rng)
    pages: list[Page] = []
    references: Places = {}
    for index, entity in enumerate(draft.entities):
        lines = _lines(draft, index, entity, states, rng)
        lines += mirrored.get(index, ())
        if rng.random() < 0.6:
            lines.append((_phrase(rng.choice(entity.kind.fillers), entity, "", rng), (), ()))
        rest = lines[1:]
        rng.shuffle(rest)
        lines[1:] = rest
        for line_number, (_, _, facts) in enumerate(lines):
            for fact in facts:
                references.setdefault(fact, []).append(SentenceRef(entity.page, line_number))
        sentences = tuple(
            Sentence(text, line_number, links) for line_number, (text, links, _) in enumerate(lines)
        )
        pages.append(Page(entity.page, entity.title, sentences))
    return pages, references


def _lines(draft: Draft, index: int, entity: Entity, states: States, rng: Random) -> list[_Line]:
    facts, kind = entity.facts, entity.kind
    open_ = {r.name: r for r in kind.relations if states[index, r.name] != MISSING}
    exact = {name for name in open_ if states[index, name] == EXACT}

    leads = [lead for lead in kind.leads if exact.issuperset(lead[0])]
    needs, template = leads[int(rng.random() * len(leads))]
    name = _subject(entity)
    lines = [_line(draft, index, needs, _sentence(template.replace("{s}", name).format_map(facts)))]
    for stated in needs:
        del open_[stated]

    for first, second, template in kind.joint:
        if first in open_ and second in open_ and exact.issuperset((first, second)) and rng.random() < 0.35:
            text = _phrase(template, entity, "", rng).format_map(facts)
            lines.append(_line(draft, index, (first, second), text))
            del open_[first], open_[second]
    for relation_name, relation in open_.items():
        value = facts[relation_name]
        if states[index, relation_name] == COARSER:
            value = COARSE[relation.type][value]
        options = relation.sentences
        text = _phrase(options[int(rng.random() * len(options))], entity, value, rng)
        lines.append(_line(draft, index, (relation_name,), text))
    return lines


def _line(draft: Draft, index: int, relations: tuple[str, ...], text: str) -> _Line:
    facts = draft.entities[index].facts
    values = (facts[name] for name in relations)
    # A coarser value is never an entity's name, so every value found here is in the sentence.
    links = tuple(draft.entities[draft.home[value]].page for value in values if value in draft.home)
    return text, links, tuple((index, name) for name in relations)


def _mirrors(draft: Draft, states: States, rng: Random) -> dict[int, list[_Line]]:
    """Facts told again on the value's page; never of a namesake, whose bare name would be ambiguous."""
    lines: dict[int, list[_Line]] = {}
    for index, entity in enumerate(draft.entities):
        if entity.namesake is not None:
            continue
        for relation in entity.kind.relations:
            if not relation.mirror or states[index, relation.name] != EXACT or rng.random() > 0.3:
                continue
            home = draft.home[entity.facts[relation.name]]
            text = _phrase(rng.choice(relation.mirror), draft.entities[home], entity.name, rng)
            lines.setdefault(home, []).append((text, (entity.page,), ((index, relation.name),)))
    return lines


def _subject(entity: Entity) -> str:
    return f"the {entity.name}" if entity.kind.name == "river" else entity.name


def _phrase(template: str, entity: Entity, value: str, rng: Random) -> str:
    """Fill in subject and value; a template of several relations keeps its other fields."""
    name = _subject(entity)
    chance = rng.random()
    if chance < 0.4 and template.startswith("{s}"):
        name = entity.short[chance < 0.2]
    return _sentence(template.replace("{s}", name).replace("{v}", value))


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
