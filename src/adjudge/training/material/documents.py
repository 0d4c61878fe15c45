"""Pairs about ordinary documents: a fact in one wording as evidence, in others as claims; made anew for each number."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from adjudge.training.material import amounts, events, norms, parts, times
from adjudge.training.material.text import Fact
from adjudge.types import Evidence, Example, Label

FRAMES: dict[str, Callable[[random.Random], Fact]] = {
    **norms.FRAMES,
    **amounts.FRAMES,
    **parts.FRAMES,
    **times.FRAMES,
    **events.FRAMES,
}

WEIGHTS = {
    "permission": 3,
    "state": 3,
    "amount": 4,
    "finding": 3,
    "duty": 2,
    "date": 2,
    "decision": 2,
    "limit": 2,
}
"""How often a frame with many wordings is drawn, compared with 1 for the others."""


def document_groups(count: int, seed: int) -> Iterator[list[Example]]:
    """Groups of examples that share a fact, each with one claim of every label, in turns of the evidence's wording."""
    names = list(FRAMES)
    weights = [WEIGHTS.get(name, 1) for name in names]
    rng = random.Random(f"documents {seed}")
    for index in range(count):
        name = rng.choices(names, weights)[0]
        yield build_group(FRAMES[name](rng), f"{name}-{index}", rng)


def build_group(fact: Fact, identity: str, rng: random.Random) -> list[Example]:
    """One claim of every label about a fact, each with a wording of its own."""
    examples = []
    for label, claims in (
        (Label.SUPPORTS, fact.supports),
        (Label.REFUTES, fact.refutes),
        (Label.NOT_ENOUGH_INFO, fact.open),
    ):
        if not claims:
            continue
        evidence = rng.choice(fact.evidence)
        claim = rng.choice(claims)
        if claim == evidence and rng.random() < 0.9:  # a copy teaches nothing
            claim = rng.choice(claims)
        examples.append(Example(f"{identity}-{label.name[0]}", claim, (Evidence(evidence),), label.value))
    return examples
