"""Drawing a mix: every source by its share, in the order in which it is to be learnt."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adjudge.errors import DataError
from adjudge.training.mix.settings import MixSettings, MixSource
from adjudge.training.mix.sources import Group, groups_of
from adjudge.training.mix.views import shown
from adjudge.types import Example


@dataclass(frozen=True)
class Mix:
    """Training examples in order, and those held out; an id says the source first."""

    train: list[Example]
    held_out: list[Example]


def draw(settings: MixSettings, data: Path) -> Mix:
    """Draw a mix from the files below a data folder. Equal settings and files give equal examples."""
    total = sum(one.share for one in settings.source)
    placed: list[tuple[float, Group]] = []
    held: list[Example] = []
    for one in settings.source:
        wanted = round(settings.examples * one.share / total)
        rng = random.Random(f"{settings.seed} {one.name}")
        kept, aside = groups_of(one, settings, data, wanted)
        if not kept:
            raise DataError(f"Source {one.name}: {', '.join(one.paths) or one.kind} gives no examples.")
        kept, aside = _some(kept, wanted, rng), _some(aside, one.held_out_most, rng)
        held += _named(one, (e for group in shown(aside, one, random.Random(one.name)) for e in group))
        for group in _repeated(kept, one, wanted, rng):
            placed.append((rng.random() * one.until, _named(one, group)))
    placed.sort(key=lambda item: item[0])
    random.Random(f"held out {settings.seed}").shuffle(held)
    return Mix(_numbered(e for _, group in placed for e in group), _numbered(held))


def _some(groups: Sequence[Group], wanted: int, rng: random.Random) -> list[Group]:
    """Groups drawn at random, as many as make the examples wanted, or all."""
    order = list(groups)
    rng.shuffle(order)
    count = 0
    for number, group in enumerate(order, start=1):
        count += len(group)
        if count >= wanted:
            return order[:number]
    return order


def _repeated(groups: Sequence[Group], one: MixSource, wanted: int, rng: random.Random) -> Iterator[Group]:
    """Groups in views drawn anew, in random order, until there are as many examples as wanted."""
    count = 0
    while count < wanted:
        order = list(groups)
        rng.shuffle(order)
        for group in shown(order, one, rng):
            if count >= wanted:
                return
            yield group
            count += len(group)


def _named(one: MixSource, examples: Iterable[Example]) -> list[Example]:
    return [replace(example, id=f"{one.name}:{example.id}") for example in examples]


def _numbered(examples: Iterable[Example]) -> list[Example]:
    """The examples with ids of their own: one may be drawn more than once."""
    return [replace(example, id=f"{example.id}#{number}") for number, example in enumerate(examples)]
