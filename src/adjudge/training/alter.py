"""A claim and the sentence that supports it, with a fact both name changed in one of them, so that they contradict.

Three kinds of facts are looked for: a number; a name beside words that leave room for one only ("born in", "directed
by", "wrote", a nationality); a word that has an opposite ("largest", "husband"). The rules are rough, and so is some of
what they make.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

IN_BOTH = 0.25
"""Share of the changes made on both sides: a changed fact is not by itself a false one."""

_NUMBER = re.compile(r"(?<![\d.,])\d{1,4}(?![\d.,]*\d)")
_YEARS = range(1000, 2100)

_PLACED = "born|died|raised|buried|located|situated|based|headquartered|founded|established|held|filmed|set"
_MADE = (
    "directed|written|created|composed|produced|founded|designed|released|published|discovered|invented|painted|"
    "portrayed|played|developed|built|hosted|distributed|owned"
)
_WORD = r"(?:[A-Z]\.|[A-Z][\w'-]*)"
_NAME = rf"{_WORD}(?: (?:of |the |de )?{_WORD})*"
_RELATION = re.compile(
    rf"\b(?:(?P<placed>{_PLACED}) in|(?P<made>{_MADE}) by|(?P<only>capital of|married to|named after))"
    rf" (?P<name>{_NAME})"
    rf"|^(?P<maker>{_NAME}) (?P<makes>directed|wrote|created|composed|founded|designed|discovered|invented|painted) "
    r"|\b(?:is|was) an? (?P<nation>[A-Z][a-z]+(?:an|ish|ese|ch|sh))\b"
)
_MONTHS = frozenset(
    "January February March April May June July August September October November December".split()
)
_OPPOSITES = """
    before after | older younger | oldest youngest | larger smaller | largest smallest | higher lower | highest lowest
    longer shorter | longest shortest | biggest smallest | better worse | best worst | earlier later
    north south | northern southern | east west | eastern western | northeast southwest | northwest southeast
    male female | man woman | men women | father mother | son daughter | brother sister | husband wife | king queen
    won lost | wins loses | increased decreased | rose fell | successful unsuccessful | success failure
    positive negative | major minor | public private | professional amateur | majority minority | began ended
    opened closed | accepted rejected | alive dead | ancient modern | legal illegal | common rare | strong weak
    maternal paternal | protagonist antagonist | inside outside | upper lower | rich poor | guilty innocent
    open closed | allowed forbidden | permitted prohibited | first last | early late | hot cold | warm cold | wet dry
    deep shallow | wide narrow | fast slow | tall short | long short | large small | big small | full empty
    cheap expensive | bought sold | import export | hero villain | friend enemy | summer winter | day night
    indoor outdoor | urban rural | liberal conservative | always never | praised criticized | popular unpopular
    gained lost | passed failed | appointed dismissed | arrived departed | started stopped | acquitted convicted
    boy girl | boys girls | uncle aunt | nephew niece | domestic foreign | optional compulsory
    permanent temporary | victory defeat | newest oldest | fiction nonfiction
"""
_PAIRS = [pair.split() for pair in re.split(r"[|\n]", _OPPOSITES.strip())]
# Of two opposites of a word ("smallest": "largest", "biggest") the first counts.
_OPPOSITE = {word: opposite for pair in reversed(_PAIRS) for word, opposite in (pair, pair[::-1])}

Names = Mapping[str, tuple[str, ...]]
"""Names by the words they stood beside."""


class Altered(NamedTuple):
    """A claim and a sentence after the change, what was changed, and whether the two contradict each other now."""

    claim: str
    sentence: str
    fact: str
    contradicts: bool


def collect_names(claims: Iterable[str]) -> Names:
    """The names in claims, to take others from."""
    by_relation: dict[str, set[str]] = defaultdict(set)
    for claim in claims:
        for relation, name in _relations(claim):
            by_relation[relation].add(name)
    return {relation: tuple(sorted(names)) for relation, names in sorted(by_relation.items())}


def alter(claim: str, sentence: str, names: Names, rng: random.Random) -> Altered | None:
    """Change a fact that a claim and its supporting sentence share; None where none is found."""
    kinds = [_other_number, _other_name, _opposite]
    rng.shuffle(kinds)
    for kind in kinds:
        change = kind(claim, sentence, names, rng)
        if change is None:
            continue
        fact, substitute = change
        chance = rng.random()
        both = chance < IN_BOTH
        in_claim = both or chance < (1 + IN_BOTH) / 2
        return Altered(
            _replace_fact(claim, fact, substitute) if in_claim else claim,
            _replace_fact(sentence, fact, substitute) if both or not in_claim else sentence,
            fact,
            not both,
        )
    return None


Change = tuple[str, str] | None
"""A fact and what takes its place."""


def _other_number(claim: str, sentence: str, names: Names, rng: random.Random) -> Change:
    common = sorted(set(_NUMBER.findall(claim)) & set(_NUMBER.findall(sentence)))
    if not common:
        return None
    digits = rng.choice(common)
    value = int(digits)
    reach = 20 if value in _YEARS else max(3, value)
    return digits, str(rng.choice([n for n in range(max(1, value - reach), value + reach + 1) if n != value]))


def _other_name(claim: str, sentence: str, names: Names, rng: random.Random) -> Change:
    for relation, name in _relations(claim):
        candidates = [
            candidate for candidate in names.get(relation, ()) if candidate not in f"{claim} {sentence}"
        ]
        if _has_word(sentence, name) and candidates:
            return name, rng.choice(candidates)
    return None


def _opposite(claim: str, sentence: str, names: Names, rng: random.Random) -> Change:
    common = sorted(word for word in set(re.findall("[a-z]+", claim)) if word in _OPPOSITE)
    common = [word for word in common if _has_word(sentence, word)]
    if not common:
        return None
    word = rng.choice(common)
    return word, _OPPOSITE[word]


def _relations(claim: str) -> list[tuple[str, str]]:
    """(the words beside it, the name) for every name that stands where there is room for one only."""
    relations = []
    for match in _RELATION.finditer(claim):
        name = match["nation"] or match["maker"] or match["name"]
        relation = match["placed"] or match["made"] or match["only"] or match["makes"] or "nation"
        if name.split()[0] not in _MONTHS:
            relations.append(("written" if relation == "wrote" else relation, name))
    return relations


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _replace_fact(text: str, fact: str, substitute: str) -> str:
    """The text with a fact replaced, and the article before it."""
    article = "an" if substitute[0].lower() in "aeiou" else "a"

    def replacement(match: re.Match[str]) -> str:
        before = match[1]
        return f"{before[0]}{article[1:]} {substitute}" if before else substitute

    pattern = _NUMBER.pattern if fact.isdigit() else rf"(?<!\w){re.escape(fact)}(?!\w)"
    return re.sub(rf"(\b[Aa]n? )?((?:{pattern}))", lambda m: replacement(m) if m[2] == fact else m[0], text)
