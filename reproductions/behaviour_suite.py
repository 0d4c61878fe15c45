"""A few hundred claims with a known answer, by phenomenon: does a verifier do what anybody would expect?

The entities are invented, so that nothing but the documents can tell. Every kind of entity has a short page and
claims about it, both written by hand as templates; the tables below fill them. Nothing is tuned on this suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adjudge.types import Claim, Evidence, Label, Page, Sentence, SentenceRef

S, R, N = (label.value for label in Label)

EXPECTED = {
    "plain support": S,
    "number": R,
    "date": R,
    "negation": R,
    "antonym": R,
    "wrong entity": R,
    "missing fact": N,
    "irrelevant corpus": N,
}
"""Phenomenon → the label its claims have."""


@dataclass(frozen=True)
class Kind:
    """A kind of entity: the columns of its table, its page, and (phenomenon, deciding line, claim) templates.

    ``year`` and ``number`` columns have an altered twin, ``year_`` and ``number_``; other columns have that of the
    next row of the table.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    page: tuple[str, ...]
    claims: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True)
class Case:
    """A claim of the suite; ``gold`` is the line of ``page`` that decides it, None where none does."""

    claim: Claim
    phenomenon: str
    page: Page
    gold: int | None

    def evidence(self) -> tuple[Evidence, ...]:
        """Three of the page's sentences, in its order, with the deciding one among them."""
        keep = {0, 1, 2} if self.gold is None or self.gold < 3 else {0, 1, self.gold}
        return tuple(Evidence(s.text, self.page.id, s.line) for s in self.page.sentences if s.line in keep)


def cases() -> Iterator[Case]:
    """All cases, always the same."""
    number = 0
    for kind in KINDS:
        for row, page in enumerate(_pages(kind)):
            values = _values(kind, row)
            for phenomenon, line, template in kind.claims:
                gold = None if EXPECTED[phenomenon] == N else line
                refs = () if gold is None else ((SentenceRef(page.id, gold),),)
                text = template.format(**values)
                yield Case(Claim(number, text, EXPECTED[phenomenon], refs), phenomenon, page, gold)
                number += 1
    documents = pages()
    for index, text in enumerate(STRANGERS):
        yield Case(
            Claim(number + index, text, N), "irrelevant corpus", documents[index % len(documents)], None
        )


def pages() -> list[Page]:
    """The documents that the claims are about."""
    return [page for kind in KINDS for page in _pages(kind)]


def _pages(kind: Kind) -> Iterator[Page]:
    for row in range(len(kind.rows)):
        values = _values(kind, row)
        sentences = tuple(Sentence(text.format(**values), line) for line, text in enumerate(kind.page))
        name = str(values["name"])
        yield Page(name.replace(" ", "_"), name, sentences)


def _values(kind: Kind, row: int) -> dict[str, str | int]:
    following = kind.rows[(row + 1) % len(kind.rows)]
    values = dict(zip(kind.columns, kind.rows[row], strict=True))
    for column, other in zip(kind.columns, following, strict=True):
        values[f"{column}_"] = other
    for column, shift in (("year", 17), ("number", 35)):
        value = values[column]
        if isinstance(value, int):
            values[f"{column}_"] = value + shift
    return values


_BRIDGE = Kind(
    ("name", "city", "year", "number", "person", "river"),
    (
        ("Tolmen Bridge", "Varsholm", 1934, 412, "Edda Rulind", "Sorva"),
        ("Harrowgate Viaduct", "Pellmar", 1958, 275, "Osric Vane", "Lune"),
        ("Castor Crossing", "Ostrevik", 1971, 640, "Milena Dravic", "Taun"),
        ("Old Ferry Bridge", "Dunmeath", 1889, 188, "Alban Keel", "Wenning"),
        ("Saint Orla Bridge", "Kirrabeg", 2003, 531, "Jonas Thorne", "Ebble"),
    ),
    (
        "{name} is a road bridge in {city}.",
        "It crosses the river {river}.",
        "The bridge was opened to traffic in {year}.",
        "It is {number} metres long.",
        "{person} designed the bridge.",
        "Its western lane is closed to lorries at night.",
    ),
    (
        ("plain support", 2, "{name} was opened in {year}."),
        ("plain support", 4, "{name} was designed by {person}."),
        ("plain support", 0, "There is a bridge called {name} in {city}."),
        ("number", 3, "{name} is {number_} metres long."),
        ("date", 2, "{name} was opened in {year_}."),
        ("negation", 1, "{name} does not cross the river {river}."),
        ("negation", 4, "{person} did not design {name}."),
        ("antonym", 5, "The western lane of {name} is open to lorries at night."),
        ("wrong entity", 4, "{name} was designed by {person_}."),
        ("wrong entity", 1, "{name} crosses the river {river_}."),
        ("missing fact", 0, "{name} cost nine million crowns to build."),
        ("missing fact", 0, "{person} was paid in gold for {name}."),
    ),
)

_WRITER = Kind(
    ("name", "city", "year", "number", "person", "book"),
    (
        ("Ilse Marrow", "Brenholt", 1902, 14, "Karl Odum", "The Salt Road"),
        ("Tobias Fenwright", "Lower Asham", 1931, 9, "Greta Lindqvist", "Winter Orchard"),
        ("Nadia Kessarin", "Port Velo", 1948, 22, "Paul Amberley", "A House of Reeds"),
        ("Rufus Okonjo-Bell", "Maresfield", 1967, 6, "Ines Carrow", "Nine Lanterns"),
        ("Helma Strand", "Tarnwick", 1979, 17, "Otto Breck", "The Glass Harbour"),
    ),
    (
        "{name} is a novelist.",
        "{name} was born in {city} in {year}.",
        "The writer has published {number} novels, all of them long.",
        "The best known of them is {book}.",
        "Critics praised {book} when it appeared.",
        "{name} is married to the painter {person}.",
    ),
    (
        ("plain support", 1, "{name} was born in {city}."),
        ("plain support", 5, "{person} is the spouse of {name}."),
        ("plain support", 0, "{name} writes novels."),
        ("number", 2, "{name} has published {number_} novels."),
        ("date", 1, "{name} was born in {year_}."),
        ("negation", 5, "{name} is not married."),
        ("negation", 1, "{name} was not born in {city}."),
        ("antonym", 2, "The novels of {name} are short."),
        ("antonym", 4, "Critics condemned {book} when it appeared."),
        ("wrong entity", 5, "{name} is married to {person_}."),
        ("wrong entity", 1, "{name} was born in {city_}."),
        ("missing fact", 0, "{name} plays the cello."),
        ("missing fact", 0, "{name} studied law in Vienna."),
    ),
)

_TEAM = Kind(
    ("name", "city", "year", "number", "person", "rival"),
    (
        ("Varsholm Rovers", "Varsholm", 1911, 18200, "Dario Peck", "Ostrevik United"),
        ("Kirrabeg Athletic", "Kirrabeg", 1926, 9400, "Lena Hartog", "Dunmeath City"),
        ("Pellmar Wanderers", "Pellmar", 1898, 31050, "Sven Ardal", "Tarnwick Town"),
        ("Port Velo Stars", "Port Velo", 1954, 12700, "Marco Insel", "Brenholt Albion"),
        ("Maresfield Harriers", "Maresfield", 1983, 6150, "Aoife Quill", "Asham Rangers"),
    ),
    (
        "{name} is a football club from {city}.",
        "The club was founded in {year}.",
        "Its stadium holds {number} spectators.",
        "{person} has been the head coach since last summer.",
        "In the final of the cup the club beat {rival}.",
        "Tickets are cheap for students.",
    ),
    (
        ("plain support", 1, "{name} was founded in {year}."),
        ("plain support", 3, "{person} coaches {name}."),
        ("plain support", 4, "{name} defeated {rival} in the cup final."),
        ("number", 2, "The stadium of {name} holds {number_} spectators."),
        ("date", 1, "{name} was founded in {year_}."),
        ("negation", 0, "{name} is not a football club."),
        ("antonym", 4, "{name} lost to {rival} in the final of the cup."),
        ("antonym", 5, "Tickets of {name} are expensive for students."),
        ("wrong entity", 3, "The head coach of {name} is {person_}."),
        ("wrong entity", 4, "In the final of the cup {name} beat {rival_}."),
        ("missing fact", 0, "{name} plays in green shirts."),
        ("missing fact", 0, "{name} is owned by a bank."),
    ),
)

_MUSEUM = Kind(
    ("name", "city", "year", "number", "person", "thing"),
    (
        ("the Amberley Museum", "Lower Asham", 1876, 320, "Clara Whitlow", "clocks"),
        ("the Museum of Reeds", "Tarnwick", 1992, 85, "Hugo Bastide", "baskets"),
        ("the Lindqvist Gallery", "Brenholt", 1939, 540, "Frida Noll", "paintings"),
        ("the Carrow Collection", "Ostrevik", 1963, 150, "Emil Sarto", "maps"),
        ("the Breck House", "Dunmeath", 2011, 64, "Mona Iversen", "lamps"),
    ),
    (
        "{city} is home to {name}.",
        "In {city}, {name} opened its doors in {year}.",
        "On show in {name} are {number} old {thing}.",
        "The founder of {name} was {person}.",
        "Entry to {name} is free on Sundays.",
        "The largest room of {name} is on the ground floor.",
    ),
    (
        ("plain support", 0, "You find {name} in {city}."),
        ("plain support", 3, "{person} founded {name}."),
        ("plain support", 2, "{thing} are on show in {name}."),
        ("number", 2, "{number_} {thing} are on show in {name}."),
        ("date", 1, "The year in which {name} opened was {year_}."),
        ("negation", 4, "Entry to {name} is not free on Sundays."),
        ("negation", 3, "{person} did not found {name}."),
        ("antonym", 5, "The smallest room of {name} is on the ground floor."),
        ("wrong entity", 3, "{person_} founded {name}."),
        ("wrong entity", 0, "You find {name} in {city_}."),
        ("missing fact", 0, "Dogs are allowed in {name}."),
        ("missing fact", 0, "Last year {name} had a million visitors."),
    ),
)

_SHIP = Kind(
    ("name", "city", "year", "number", "person", "cargo"),
    (
        ("MS Sorva Star", "Ostrevik", 1966, 142, "Ragna Holt", "timber"),
        ("SS Marigold", "Port Velo", 1907, 98, "Ellis Crane", "coal"),
        ("MV Northern Lapwing", "Kirrabeg", 1988, 211, "Bram Oster", "grain"),
        ("SS Duchess of Taun", "Pellmar", 1921, 165, "Wanda Pryce", "wool"),
        ("MS Glass Harbour", "Varsholm", 1999, 187, "Tomas Eriksen", "cement"),
    ),
    (
        "The {name} is a cargo ship built in {city}.",
        "She was launched in {year}.",
        "The ship is {number} metres long and carries {cargo}.",
        "Her captain is {person}.",
        "She is a fast ship with a small crew.",
        "The ship sank in a storm and was later raised.",
    ),
    (
        ("plain support", 1, "The {name} was launched in {year}."),
        ("plain support", 2, "The {name} carries {cargo}."),
        ("plain support", 3, "{person} is the captain of the {name}."),
        ("number", 2, "The {name} is {number_} metres long."),
        ("date", 1, "The {name} was launched in {year_}."),
        ("negation", 2, "The {name} does not carry {cargo}."),
        ("negation", 5, "The {name} never sank."),
        ("antonym", 4, "The {name} is a slow ship."),
        ("antonym", 4, "The {name} has a large crew."),
        ("wrong entity", 3, "{person_} is the captain of the {name}."),
        ("wrong entity", 0, "The {name} was built in {city_}."),
        ("missing fact", 0, "The {name} has been to Australia."),
        ("missing fact", 0, "The {name} is painted red."),
    ),
)

KINDS = (_BRIDGE, _WRITER, _TEAM, _MUSEUM, _SHIP)

STRANGERS = tuple(
    f"{who} {what}"
    for who, told in (
        ("Photosynthesis", ("needs light.", "takes place in roots.", "was discovered by a monk.")),
        ("The Treaty of Ghent", ("ended a war.", "was signed in 1814.", "has forty articles.")),
        ("Basalt", ("is a volcanic rock.", "floats on water.", "is mined in Peru.")),
        ("The violin", ("has four strings.", "was invented in China.", "is played with a bow.")),
        ("Mount Erebus", ("is a volcano.", "is lower than Everest.", "erupted in 1972.")),
        ("Insulin", ("lowers blood sugar.", "is made by the liver.", "was first used in 1922.")),
        ("Chess", ("is played on 64 squares.", "comes from Norway.", "has a world champion.")),
        ("The blue whale", ("eats krill.", "lays eggs.", "weighs more than an elephant.")),
    )
    for what in told
)
