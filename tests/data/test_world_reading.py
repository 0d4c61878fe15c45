"""A reader that knows only the text: hand-written patterns must reach the label of every claim.

It shares no table with the generator. Pages give facts, a claim with its names blanked gives a
relation, and the verdict follows by comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import pytest

from adjudge.data import world
from adjudge.types import Claim, Page, SentenceRef

YEAR, PERSON, NAME = r"(\d{4}|the \d{4}s)", r"([A-Z][a-z]+ [A-Z][a-z]+)", r"([A-Z][a-z]+)"
CLASSES = {
    "artist": "painter sculptor photographer potter",
    "scientist": "chemist physicist biologist astronomer",
    "athlete": "swimmer footballer runner boxer",
    "politician": "senator governor minister ambassador",
    "vehicles": "bicycles trucks buses motorcycles",
    "food": "cheese bread chocolate noodles",
    "clothing": "coats gloves shirts hats",
    "furniture": "chairs tables beds desks",
}
CLASS_OF = {word: general for general, words in CLASSES.items() for word in words.split()}
WORK = "|".join([*CLASS_OF, *CLASSES])
GENRE = "(drama|comedy|western|horror|science fiction|war|crime|mystery)"
MUSIC = "(jazz|folk|rock|punk|blues|country|soul|reggae)"

# kind, relation, how a page states it, how a claim (names blanked) speaks of it
RELATIONS = [
    ("person", "occupation", rf"\ban? ({WORK})\b", rf"\ban? ({WORK})\.$"),
    ("person", "birth year", rf"born in (?:[A-Z]\w+ in )?{YEAR}", r"(?:born|birth) .*\d"),
    (
        "person",
        "birthplace",
        rf"(?:born(?: and raised)? in|native of|an? (?:{WORK}) from) {NAME}",
        r"born|birthplace",
    ),
    ("person", "home", rf"(?:lives|settled|house) in {NAME}", r"home|reside"),
    ("person", "medal", rf"medal in {YEAR}", r"medal"),
    ("town", "region", rf"region of {NAME}|town in {NAME},", r"part of|located"),
    ("town", "river", rf"river {NAME}", r"<town> .*on the (?:river )?<river>|river at <town>"),
    ("town", "population", r"population of ([\d,]+)|had ([\d,]+) inhabitants", r"inhabitants|population"),
    ("town", "hall", rf"market hall (?:built in|of \w+ dates from) {YEAR}", r"market hall .*\d"),
    ("town", "station", rf"railway (?:station|station opened|reached \w+) in {YEAR}", r"railway"),
    ("river", "source", rf"the {NAME} Hills", r"Hills"),
    ("river", "mouth", rf"Lake {NAME}", r"Lake"),
    ("river", "length", r"(\d+) kilometres", r"kilometres"),
    ("river", "bridge", rf"bridge (?:over the \w+ was completed )?in {YEAR}", r"bridge"),
    ("river", "flood", rf"flood (?:of the \w+ was recorded )?in {YEAR}", r"flood"),
    ("film", "year", rf"is a {YEAR} .*film|(?:released|cinemas) in {YEAR}", r"released|c[ao]me out"),
    ("film", "genre", rf"{GENRE} film", rf"{GENRE} (?:film|genre)"),
    ("film", "director", rf"(?:directed by|director of .* was|director) {PERSON}", r"direct|film by"),
    ("film", "composer", rf"(?:music by|music of .* was written by|score by) {PERSON}", r"compose"),
    ("film", "shot", rf"(?:filmed|location) in {NAME}", r"filmed|shooting"),
    ("novel", "year", rf"is a {YEAR} novel|(?:published|appeared) in {YEAR}", r"published|c[ao]me out"),
    (
        "novel",
        "author",
        rf"(?:novel by|was written by|author of .* is) {PERSON}",
        r"<person> .*writ|<person> wrote|book by",
    ),
    ("novel", "illustrator", rf"(?:illustrated|drawings) by {PERSON}", r"illustrate|pictures"),
    ("novel", "setting", rf"(?:set|place) in {NAME}", r"plot|setting"),
    (
        "company",
        "founded",
        rf"(?:founded|business) in {YEAR}",
        r"(?:established|founded) in \d|founded in the \d|lished in the",
    ),
    ("company", "founder", rf"(?:founded(?: in \d+)?|started) by {PERSON}", r"founder|set up"),
    ("company", "chief", rf"(?:run by|executive of .* is) {PERSON}", r"chief|headed"),
    ("company", "hq", rf"(?:office|based) in {NAME}", r"headquartered|main office"),
    ("company", "product", rf"({WORK})\b", rf"({WORK})\.$"),
    ("band", "formed", rf"(?:formed|concert|formed in \w+) in {YEAR}", r"started|c[ao]me together"),
    ("band", "hometown", rf"(?:formed in|comes from|band from) {NAME}", r"home town|band from"),
    ("band", "singer", rf"(?:singer of .* is|singer|has) {PERSON}(?: as|\.)", r"vocalist|singer"),
    ("band", "genre", rf"{MUSIC} (?:music|bands?)", rf"{MUSIC}(?: group)?\.$"),
]
# What a value's own page may say: the pattern gives the subject, the page the value.
MIRRORS = [
    ("river", r"flows past the town of (.+)\."),
    ("director", r"directed the film (.+)\."),
    ("composer", r"wrote the music for the film (.+)\."),
    ("author", r"wrote the novel (.+)\."),
    ("illustrator", r"drew the pictures for the novel (.+)\."),
    ("founder", r"founded the company (.+)\."),
    ("chief", r"is chief executive of (.+)\."),
    ("singer", r"sings in the band (.+)\."),
]
TWO_HOPS = [
    (
        "person",
        "birthplace",
        "region",
        r"born in the region of|birthplace of (?:the )?<person> is (?:not )?in",
    ),
    ("person", "home", "river", r"a town on the (?:river )?<river>"),
    ("film", "director", "birthplace", r"director of .*<film> was (?:not )?born|native"),
    (
        "novel",
        "author",
        "occupation",
        rf"(?:author of .*<novel> is|<novel> was (?:not )?written by) (?:not )?an? ({WORK})",
    ),
    ("company", "founder", "home", r"founder of .* live|resident"),
    ("company", "hq", "region", r"head office|based in the region"),
    ("band", "hometown", "river", r"<river>"),
]
KIND = re.compile(r" is an? (?:\S+ )*?(town|river|film|novel|company|maker|band)\b")

Stated = Mapping[SentenceRef, list[tuple[str, str, str]]]  # sentence → (page, relation, value as written)


def bare(title: str) -> str:
    return re.sub(r" \(.*\)", "", title)


def kind_of(page: Page) -> str:
    found = KIND.search(page.sentences[0].text)
    return {"maker": "company"}.get(found[1], found[1]) if found else "person"


def read_facts(pages: Sequence[Page]) -> Stated:
    """What each sentence states."""
    by_title = {page.title: page.id for page in pages}
    stated: dict[SentenceRef, list[tuple[str, str, str]]] = {}
    for page in pages:
        kind, name = kind_of(page), bare(page.title)
        for sentence in page.sentences:
            facts = stated.setdefault(SentenceRef(page.id, sentence.line), [])
            for relation, pattern in MIRRORS:
                if found := re.search(pattern, sentence.text):
                    facts.append((by_title[found[1]], relation, name))
            own = [row for row in RELATIONS if row[0] == kind and not facts]  # else it is about another page
            for _, relation, pattern, _ in own:
                if found := re.search(pattern, sentence.text):
                    facts.append((page.id, relation, next(value for value in found.groups() if value)))
    return stated


def parse(claim: str, pages: Iterable[Page]) -> tuple[str, list[str], str, bool]:
    """The subject's page, the chain of relations, the claimed value, and whether it is denied."""
    blanked, names, subjects = claim, {}, []
    for page in sorted(pages, key=lambda page: -len(page.title)):
        name = bare(page.title)
        detail = re.search(r"\((.*)\)", page.title)
        mention = f"{detail[1]} {name}" if detail and detail[1] != "river" else name
        kind = kind_of(page)
        if re.search(rf"\b{mention}\b", blanked, re.IGNORECASE):
            names[name] = claim.index(name)
            subjects.append((kind, page.id, name))
            blanked = re.sub(rf"\b{mention}\b", f"<{kind}>", blanked, flags=re.IGNORECASE)
    negated = bool(re.search(r"\b(not|cannot|other than)\b", claim))
    subjects.sort(key=lambda item: names[item[2]])
    for kind, *chain, pattern in [*TWO_HOPS, *((k, r, p) for k, r, _, p in RELATIONS)]:
        chosen = [item for item in subjects if item[0] == kind]
        if chosen and re.search(pattern, blanked):
            others = [name for _, _, name in subjects if name != chosen[0][2]]
            return chosen[0][1], chain, others[0] if others else literal(blanked), negated
    raise AssertionError(f"no pattern reads {claim!r} ({blanked!r})")


def literal(text: str) -> str:
    """A value that is no page: a year, a number, a kind of thing, a place without a page."""
    text = re.sub(r"\b(By profession|The 1\d+ film)\b", "", text)
    for pattern in (YEAR, r"([\d,]*\d)\b", rf"\b({WORK})\b", rf"\b{GENRE}\b", rf"\b{MUSIC}\b"):
        if found := re.search(pattern, text):
            return found[1]
    return re.findall(r"(?<!^)\b[A-Z]\w+\b", text.replace(" Hills", "").replace("Lake ", ""))[-1]


def compare(claimed: str, stated: str | None) -> bool | None:
    if stated is None:
        return None
    if claimed == stated:
        return True
    general = {
        word: CLASS_OF.get(word, f"the {word[:3]}0s" if word.isdigit() else "") for word in (claimed, stated)
    }
    if general[stated] == claimed:
        return True
    return None if general[claimed] == stated else False


def verdict(claim: Claim, pages: Sequence[Page], stated: Stated, visible: Iterable[SentenceRef]) -> str:
    facts = {(page, relation): value for ref in visible for page, relation, value in stated[ref]}
    where, chain, claimed, negated = parse(claim.text, pages)
    if len(chain) == 2:
        middle = facts.get((where, chain[0]), "")
        where = next((page.id for page in pages if bare(page.title) == middle), "")
    agrees = compare(claimed, facts.get((where, chain[-1])))
    return "NOT ENOUGH INFO" if agrees is None else "SUPPORTS" if agrees != negated else "REFUTES"


Case = tuple[Claim, Sequence[Page], Stated]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    parts = world.generate(1000, seed=3, ratio=(1, 1, 1)).neighbourhoods
    read = [(part, read_facts(part.pages)) for part in parts]
    return [(claim, part.pages, stated) for part, stated in read for claim in part.claims]


def test_a_reader_of_the_pages_agrees_with_every_label(cases):
    for claim, pages, stated in cases:
        assert verdict(claim, pages, stated, stated) == claim.label, claim


def test_each_gold_group_is_enough_by_itself(cases):
    for claim, pages, stated in cases:
        for group in claim.gold:
            assert verdict(claim, pages, stated, group) == claim.label, claim


def test_nothing_outside_the_gold_groups_settles_a_claim(cases):
    for claim, pages, stated in cases:
        known = {ref for group in claim.gold for ref in group}
        assert verdict(claim, pages, stated, stated.keys() - known) == "NOT ENOUGH INFO", claim


def test_every_sentence_of_a_two_hop_group_is_needed(cases):
    pairs = [
        (claim, pages, stated, group)
        for claim, pages, stated in cases
        for group in claim.gold
        if len(group) > 1
    ]
    assert len(pairs) > 30
    for claim, pages, stated, group in pairs:
        for ref in group:
            assert verdict(claim, pages, stated, [ref]) == "NOT ENOUGH INFO", claim
