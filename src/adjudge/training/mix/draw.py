"""Drawing a mix: every source by its share, in the order in which it is to be learnt."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adjudge.errors import DataError
from adjudge.training.mix.settings import MixSettings, MixSource
from adjudge.training.mix.sources import Group, read_groups
from adjudge.training.mix.views import draw_views
from adjudge.types import Example


@dataclass(frozen=True)
class Mix:
    """Training examples in order, and those held out; an id says the source first."""

    train: list[Example]
    held_out: list[Example]


def draw_mix(settings: MixSettings, data: Sequence[Path]) -> Mix:
    """Draw a mix from the files below some data folders. Equal settings and files give equal examples."""
    total = sum(source.share for source in settings.source)
    placed: list[tuple[float, Group]] = []
    held_out_examples: list[Example] = []
    for source in settings.source:
        wanted = round(settings.examples * source.share / total)
        rng = random.Random(f"{settings.seed} {source.name}")
        training, held_out = read_groups(source, settings, data, wanted)
        if not training:
            files = ", ".join(source.paths) or source.kind
            raise DataError(f"Source {source.name}: {files} gives no examples.")
        training = _sample_groups(training, wanted, rng)
        held_out = _sample_groups(held_out, source.held_out_most, rng)
        for group in draw_views(held_out, source, random.Random(source.name)):
            held_out_examples += _prefix_ids(source, group)
        for group in _repeat_groups(training, source, wanted, rng):
            placed.append((rng.random() * source.until, _prefix_ids(source, group)))
    placed.sort(key=lambda item: item[0])
    random.Random(f"held out {settings.seed}").shuffle(held_out_examples)
    return Mix(_number_ids(e for _, group in placed for e in group), _number_ids(held_out_examples))


def _sample_groups(groups: Sequence[Group], wanted: int, rng: random.Random) -> list[Group]:
    """Groups drawn at random, as many as make the examples wanted, or all."""
    order = list(groups)
    rng.shuffle(order)
    count = 0
    for drawn, group in enumerate(order, start=1):
        count += len(group)
        if count >= wanted:
            return order[:drawn]
    return order


def _repeat_groups(
    groups: Sequence[Group], source: MixSource, wanted: int, rng: random.Random
) -> Iterator[Group]:
    """Groups in views drawn anew, in random order, until there are as many examples as wanted."""
    count = 0
    while count < wanted:
        order = list(groups)
        rng.shuffle(order)
        for group in draw_views(order, source, rng):
            if count >= wanted:
                return
            yield group
            count += len(group)


def _prefix_ids(source: MixSource, examples: Iterable[Example]) -> list[Example]:
    return [replace(example, id=f"{source.name}:{example.id}") for example in examples]


def _number_ids(examples: Iterable[Example]) -> list[Example]:
    """The examples with ids of their own: one may be drawn more than once."""
    return [replace(example, id=f"{example.id}#{index}") for index, example in enumerate(examples)]
