"""Facts of people and things: decisions, deeds, offices, places, contents, findings."""

from __future__ import annotations

import random

from adjudge.training.material.text import Fact, filled, in_words, other
from adjudge.training.material.wordings import wordings
from adjudge.training.material.words import FIRST_NAMES, LAST_NAMES, PLACES

_TITLES = ("Mr", "Ms", "Dr", "Mrs", "Professor")


def person(rng: random.Random) -> str:
    """A first and a last name, sometimes a title and the last."""
    if rng.random() < 0.2:
        return f"{rng.choice(_TITLES)} {rng.choice(LAST_NAMES)}"
    return f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"


def decision(rng: random.Random) -> Fact:
    """What a body decided, in words or by how many votes."""
    texts = wordings("events")["decision"]
    body, matter = rng.choice(texts["bodies"]), rng.choice(texts["matters"])
    approved = rng.random() < 0.5
    same, turned = ("approved", "rejected") if approved else ("rejected", "approved")
    more, fewer = sorted(rng.sample(range(30), 2), reverse=True)
    ayes, noes = (more, fewer) if approved else (fewer, more)
    slots = {
        "who": body,
        "what": matter,
        "who2": other(rng, texts["bodies"], body),
        "what2": other(rng, texts["matters"], matter),
        "someone": person(rng),
        "city": rng.choice(PLACES),
        "ayes": ayes,
        "noes": noes,
        "ayes_words": in_words(ayes),
        "noes_words": in_words(noes),
    }
    if rng.random() < 0.35:
        evidence = filled(texts["counted"], **slots)
    else:
        end = rng.choice(texts["ends"])
        evidence = filled([text + end for text in texts[same]], **slots)
    unrelated = filled(texts[rng.choice(["approved", "rejected"])], who=body, what=slots["what2"])
    return Fact(
        evidence,
        filled(texts[same], **slots),
        filled(texts[turned], **slots),
        unrelated + filled(texts["open"], **slots),
    )


def deed(rng: random.Random) -> Fact:
    """Who did what: actively, passively, with the wrong person, or denied."""
    texts = wordings("events")["deed"]
    deed_text = rng.choice(texts["deeds"])
    (past, participle), thing = _forms(deed_text)
    (past2, participle2), thing2 = _forms(other(rng, texts["deeds"], deed_text))
    who, wrong = person(rng), person(rng)
    slots = {"who": who, "wrong": wrong, "past": past, "part": participle, "thing": thing}
    slots |= {"past2": past2, "part2": participle2, "thing2": thing2, "city": rng.choice(PLACES)}
    when = rng.choice(texts["ends"]).format(year=rng.randint(1950, 2024), city=rng.choice(PLACES))
    if rng.random() < 0.3:
        named = {**slots, "who": f"{who}, {rng.choice(texts['jobs'])},"}
        evidence = filled([f"{text}{when}" for text in texts["named"]], **named)
    else:
        evidence = filled([f"{text}{when}" for text in texts["done"]], **slots)
    return Fact(
        evidence,
        filled(texts["done"], **slots),
        filled(texts["done"], **{**slots, "who": wrong}) + filled(texts["denied"], **slots),
        filled(texts["open"], **slots),
    )


def office(rng: random.Random) -> Fact:
    """Who holds an office, and since when."""
    texts = wordings("events")["office"]
    role, house, who, wrong = (
        rng.choice(texts["roles"]),
        rng.choice(texts["houses"]),
        person(rng),
        person(rng),
    )
    slots = {"r": role, "h": house, "who": who, "wrong": wrong, "y": rng.randint(1990, 2024)}
    slots |= {"r2": other(rng, texts["roles"], role), "h2": other(rng, texts["houses"], house)}
    return Fact(
        filled(texts["held"] + texts["since"] * 2, **slots),
        filled(texts["held"], **slots),
        filled(texts["held"], **{**slots, "who": wrong}) + filled(texts["denied"], **slots),
        filled(texts["open"], **slots),
    )


def location(rng: random.Random) -> Fact:
    """Where a thing is kept."""
    texts = wordings("events")["location"]
    subject, spot = rng.choice(texts["things"]), rng.choice(texts["spots"])
    slots = {"x": subject, "p": spot, "wrong": other(rng, texts["spots"], spot)}
    return Fact(
        filled(texts["kept"], **slots),
        filled(texts["kept"], **slots),
        filled(texts["kept"], x=subject, p=slots["wrong"]) + filled(texts["denied"], **slots),
        filled(texts["kept"], x=other(rng, texts["things"], subject), p=spot)
        + filled(texts["open"], **slots),
    )


def contents(rng: random.Random) -> Fact:
    """What something contains or is free of."""
    texts = wordings("events")["contents"]
    product, ingredient = rng.choice(texts["things"]), rng.choice(texts["stuffs"])
    has = rng.random() < 0.5
    same, turned = ("with", "without") if has else ("without", "with")
    slots = {"x": product, "s": ingredient}
    evidence = filled(texts[same], **slots)
    if has:
        first, second = rng.sample([s for s in texts["stuffs"] if s != ingredient], 2)
        listed = rng.sample([ingredient, first, second], 3)
        evidence += filled([f"ingredients of {product}: {listed[0]}, {listed[1]} and {listed[2]}"])
        opens = filled(texts["open"], **slots)
    else:
        opens = filled(
            texts[rng.choice(["with", "without"])], x=product, s=other(rng, texts["stuffs"], ingredient)
        )
    opens += filled(
        texts[rng.choice(["with", "without"])], x=other(rng, texts["things"], product), s=ingredient
    )
    return Fact(evidence, filled(texts[same], **slots), filled(texts[turned], **slots), opens)


def finding(rng: random.Random) -> Fact:
    """What a study found: a rise, a fall, or no effect."""
    texts = wordings("events")["finding"]
    cause, effect = rng.choice(texts["causes"]), rng.choice(texts["effects"])
    ways = ("raises", "lowers", "neither")
    way = rng.choice(["raises", "raises", "lowers", "lowers", "neither"])
    slots = {"c": cause, "e": effect}
    opening = rng.choice(texts["openings"]).format(n=rng.randint(20, 4000), m=rng.randint(2, 36))
    end = rng.choice(texts["ends"] + (texts["ends_of_change"] if way != "neither" else []))
    end = end.format(n=rng.randint(4, 60))
    evidence = [opening + text + (end if text.endswith("{e}") else "") for text in texts[way]]
    supports = filled(texts[way], **slots)
    if way != "neither":
        supports += filled(texts["affects"], **slots)
    return Fact(
        filled(evidence, **slots),
        supports,
        [text for name in ways if name != way for text in filled(texts[name], **slots)],
        filled(texts[rng.choice(ways)], c=cause, e=other(rng, texts["effects"], effect))
        + filled(texts[rng.choice(ways)], c=other(rng, texts["causes"], cause), e=effect),
    )


def quantified(rng: random.Random) -> Fact:
    """All, some, none, only."""
    texts = wordings("events")["quantified"]
    things, done = rng.choice(texts["wholes"]), rng.choice(texts["deeds"])
    ways = ("every", "none", "some")
    way = rng.choice(ways)
    slots = {"x": things, "d": done, "n": in_words(rng.randint(2, 9))}
    return Fact(
        filled(texts[way], **slots),
        filled(texts[way] + texts.get(f"besides_{way}", []), **slots),
        [text for name in ways if name != way for text in filled(texts[name], **slots)]
        + filled(texts.get(f"against_{way}", []), **slots),
        filled(texts[rng.choice(ways)], **{**slots, "d": other(rng, texts["deeds"], done)})
        + filled(texts[rng.choice(ways)], **{**slots, "x": other(rng, texts["wholes"], things)}),
    )


def _forms(deed_text: str) -> tuple[list[str], str]:
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
