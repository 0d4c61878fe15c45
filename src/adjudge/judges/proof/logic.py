"""The seven relations of natural logic, their joins, and the automaton that turns a proof into a verdict.

Relations are of sets x (what the evidence says) and y (what the claim says) within all things D (MacCartney, 2009):

    ≡  x = y                                 ⊑  x ⊂ y                       ⊒  x ⊃ y
    ¬  x ∩ y = ∅ and x ∪ y = D               ⥯  x ∩ y = ∅ and x ∪ y ≠ D
    ⌣  x ∩ y ≠ ∅ and x ∪ y = D               #  all other cases

A proof is a sequence of relations; the automaton begins at SUPPORTS and follows one transition a step. It is the join
of the relations, kept to what a verdict needs: ≡ and ⊑ are SUPPORTS, ¬ and ⥯ are REFUTES, all others NOT ENOUGH INFO.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from adjudge.types import Label


class Operator(StrEnum):
    """A relation of natural logic, by its sign."""

    EQUIVALENCE = "≡"
    FORWARD = "⊑"
    REVERSE = "⊒"
    NEGATION = "¬"
    ALTERNATION = "⥯"
    COVER = "⌣"
    INDEPENDENCE = "#"


S, R, N = Label.SUPPORTS, Label.REFUTES, Label.NOT_ENOUGH_INFO

_ORDER = "≡⊑⊒¬⥯⌣#"
_JOINS = {
    "≡": "≡⊑⊒¬⥯⌣#",
    "⊑": "⊑⊑#⥯⥯##",
    "⊒": "⊒#⊒⌣#⌣#",
    "¬": "¬⌣⥯≡⊒⊑#",
    "⥯": "⥯#⥯⊑#⊑#",
    "⌣": "⌣⌣#⊒⊒##",
    "#": "#######",
}
JOIN: Mapping[tuple[Operator, Operator], Operator] = {
    (Operator(first), Operator(second)): Operator(_JOINS[first][_ORDER.index(second)])
    for first in _ORDER
    for second in _ORDER
}
"""x to y, y to z → x to z, where this is certain; # where several relations are possible."""

TRANSITIONS: Mapping[Label, Mapping[Operator, Label]] = {
    S: dict(zip(map(Operator, _ORDER), (S, S, N, R, R, N, N), strict=True)),
    R: dict(zip(map(Operator, _ORDER), (R, N, R, S, N, S, N), strict=True)),
    N: dict(zip(map(Operator, _ORDER), [N] * len(_ORDER), strict=True)),
}
"""State → operator → state. ProoFVer's, which has no ⌣; its transitions follow from the joins."""


def run_automaton(operators: Iterable[Operator]) -> Label:
    """The verdict of a proof: where the automaton is at its end. An empty proof proves nothing."""
    state, steps = S, 0
    for operator in operators:
        state, steps = TRANSITIONS[state][operator], steps + 1
    return state if steps else N


Distribution = Mapping[Operator, float]
"""Operator → its probability."""


def label_probabilities(steps: Sequence[Distribution]) -> dict[Label, float]:
    """P(end state) when the operator of each step is drawn by itself: Σ over all proofs of their probability."""
    if not steps:
        return {S: 0.0, R: 0.0, N: 1.0}
    mass = {S: 1.0, R: 0.0, N: 0.0}
    for distribution in steps:
        after = dict.fromkeys(mass, 0.0)
        for state, share in mass.items():
            for operator, p in distribution.items():
                after[TRANSITIONS[state][operator]] += share * p
        mass = after
    return mass


def best_proof(steps: Sequence[Distribution], end: Label) -> tuple[Operator, ...] | None:
    """The most probable operators after which the automaton is at ``end``; None where there are none."""
    paths: dict[Label, tuple[float, tuple[Operator, ...]]] = {S: (0.0, ())}
    for distribution in steps:
        after: dict[Label, tuple[float, tuple[Operator, ...]]] = {}
        for state, (score, path) in paths.items():
            for operator, p in distribution.items():
                target = TRANSITIONS[state][operator]
                value = score + (math.log(p) if p > 0 else -math.inf)
                if value > after.get(target, (-math.inf, ()))[0]:
                    after[target] = (value, (*path, operator))
        paths = after
    return paths[end][1] if steps and end in paths else None
