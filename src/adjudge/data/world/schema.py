"""What an entry of the made-up encyclopedia is made of: kinds of entity, their relations, their value types.

``language.toml`` has the kinds and the two-hop relations, with all that pages and claims say of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

import msgspec

from adjudge.data.world.vocabulary import OCCUPATIONS, PRODUCTS


@dataclass(frozen=True, slots=True)
class Relation:
    """A functional relation: an entity has one value, so another value contradicts it.

    ``sentences`` are page templates: ``{s}`` is the subject, ``{v}`` the value. ``claims`` are
    claim templates, in which ``[yes|no]`` holds the wording of the affirmed and of the negated
    claim. ``mirror`` templates state the fact on the value's own page: there ``{s}`` is the value
    and ``{v}`` the subject.
    """

    name: str
    type: str
    sentences: tuple[str, ...]
    claims: tuple[str, ...]
    mirror: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entity. A lead names the relations it states; the last lead states none."""

    name: str
    short: tuple[str, ...]
    leads: tuple[tuple[tuple[str, ...], str], ...]
    joint: tuple[tuple[str, str, str], ...]
    relations: tuple[Relation, ...]
    fillers: tuple[str, ...]

    def relation(self, name: str) -> Relation:
        """The relation of that name."""
        return next(relation for relation in self.relations if relation.name == name)


@dataclass(frozen=True, slots=True)
class Path:
    """A two-hop relation: ``first`` leads from a ``kind`` to a page whose ``second`` is the value."""

    kind: str
    first: str
    target: str
    second: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Language:
    kinds: tuple[Kind, ...]
    paths: tuple[Path, ...]


_LANGUAGE = msgspec.toml.decode((resources.files(__package__) / "language.toml").read_bytes(), type=_Language)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _LANGUAGE.kinds}
PATHS = _LANGUAGE.paths


def _years(start: int, stop: int) -> tuple[str, ...]:
    return tuple(str(year) for year in range(start, stop))


# Every pool is drawn from uniformly, and all coarser classes of a pool have the same size: a value
# then looks the same whether it is the fact, a substitute for it or a guess. Ranges are whole decades.
FIXED_POOLS: dict[str, tuple[str, ...]] = {
    "birth_year": _years(1920, 1960),
    "recent_year": _years(1970, 2010),
    "old_year": _years(1850, 1930),
    "population": tuple(f"{hundreds * 100:,}" for hundreds in range(21, 400)),
    "length": tuple(str(kilometres) for kilometres in range(40, 480)),
    "occupation": tuple(word for words in OCCUPATIONS.values() for word in words),
    "product": tuple(word for words in PRODUCTS.values() for word in words),
    "film_genre": ("drama", "comedy", "western", "horror", "science fiction", "war", "crime", "mystery"),
    "band_genre": ("jazz", "folk", "rock", "punk", "blues", "country", "soul", "reggae"),
}
"""Value types whose values are the same everywhere; the others are names of the neighbourhood."""

COARSE: dict[str, dict[str, str]] = {
    **{
        kind: {year: f"the {year[:3]}0s" for year in FIXED_POOLS[kind]}
        for kind in ("birth_year", "recent_year", "old_year")
    },
    "occupation": {word: general for general, words in OCCUPATIONS.items() for word in words},
    "product": {word: general for general, words in PRODUCTS.items() for word in words},
}
"""Value type to {value: the more general value it implies}."""
