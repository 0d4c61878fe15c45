"""ProoFVer with a model of the hub: it writes the proof, under the grammar; the automaton decides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from adjudge.encoders.seq2seq import Seq2Seq
from adjudge.judges.proof.grammar import ProofGrammar, source_text
from adjudge.judges.proof.logic import Operator, run_automaton
from adjudge.judges.proof.prover import MOST_EVIDENCE
from adjudge.judges.verdicts import Answer, cut_in_text, verdict_of
from adjudge.types import FEVER_LABELS, Example, Explanation, LabelSet, Verdict

MOST_TOKENS = 256
"""Of a proof."""


@dataclass(frozen=True)
class ProoFVer:
    """A judge that has a sequence-to-sequence model write (claim span, evidence span, operator) steps.

    The verdict is where the automaton ends; the model's own mean probability of a token is that of the verdict, the
    rest is shared by the other labels.
    """

    model: Seq2Seq
    beams: int = 1
    labels: ClassVar[LabelSet] = FEVER_LABELS
    max_evidence: ClassVar[int] = MOST_EVIDENCE

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's, and how it is searched."""
        return {"kind": "proofver", "model": self.model.identity, "beams": self.beams}

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, with the proof that was written."""
        for example in examples:
            yield self._judge(example)

    def _judge(self, example: Example) -> Verdict:
        texts = [sentence.text for sentence in example.evidence[:MOST_EVIDENCE]]
        grammar = ProofGrammar(example.claim, texts, self.model.encode, self.model.end)
        source = source_text(example.claim, texts)
        [(written, score)] = self.model.generate(
            [source], lambda _, ids: grammar.allowed(ids), MOST_TOKENS, self.beams
        )
        proof = grammar.read(written)
        label = run_automaton(Operator(step.operator) for step in proof)
        sureness = max(math.exp(score), 1 / len(FEVER_LABELS))
        rest = (1 - sureness) / (len(FEVER_LABELS) - 1)
        answer = Answer([sureness if name == label.value else rest for name in FEVER_LABELS])
        cut = cut_in_text(lambda n: source_text(example.claim, texts[:n]), self.model.reads_all, len(texts))
        verdict = verdict_of(example, answer, FEVER_LABELS, MOST_EVIDENCE, cut)
        explanation = Explanation(proof=proof) if proof else None
        return replace(verdict, label=label.value, explanation=explanation)


def load_proofver(source: str, device: Any = "cpu", class_names: Mapping[str, str] | None = None) -> ProoFVer:
    """ProoFVer on a model of the hub or a folder."""
    return ProoFVer(Seq2Seq(source, device))
