"""Facts of people and things: decisions, deeds, offices, places, contents, findings."""

from __future__ import annotations

import random

from adjudge.training.material.text import Fact, fill, pick_other, spell_number
from adjudge.training.material.wordings import read_wordings
from adjudge.training.material.words import FIRST_NAMES, LAST_NAMES, PLACES

_TITLES = ("Mr", "Ms", "Dr", "Mrs", "Professor")


def draw_person(rng: random.Random) -> str:
    """A first and a last name, sometimes a title and the last."""
    if rng.random() < 0.2:
        return f"{rng.choice(_TITLES)} {rng.choice(LAST_NAMES)}"
    return f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"


def decision(rng: random.Random) -> Fact:
    """What a body decided, in words or by how many votes."""
    texts = read_wordings("events")["decision"]
    body, matter = rng.choice(texts["bodies"]), rng.choice(texts["matters"])
    approved = rng.random() < 0.5
    same, turned = ("approved", "rejected") if approved else ("rejected", "approved")
    more, fewer = sorted(rng.sample(range(30), 2), reverse=True)
    ayes, noes = (more, fewer) if approved else (fewer, more)
    slots = {
        "who": body,
        "what": matter,
        "who2": pick_other(rng, texts["bodies"], body),
        "what2": pick_other(rng, texts["matters"], matter),
        "someone": draw_person(rng),
        "city": rng.choice(PLACES),
        "ayes": ayes,
        "noes": noes,
        "ayes_words": spell_number(ayes),
        "noes_words": spell_number(noes),
    }
    if rng.random() < 0.35:
        evidence = fill(texts["counted"], **slots)
    else:
        end = rng.choice(texts["ends"])
        evidence = fill([text + end for text in texts[same]], **slots)
    unrelated = fill(texts[rng.choice(["approved", "rejected"])], who=body, what=slots["what2"])
    return Fact(
        evidence,
        fill(texts[same], **slots),
        fill(texts[turned], **slots),
        unrelated + fill(texts["open"], **slots),
    )


def deed(rng: random.Random) -> Fact:
    """Who did what: actively, passively, with the wrong person, or denied."""
    texts = read_wordings("events")["deed"]
    deed_text = rng.choice(texts["deeds"])
    (past, participle), thing = _split_forms(deed_text)
    (past2, participle2), thing2 = _split_forms(pick_other(rng, texts["deeds"], deed_text))
    who, wrong = draw_person(rng), draw_person(rng)
    slots = {"who": who, "wrong": wrong, "past": past, "part": participle, "thing": thing}
    slots |= {"past2": past2, "part2": participle2, "thing2": thing2, "city": rng.choice(PLACES)}
    when = rng.choice(texts["ends"]).format(year=rng.randint(1950, 2024), city=rng.choice(PLACES))
    if rng.random() < 0.3:
        named = {**slots, "who": f"{who}, {rng.choice(texts['jobs'])},"}
        evidence = fill([f"{text}{when}" for text in texts["named"]], **named)
    else:
        evidence = fill([f"{text}{when}" for text in texts["done"]], **slots)
    return Fact(
        evidence,
        fill(texts["done"], **slots),
        fill(texts["done"], **{**slots, "who": wrong}) + fill(texts["denied"], **slots),
        fill(texts["open"], **slots),
    )


def office(rng: random.Random) -> Fact:
    """Who holds an office, and since when."""
    texts = read_wordings("events")["office"]
    role, house = rng.choice(texts["roles"]), rng.choice(texts["houses"])
    who, wrong = draw_person(rng), draw_person(rng)
    slots = {"r": role, "h": house, "who": who, "wrong": wrong, "y": rng.randint(1990, 2024)}
    slots |= {"r2": pick_other(rng, texts["roles"], role), "h2": pick_other(rng, texts["houses"], house)}
    return Fact(
        fill(texts["held"] + texts["since"] * 2, **slots),
        fill(texts["held"], **slots),
        fill(texts["held"], **{**slots, "who": wrong}) + fill(texts["denied"], **slots),
        fill(texts["open"], **slots),
    )


def location(rng: random.Random) -> Fact:
    """Where a thing is kept."""
    texts = read_wordings("events")["location"]
    subject, spot = rng.choice(texts["things"]), rng.choice(texts["spots"])
    slots = {"x": subject, "p": spot, "wrong": pick_other(rng, texts["spots"], spot)}
    return Fact(
        fill(texts["kept"], **slots),
        fill(texts["kept"], **slots),
        fill(texts["kept"], x=subject, p=slots["wrong"]) + fill(texts["denied"], **slots),
        fill(texts["kept"], x=pick_other(rng, texts["things"], subject), p=spot)
        + fill(texts["open"], **slots),
    )


def contents(rng: random.Random) -> Fact:
    """What something contains or is free of."""
    texts = read_wordings("events")["contents"]
    product, ingredient = rng.choice(texts["things"]), rng.choice(texts["stuffs"])
    has = rng.random() < 0.5
    same, turned = ("with", "without") if has else ("without", "with")
    slots = {"x": product, "s": ingredient}
    evidence = fill(texts[same], **slots)
    if has:
        first, second = rng.sample([s for s in texts["stuffs"] if s != ingredient], 2)
        listed = rng.sample([ingredient, first, second], 3)
        evidence += fill([f"ingredients of {product}: {listed[0]}, {listed[1]} and {listed[2]}"])
        opens = fill(texts["open"], **slots)
    else:
        opens = fill(
            texts[rng.choice(["with", "without"])], x=product, s=pick_other(rng, texts["stuffs"], ingredient)
        )
    opens += fill(
        texts[rng.choice(["with", "without"])], x=pick_other(rng, texts["things"], product), s=ingredient
    )
    return Fact(evidence, fill(texts[same], **slots), fill(texts[turned], **slots), opens)


def finding(rng: random.Random) -> Fact:
    """What a study found: a rise, a fall, or no effect."""
    texts = read_wordings("events")["finding"]
    cause, effect = rng.choice(texts["causes"]), rng.choice(texts["effects"])
    ways = ("raises", "lowers", "neither")
    way = rng.choice(["raises", "raises", "lowers", "lowers", "neither"])
    slots = {"c": cause, "e": effect}
    opening = rng.choice(texts["openings"]).format(n=rng.randint(20, 4000), m=rng.randint(2, 36))
    end = rng.choice(texts["ends"] + (texts["ends_of_change"] if way != "neither" else []))
    end = end.format(n=rng.randint(4, 60))
    evidence = [opening + text + (end if text.endswith("{e}") else "") for text in texts[way]]
    supports = fill(texts[way], **slots)
    if way != "neither":
        supports += fill(texts["affects"], **slots)
    return Fact(
        fill(evidence, **slots),
        supports,
        [text for name in ways if name != way for text in fill(texts[name], **slots)],
        fill(texts[rng.choice(ways)], c=cause, e=pick_other(rng, texts["effects"], effect))
        + fill(texts[rng.choice(ways)], c=pick_other(rng, texts["causes"], cause), e=effect),
    )


def quantified(rng: random.Random) -> Fact:
    """All, some, none, only."""
    texts = read_wordings("events")["quantified"]
    things, done = rng.choice(texts["wholes"]), rng.choice(texts["deeds"])
    ways = ("every", "none", "some")
    way = rng.choice(ways)
    slots = {"x": things, "d": done, "n": spell_number(rng.randint(2, 9))}
    return Fact(
        fill(texts[way], **slots),
        fill(texts[way] + texts.get(f"besides_{way}", []), **slots),
        [text for name in ways if name != way for text in fill(texts[name], **slots)]
        + fill(texts.get(f"against_{way}", []), **slots),
        fill(texts[rng.choice(ways)], **{**slots, "d": pick_other(rng, texts["deeds"], done)})
        + fill(texts[rng.choice(ways)], **{**slots, "x": pick_other(rng, texts["wholes"], things)}),
    )


def _split_forms(deed_text: str) -> tuple[list[str], str]:
    """``wrote/written the report`` → ([wrote, written], the report)."""
    forms, _, thing = deed_text.partition(" ")
    return forms.split("/"), thing


FRAMES = {
    "decision": decision,
    "deed": deed,
    "office": office,
    "location": location,
    "contents": contents,
    "finding": finding,
    "quantified": quantified,
}
