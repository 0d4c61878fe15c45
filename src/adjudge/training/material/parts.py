"""Facts of parts and of scales: what share of a group, what rose or fell, which of two is more."""

from __future__ import annotations

import random
from fractions import Fraction

from adjudge.training.material.amounts import draw_whole_number
from adjudge.training.material.text import Fact, fill, format_thousands, pick_other, write_number
from adjudge.training.material.wordings import read_wordings

SHARES = {
    Fraction(1, 2): ("half of", "one in two of", "50 per cent of"),
    Fraction(1, 4): ("a quarter of", "one in four of", "25% of"),
    Fraction(3, 4): ("three quarters of", "three in four of", "75% of"),
    Fraction(1, 5): ("a fifth of", "one in five of", "20 percent of"),
    Fraction(1, 10): ("a tenth of", "one in ten of", "10% of"),
    Fraction(2, 5): ("two fifths of", "two in five of", "40 per cent of"),
    Fraction(3, 5): ("three fifths of", "60% of"),
    Fraction(4, 5): ("four fifths of", "four in five of", "80 percent of"),
    Fraction(9, 10): ("nine in ten of", "90% of"),
    Fraction(1, 1): ("all of", "every one of", "100% of"),
    Fraction(0, 1): ("none of", "not one of", "0% of"),
}
HALF = Fraction(1, 2)
_TOTALS = (10, 20, 40, 60, 80, 100, 120, 200, 400, 1000)
_MEASURING = {
    "heavier": "weighs",
    "more expensive": "costs",
    "older": "has an age of",
    "larger": "holds",
    "faster": "runs at",
    "thirstier": "uses",
    "higher": "has a height of",
    "wider": "has a width of",
}


def share(rng: random.Random) -> Fact:
    """What part of a group did something."""
    texts = read_wordings("amounts")["share"]
    group, deed = rng.choice(texts["groups"]), rng.choice(texts["deeds"])
    part = rng.choice(list(SHARES))
    total = rng.choice(_TOTALS)
    if (part * total).denominator != 1:
        total = 100
    different = rng.choice([p for p in SHARES if abs(p - part) > Fraction(1, 10)])
    slots = {"g": group, "bare": group.removeprefix("the "), "d": deed}
    evidence = [f"{words} {group} {deed}" for words in SHARES[part]]
    if 0 < part < 1:
        count = int(part * total)
        evidence += fill(
            ("{n} of the {t} {bare} {d}", "of {t} {bare}, {m} {d}"),
            n=count,
            m=write_number(rng, count),
            t=total,
            **slots,
        )
    supports, refutes = list(evidence), [f"{words} {group} {deed}" for words in SHARES[different]]
    most, few = fill(texts["most"], **slots), fill(texts["few"], **slots)
    if part > HALF:
        supports, refutes = supports + (most if part < 1 else []), refutes + few
    elif part < HALF:
        supports, refutes = supports + (few if part > 0 else []), refutes + most
    if 0 < part < 1:
        supports += fill(texts["some"], **slots)
        refutes += fill(texts["all_or_none"], **slots)
    else:
        refutes += fill(texts["not_all"] if part == 1 else texts["at_least_one"], **slots)
    opens = [
        f"{rng.choice(SHARES[part])} {group} {pick_other(rng, texts['deeds'], deed)}",
        f"{rng.choice(SHARES[part])} {pick_other(rng, texts['groups'], group)} {deed}",
        f"{group} {deed} more often than in the past",
    ]
    return Fact(fill(evidence), fill(supports), fill(refutes), fill(opens))


def trend(rng: random.Random) -> Fact:
    """What rose, fell or stayed."""
    texts = read_wordings("amounts")["trend"]
    subject, when = rng.choice(texts["things"]), rng.choice(texts["times"])
    start = draw_whole_number(rng, 12, 5000)
    way = rng.choice(["up", "up", "down", "down", "same"])
    up, down = round(start * rng.uniform(1.05, 2.2)) + 1, max(2, round(start * rng.uniform(0.3, 0.93)) - 1)
    end = {"up": up, "down": down, "same": start}[way]
    slots = {
        "x": subject,
        "t": when,
        "a": format_thousands(start),
        "b": format_thousands(end),
        "d": format_thousands(abs(end - start)),
    }
    turned = [text for name in ("up", "down", "same") if name != way for text in texts[name]]
    numbered = texts[f"{way}_numbered"]
    refutes = fill(turned, **slots)
    if way != "same":
        refutes += fill(numbered[:1], **{**slots, "a": slots["b"], "b": slots["a"]})
    unrelated = pick_other(rng, texts["things"], subject)
    return Fact(
        fill(numbered + texts[way], **slots),
        fill(texts[way], **slots) * 2 + fill(numbered[:1], **slots),
        refutes,
        fill(texts[rng.choice(["up", "down"])], x=unrelated, t=when) + fill(texts["open"], **slots),
    )


def comparison(rng: random.Random) -> Fact:
    """Two things on one scale."""
    texts = read_wordings("amounts")["comparison"]
    scale = rng.choice(texts["scale"])
    more, unit = scale["more"], scale["unit"]
    first = rng.choice(texts["things"])
    second = pick_other(rng, texts["things"], first)
    third = pick_other(rng, texts["things"], first, second)
    small = draw_whole_number(rng, 2, 900)
    large = small + max(1, round(small * rng.uniform(0.1, 1.5)))
    slots = {
        "a": first,
        "b": second,
        "c": third,
        "more": more,
        "less": scale["less"],
        "x": f"{format_thousands(large)} {unit}",
        "y": f"{format_thousands(small)} {unit}",
        "v": _MEASURING.get(more, "has a length of" if unit == "metres" else "lasts"),
        "else": "newer" if more != "older" else "dearer",
    }
    evidence = texts["evidence"] + (
        ["of the two, {a} is the {more} one, {b} the other"] if " " not in more else []
    )
    return Fact(
        fill(evidence, **slots), *(fill(texts[part], **slots) for part in ("supports", "refutes", "open"))
    )


FRAMES = {"share": share, "trend": trend, "comparison": comparison}
