"""A made-up encyclopedia with claims about it: any size, seeded, in FEVER's shape, without shortcuts.

Pages come in neighbourhoods (a few towns, rivers, people and their works) that link only within
themselves and share no name, so a split by neighbourhood shares no entity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from random import Random

from adjudge.data.world import claims as planning
from adjudge.data.world import evidence as ranking
from adjudge.data.world import pages as writing
from adjudge.data.world.claims import PHENOMENA
from adjudge.data.world.evidence import Mode
from adjudge.data.world.facts import draft
from adjudge.errors import ConfigError
from adjudge.types import Claim, ClaimId, Example, Label, Page

__all__ = [
    "FEVER_RATIO",
    "PHENOMENA",
    "SPLITS",
    "Mode",
    "Neighbourhood",
    "World",
    "examples",
    "generate",
    "iter_pages",
    "save_world",
    "split",
]

FEVER_RATIO = (0.55, 0.20, 0.25)
"""SUPPORTS, REFUTES, NOT ENOUGH INFO, as in FEVER's training data."""

SPLITS: Mapping[str, float] = {"train": 0.6, "tune": 0.1, "dev": 0.1, "test": 0.2}
"""The usual shares; models are selected on ``tune`` or ``dev`` and ``test`` selects nothing."""

CLAIMS_PER_NEIGHBOURHOOD = 25


@dataclass(frozen=True)
class Neighbourhood:
    """Pages that link to one another, and the claims about them."""

    pages: tuple[Page, ...]
    claims: tuple[Claim, ...]
    kinds: Mapping[ClaimId, str]


@dataclass(frozen=True)
class World:
    """Neighbourhoods; ``kinds`` says which phenomenon (one of ``PHENOMENA``) each claim tests."""

    neighbourhoods: tuple[Neighbourhood, ...]

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """All pages."""
        return tuple(page for part in self.neighbourhoods for page in part.pages)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """All claims, with label and gold groups."""
        return tuple(claim for part in self.neighbourhoods for claim in part.claims)

    @cached_property
    def kinds(self) -> Mapping[ClaimId, str]:
        """The phenomenon of every claim."""
        return {claim: kind for part in self.neighbourhoods for claim, kind in part.kinds.items()}


def generate(claims: int, seed: int, ratio: tuple[float, float, float] = FEVER_RATIO) -> World:
    """Make a world with exactly ``claims`` claims, labels in the given ratio, ids from 1."""
    if claims < 1:
        raise ConfigError(f"claims = {claims}: a world needs at least one claim.")
    size = CLAIMS_PER_NEIGHBOURHOOD
    labels = _labels(claims, size, seed, ratio)
    return World(
        tuple(
            _neighbourhood(seed, neighbourhood, labels[start : start + size], start + 1)
            for neighbourhood, start in enumerate(range(0, claims, size))
        )
    )


def iter_pages(seed: int, sentences: int) -> Iterator[Page]:
    """Pages without claims, made as they are asked for, until there are ``sentences`` sentences."""
    left = sentences
    for neighbourhood in count():
        for page in _neighbourhood(seed, neighbourhood, (), 1).pages:
            if left <= 0:
                return
            if len(page.sentences) > left:
                page = Page(page.id, page.title, page.sentences[:left])
            left -= len(page.sentences)
            yield page


def split(world: World, fractions: Mapping[str, float] = SPLITS) -> dict[str, World]:
    """Deal whole neighbourhoods to named splits: no page, and so no entity, is in two of them."""
    total = len(world.neighbourhoods)
    if not fractions or min(fractions.values()) <= 0 or sum(fractions.values()) > 1 + 1e-9:
        raise ConfigError(
            f"split fractions {dict(fractions)}: expected positive shares that sum to at most 1."
        )
    if total < len(fractions):
        raise ConfigError(
            f"{total} neighbourhoods cannot make {len(fractions)} splits.\n"
            f"Generate at least {len(fractions) * CLAIMS_PER_NEIGHBOURHOOD} claims."
        )
    parts: dict[str, World] = {}
    begin, share = 0, 0.0
    for position, (name, fraction) in enumerate(fractions.items(), start=1):
        share += fraction
        # At least one neighbourhood each, and one left for every split still to come.
        end = min(max(round(share * total), begin + 1), total - (len(fractions) - position))
        parts[name] = World(world.neighbourhoods[begin:end])
        begin = end
    return parts


def examples(world: World, mode: Mode, seed: int, most: int = 5) -> tuple[Example, ...]:
    """Give each claim up to ``most`` sentences, shuffled.

    ``gold`` holds one whole gold group among near misses (for training); ``retrieved`` is what a
    word-overlap ranking over the world's pages finds, with or without gold (for evaluation).
    """
    paired = {claim for claim, kind in world.kinds.items() if kind == planning.TWO_HOP}
    return tuple(ranking.examples(world.pages, world.claims, mode, seed, most, paired))


def save_world(
    world: World,
    folder: Path,
    fractions: Mapping[str, float] = SPLITS,
    seed: int = 0,
    most: int = 5,
) -> None:
    """Write the world as FEVER files.

    ``wiki-001.jsonl`` (the dump), and per split ``claims-NAME.jsonl`` (with gold groups),
    ``NAME.jsonl`` (examples in KGAT's format: the first split with gold, the others retrieved)
    and ``kinds-NAME.jsonl`` (the phenomenon each claim tests).
    """
    import msgspec

    from adjudge.data.fever import write_claims
    from adjudge.data.kgat import write_examples
    from adjudge.data.wiki import write_pages
    from adjudge.io.files import write_atomic

    parts = split(world, fractions)
    write_pages(folder / "wiki-001.jsonl", world.pages)
    for index, (name, part) in enumerate(parts.items()):
        write_claims(folder / f"claims-{name}.jsonl", part.claims)
        mode: Mode = "gold" if index == 0 else "retrieved"
        write_examples(folder / f"{name}.jsonl", examples(part, mode, seed, most))
        with write_atomic(folder / f"kinds-{name}.jsonl") as stream:
            for claim, kind in part.kinds.items():
                stream.write(msgspec.json.encode({"id": claim, "kind": kind}) + b"\n")


def _labels(claims: int, size: int, seed: int, ratio: tuple[float, float, float]) -> list[Label]:
    """The labels in the exact ratio (largest remainders), in random order."""
    if len(ratio) != 3 or min(ratio) < 0 or sum(ratio) <= 0:
        raise ConfigError(
            f"ratio {ratio}: expected three shares that are not negative, such as {FEVER_RATIO}."
        )
    wanted = [claims * share / sum(ratio) for share in ratio]
    counts = [int(share) for share in wanted]
    for index in sorted(range(3), key=lambda i: counts[i] - wanted[i])[: claims - sum(counts)]:
        counts[index] += 1
    # Spread evenly, then shuffled within each neighbourhood: every split keeps the ratio.
    spread = [
        ((k + 0.5) / count_of_label, index, label)
        for index, (label, count_of_label) in enumerate(zip(Label, counts, strict=True))
        for k in range(count_of_label)
    ]
    labels = [label for _, _, label in sorted(spread)]
    rng = Random(f"labels:{seed}")
    parts = (labels[start : start + size] for start in range(0, claims, size))
    return [label for part in parts for label in rng.sample(part, len(part))]


def _neighbourhood(
    seed: int, neighbourhood: int, labels: list[Label] | tuple[()], first: int
) -> Neighbourhood:
    rng = Random(f"world:{seed}:{neighbourhood}")
    entities = draft(seed, neighbourhood, rng)
    plans, planned = planning.plan(entities, labels, rng)
    states = writing.complete(entities, planned, rng)
    pages, references = writing.write(entities, states, rng)
    claims = tuple(
        Claim(first + index, plan.text, plan.label.value, planning.gold(plan, references))
        for index, plan in enumerate(plans)
    )
    kinds = {claim.id: plan.phenomenon for claim, plan in zip(claims, plans, strict=True)}
    return Neighbourhood(tuple(pages), claims, kinds)
