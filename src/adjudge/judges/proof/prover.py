"""The prover: chunks of the claim, an operator for each from a trained classifier, the automaton deciding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from adjudge.errors import ConfigError
from adjudge.io.chunks import chunks
from adjudge.judges.proof.logic import Distribution, Operator, best_proof, label_probabilities
from adjudge.judges.proof.spans import Aligned, align, compare_by_rule
from adjudge.judges.proof.training import NAMES, step_examples
from adjudge.judges.protocol import Judge
from adjudge.judges.registry import RULES
from adjudge.judges.verdicts import Answer, verdict_of
from adjudge.types import FEVER_LABELS, Evidence, Example, Explanation, Label, LabelSet, ProofStep, Verdict

WINDOW = 64
MOST_EVIDENCE = 5
SURENESS = 0.9
"""Probability of the operator that a rule names."""


@dataclass(frozen=True)
class Prover:
    """A judge whose verdicts are proofs.

    P(label) is the mass of all proofs that end there; the proof shown is the most probable of those that end at the
    label given, so that it always ends at the verdict.

    Attributes:
        classifier: answers :func:`step_examples` with the names of operators; None: rules over the words alone do.
    """

    classifier: Judge | None = None
    labels: ClassVar[LabelSet] = FEVER_LABELS
    max_evidence: ClassVar[int] = MOST_EVIDENCE

    def __post_init__(self) -> None:
        if self.classifier is not None and set(self.classifier.labels) != set(NAMES.values()):
            raise ConfigError(
                f"A prover needs a model with the labels {', '.join(NAMES.values())}; this one has "
                f"{', '.join(self.classifier.labels)}.\nMake training proofs: adjudge data proofs --help."
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """The classifier's, or that rules decide."""
        return {
            "kind": "prover",
            "classifier": RULES if self.classifier is None else dict(self.classifier.identity),
        }

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, with its proof."""
        for window in chunks(examples, WINDOW):
            for example, steps, distributions in self._steps(window):
                yield _verdict(example, steps, distributions)

    def explain(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        """Verdicts of any judge with the most probable proof that ends at their label; their labels stay."""
        for window in chunks(verdicts, WINDOW):
            examples = [Example(v.id, v.claim, v.evidence[:MOST_EVIDENCE]) for v in window]
            for verdict, (_, steps, distributions) in zip(window, self._steps(examples), strict=True):
                known = verdict.label is not None and verdict.label in list(Label)
                proof = best_proof(distributions, Label(verdict.label or "")) if known else None
                if proof is None:
                    yield verdict
                    continue
                explanation = verdict.explanation or Explanation()
                yield replace(verdict, explanation=replace(explanation, proof=proof_steps(steps, proof)))

    def _steps(
        self, examples: Sequence[Example]
    ) -> Iterator[tuple[Example, list[Aligned], list[Distribution]]]:
        read = [replace(example, evidence=example.evidence[:MOST_EVIDENCE]) for example in examples]
        aligned = [align(example.claim, example.evidence) if example.evidence else [] for example in read]
        if self.classifier is None:
            for example, steps in zip(read, aligned, strict=True):
                rules = (compare_by_rule(example.claim, step, example.evidence) for step in steps)
                yield example, steps, [_sure_of(operator) for operator in rules]
            return
        rows = (
            row for example, steps in zip(read, aligned, strict=True) for row in step_examples(example, steps)
        )
        answers = self.classifier.judge(rows)
        for example, steps in zip(read, aligned, strict=True):
            yield example, steps, [_distribution(next(answers)) for _ in steps]


def _sure_of(operator: Operator) -> Distribution:
    """What a rule says, with some doubt."""
    doubt = (1.0 - SURENESS) / (len(NAMES) - 1)
    return {other: SURENESS if other is operator else doubt for other in NAMES}


def _distribution(verdict: Verdict) -> Distribution:
    return {operator: verdict.probabilities[name] for operator, name in NAMES.items()}


def _verdict(example: Example, steps: Sequence[Aligned], distributions: Sequence[Distribution]) -> Verdict:
    mass = label_probabilities(distributions)
    answer = Answer([mass[Label(name)] for name in FEVER_LABELS], _weights(example.evidence, steps))
    verdict = verdict_of(example, answer, FEVER_LABELS, MOST_EVIDENCE)
    proof = best_proof(distributions, Label(verdict.label or ""))
    explanation = None if proof is None else Explanation(proof=proof_steps(steps, proof))
    return replace(verdict, explanation=explanation)


def proof_steps(steps: Sequence[Aligned], operators: Sequence[Operator]) -> tuple[ProofStep, ...]:
    """A proof as a verdict keeps it."""
    return tuple(
        ProofStep(step.chunk, operator.value, step.span, step.sentence)
        for step, operator in zip(steps, operators, strict=True)
    )


def _weights(evidence: Sequence[Evidence], steps: Sequence[Aligned]) -> list[float]:
    """Of each sentence the share of the chunks that it is compared with."""
    aligned = [step.sentence for step in steps if step.sentence is not None]
    return [aligned.count(number) / max(len(aligned), 1) for number in range(len(evidence))]


def load_prover(source: str, device: Any = "cpu", class_names: Mapping[str, str] | None = None) -> Prover:
    """The prover on the operator classifier of a run or an exported folder; ``rules`` for one without a model."""
    if source == RULES:
        return Prover()
    from adjudge.judges.folder import load_model

    return Prover(load_model(source).on(device, "fp32"))
