"""Proofs to learn from, made of claims with gold evidence by rules (ProoFVer's heuristics, with our aligner).

Of a supported claim every step keeps the automaton where it starts. Of a refuted one a single step refutes: the one
whose words contradict the evidence, else the one that resembles it least. Of one that the evidence leaves open a
single step says so. So every training proof ends at its claim's label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from adjudge.judges.proof.logic import Operator
from adjudge.judges.proof.spans import Aligned, align, compare_by_rule
from adjudge.types import Evidence, Example, Label

OPERATORS = tuple(operator for operator in Operator if operator is not Operator.COVER)
"""What a prover chooses from: ProoFVer's six. ⌣ is left to proofs from elsewhere."""

NAMES: dict[Operator, str] = {operator: operator.name for operator in OPERATORS}
"""Operator → its label in files of training examples."""


@dataclass(frozen=True)
class Proof:
    """A claim's steps with their operators."""

    example: Example
    steps: tuple[Aligned, ...]
    operators: tuple[Operator, ...]


def training_proofs(examples: Iterable[Example]) -> Iterator[Proof]:
    """A proof for each claim with a FEVER label, at least one sentence, and a chunk."""
    for example in examples:
        steps = align(example.claim, example.evidence) if example.evidence else []
        if steps and example.label in list(Label):
            operators = _operators(example, steps, Label(example.label or ""))
            yield Proof(example, tuple(steps), operators)


def _operators(example: Example, steps: Sequence[Aligned], label: Label) -> tuple[Operator, ...]:
    rules = [compare_by_rule(example.claim, step, example.evidence) for step in steps]
    agree = [Operator.FORWARD if rule is Operator.FORWARD else Operator.EQUIVALENCE for rule in rules]
    if label is Label.SUPPORTS:
        return tuple(agree)
    least = min(range(len(steps)), key=lambda n: steps[n].likeness)
    operators = [Operator.EQUIVALENCE] * len(steps)
    if label is Label.NOT_ENOUGH_INFO:
        operators[least] = Operator.REVERSE if rules[least] is Operator.REVERSE else Operator.INDEPENDENCE
        return tuple(operators)
    against = [n for n, rule in enumerate(rules) if rule in (Operator.NEGATION, Operator.ALTERNATION)]
    culprit = against[0] if against else least
    is_negation = rules[culprit] is Operator.NEGATION
    operators[culprit] = Operator.NEGATION if is_negation else Operator.ALTERNATION
    return tuple(operators)


def operator_examples(proofs: Iterable[Proof]) -> Iterator[Example]:
    """A training example for each step, its label the name of the operator."""
    for proof in proofs:
        rows = step_examples(proof.example, proof.steps)
        for row, operator in zip(rows, proof.operators, strict=True):
            yield Example(row.id, row.claim, row.evidence, NAMES[operator])


def step_examples(example: Example, steps: Sequence[Aligned]) -> list[Example]:
    """What the operator of each step is read from: the claim, chunk and span in place of a title, the sentence."""
    return [
        Example(f"{example.id}#{number}", example.claim, (_step_evidence(example, step),))
        for number, step in enumerate(steps)
    ]


def _step_evidence(example: Example, step: Aligned) -> Evidence:
    chunk = example.claim[slice(*step.chunk)]
    if step.sentence is None:
        first = example.evidence[0].text if example.evidence else ""
        return Evidence(first, title=f"{chunk} / nothing")
    sentence = example.evidence[step.sentence]
    span = "title" if step.span is None else sentence.text[slice(*step.span)]
    return Evidence(sentence.text, title=f"{chunk} / {span}")
