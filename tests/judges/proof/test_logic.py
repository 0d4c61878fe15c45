"""The relations against sets, and the automaton against the relations: both exhaustively."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from adjudge.judges.proof.logic import (
    JOIN,
    TRANSITIONS,
    Operator,
    best_proof,
    label_probabilities,
    run_automaton,
)
from adjudge.types import Label

S, R, N = Label
EVERYTHING = frozenset(range(5))
# As MacCartney has it, ∅ and D themselves are left out.
SETS = [frozenset(c) for size in range(1, 5) for c in combinations(EVERYTHING, size)]


def relation(x: frozenset[int], y: frozenset[int]) -> Operator:
    """The one relation that two sets are in, by its definition."""
    apart, all_of_it = not x & y, x | y == EVERYTHING
    if x == y:
        return Operator.EQUIVALENCE
    if x < y:
        return Operator.FORWARD
    if x > y:
        return Operator.REVERSE
    if apart:
        return Operator.NEGATION if all_of_it else Operator.ALTERNATION
    return Operator.COVER if all_of_it else Operator.INDEPENDENCE


@pytest.fixture(scope="module")
def possible() -> dict[tuple[Operator, Operator], set[Operator]]:
    """(x to y, y to z) → every relation that x can have to z, over all sets of five things."""
    relations = {(x, y): relation(x, y) for x, y in product(SETS, SETS)}
    joins: dict[tuple[Operator, Operator], set[Operator]] = {}
    for x, y, z in product(SETS, SETS, SETS):
        joins.setdefault((relations[x, y], relations[y, z]), set()).add(relations[x, z])
    return joins


def test_the_table_of_joins_is_what_sets_do(possible: dict[tuple[Operator, Operator], set[Operator]]):
    assert len(possible) == len(JOIN) == 49
    for pair, relations in possible.items():
        if len(relations) == 1:
            assert JOIN[pair] in relations, pair
        else:
            assert JOIN[pair] is Operator.INDEPENDENCE, pair


def test_maccartneys_published_joins():
    # His Table 5.2: the cells that hold one relation, by row.
    published = """
    ≡≡≡ ≡⊑⊑ ≡⊒⊒ ≡¬¬ ≡⥯⥯ ≡⌣⌣ ≡## ⊑≡⊑ ⊑⊑⊑ ⊑¬⥯ ⊑⥯⥯ ⊒≡⊒ ⊒⊒⊒ ⊒¬⌣ ⊒⌣⌣ ¬≡¬ ¬⊑⌣ ¬⊒⥯ ¬¬≡ ¬⥯⊒ ¬⌣⊑ ¬## ⥯≡⥯ ⥯⊒⥯ ⥯¬⊑ ⥯⌣⊑ ⌣≡⌣ ⌣⊑⌣
    ⌣¬⊒ ⌣⥯⊒ #≡# #¬#
    """.split()
    certain = {(a, b): c for a, b, c in published}
    for pair, joined in JOIN.items():
        assert joined == certain.get((pair[0].value, pair[1].value), "#"), pair


STATES = {
    Operator.EQUIVALENCE: S,
    Operator.FORWARD: S,
    Operator.NEGATION: R,
    Operator.ALTERNATION: R,
    Operator.REVERSE: N,
    Operator.COVER: N,
    Operator.INDEPENDENCE: N,
}


def test_every_transition_is_the_join_of_every_relation_of_its_state():
    for state, operator in product((S, R), Operator):
        reached = {STATES[JOIN[known, operator]] for known, label in STATES.items() if label is state}
        assert reached == {TRANSITIONS[state][operator]}, (state, operator)


def test_what_is_left_open_stays_open():
    assert set(TRANSITIONS[N].values()) == {N}


def test_the_papers_transitions():
    # ProoFVer's automaton, operator by operator of its six.
    papers = {
        S: {"≡": S, "⊑": S, "⊒": N, "¬": R, "⥯": R, "#": N},
        R: {"≡": R, "⊑": N, "⊒": R, "¬": S, "⥯": N, "#": N},
        N: dict.fromkeys("≡⊑⊒¬⥯#", N),
    }
    for state, row in papers.items():
        for sign, target in row.items():
            assert TRANSITIONS[state][Operator(sign)] is target, (state, sign)


@pytest.mark.parametrize(
    ("proof", "verdict"),
    [("≡≡≡", S), ("≡⊑≡", S), ("≡⥯≡", R), ("≡¬¬", S), ("≡⥯⊑", N), ("≡#¬", N), ("⥯⥯", N), ("⥯⌣", S), ("", N)],
)
def test_a_proof_ends_at_its_verdict(proof: str, verdict: Label):
    assert run_automaton(map(Operator, proof)) is verdict


STEPS = [
    {Operator.EQUIVALENCE: 0.7, Operator.ALTERNATION: 0.2, Operator.INDEPENDENCE: 0.1},
    {Operator.FORWARD: 0.5, Operator.NEGATION: 0.4, Operator.REVERSE: 0.1},
    {Operator.EQUIVALENCE: 0.6, Operator.COVER: 0.4},
]


def all_proofs() -> dict[tuple[Operator, ...], float]:
    return {proof: STEPS[0][proof[0]] * STEPS[1][proof[1]] * STEPS[2][proof[2]] for proof in product(*STEPS)}


def test_a_labels_probability_is_that_of_all_its_proofs():
    expected = dict.fromkeys(Label, 0.0)
    for proof, p in all_proofs().items():
        expected[run_automaton(proof)] += p
    assert label_probabilities(STEPS) == pytest.approx(expected)
    assert label_probabilities([]) == {S: 0.0, R: 0.0, N: 1.0}


@pytest.mark.parametrize("end", list(Label))
def test_the_best_proof_is_the_most_probable_that_ends_there(end: Label):
    ending = {proof: p for proof, p in all_proofs().items() if run_automaton(proof) is end}
    assert best_proof(STEPS, end) == max(ending, key=ending.__getitem__)


def test_where_no_proof_ends_there_is_none():
    assert best_proof([{Operator.EQUIVALENCE: 1.0}], R) is None
    assert best_proof([], N) is None
