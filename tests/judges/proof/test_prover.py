from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.config import settings_from
from adjudge.data.kgat import write_examples
from adjudge.errors import ConfigError
from adjudge.judges.folder import load_judge
from adjudge.judges.proof.logic import Operator, run_automaton
from adjudge.judges.proof.prover import Prover
from adjudge.judges.proof.training import NAMES, OPERATORS, operator_examples, training_proofs
from adjudge.runs.execute import execute
from adjudge.types import FEVER_LABELS, Evidence, Example, Label, LabelSet, Verdict
from toy import toy_examples

EVIDENCE = (
    Evidence("The thriller is directed by Oliver Stone .", page="Savages", line=0),
    Evidence("It was shot in Mexico in 2012 .", page="Savages", line=1),
)
CLAIM = "Savages was directed by Oliver Stone in 1999."


class Classifier:
    """Says ⥯ of a chunk with a number, ≡ of all others, nearly surely."""

    labels = LabelSet(tuple(NAMES.values()))
    max_evidence = 1
    identity = {"kind": "classifier"}

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        for example in examples:
            [sentence] = example.evidence
            chunk = sentence.title.split(" / ")[0]
            likely = Operator.ALTERNATION if any(map(str.isdigit, chunk)) else Operator.EQUIVALENCE
            p = {name: 0.9 if operator is likely else 0.02 for operator, name in NAMES.items()}
            yield Verdict(example.id, example.claim, NAMES[likely], p, example.evidence)


def test_the_verdict_is_where_its_proof_ends():
    verdicts = Prover(Classifier()).judge(
        [Example(1, CLAIM, EVIDENCE), Example(2, CLAIM[:-9] + ".", EVIDENCE), Example(3, CLAIM)]
    )
    refuted, supported, open_ = verdicts
    assert [v.label for v in (refuted, supported, open_)] == ["REFUTES", "SUPPORTS", "NOT ENOUGH INFO"]
    assert refuted.explanation is not None
    proof = refuted.explanation.proof
    assert [(CLAIM[slice(*step.claim)], step.operator) for step in proof] == [
        ("Savages", "≡"),
        ("was directed", "≡"),
        ("by Oliver Stone", "≡"),
        ("in 1999", "⥯"),
    ]
    assert run_automaton(Operator(step.operator) for step in proof) is Label.REFUTES
    assert EVIDENCE[0].text[slice(*proof[2].evidence)] == "Oliver Stone"
    assert sum(refuted.probabilities.values()) == pytest.approx(1)
    assert sum(sentence.weight or 0 for sentence in refuted.evidence) == pytest.approx(1)
    assert open_.reason == "no evidence was given" and open_.explanation is None


def test_it_explains_the_verdict_of_any_judge_by_a_proof_that_ends_there():
    for label in FEVER_LABELS:
        given = Verdict(1, CLAIM, label, {label: 1.0}, EVIDENCE)
        [explained] = Prover(Classifier()).explain([given])
        assert explained.explanation is not None and explained.label == label
        assert run_automaton(Operator(s.operator) for s in explained.explanation.proof) == label
        assert replace(explained, explanation=None) == given


def test_verdicts_without_evidence_or_with_other_labels_stay_as_they_are():
    given = [Verdict(1, CLAIM, None, {}), Verdict(2, CLAIM, "yes", {"yes": 1.0}, EVIDENCE)]
    assert list(Prover(Classifier()).explain(given)) == given


def test_rules_alone_prove_without_a_model():
    prover = load_judge("prover:rules")
    claims = {
        "Savages was directed by Oliver Stone.": "SUPPORTS",
        "Savages was not directed by Oliver Stone.": "REFUTES",
        "It was shot in Mexico in 1999.": "REFUTES",
        "Savages bakes bread.": "NOT ENOUGH INFO",
    }
    verdicts = list(prover.judge(Example(n, claim, EVIDENCE) for n, claim in enumerate(claims)))
    assert {verdict.claim: verdict.label for verdict in verdicts} == claims
    assert prover.identity["classifier"] == "rules"


def test_a_model_of_other_labels_is_refused():
    class Other(Classifier):
        labels = FEVER_LABELS

    with pytest.raises(ConfigError, match="A prover needs a model with the labels EQUIVALENCE, FORWARD"):
        Prover(Other())


@pytest.mark.parametrize("label", FEVER_LABELS.names)
def test_training_proofs_end_at_the_label_of_their_claim(label: str):
    claims = [
        CLAIM,
        "Savages was not directed by Oliver Stone.",
        "Savages was shot in France.",
        "It rains.",
        "Oliver Stone is a director from Mexico.",
    ]
    proofs = list(training_proofs(Example(n, text, EVIDENCE, label) for n, text in enumerate(claims)))
    assert len(proofs) == len(claims)
    for proof in proofs:
        assert run_automaton(proof.operators) == label, proof.example.claim
        assert len(proof.steps) == len(proof.operators)


def test_the_step_that_contradicts_is_the_one_that_refutes():
    [proof] = training_proofs([Example(1, "It was shot in Mexico in 1999.", EVIDENCE, "REFUTES")])
    assert proof.operators[-1] is Operator.ALTERNATION
    assert set(proof.operators[:-1]) == {Operator.EQUIVALENCE}
    [proof] = training_proofs([Example(1, "Savages was not directed by Oliver Stone.", EVIDENCE, "REFUTES")])
    assert Operator.NEGATION in proof.operators


def test_claims_without_evidence_or_label_give_no_proof():
    examples = [
        Example(1, CLAIM, (), "SUPPORTS"),
        Example(2, CLAIM, EVIDENCE),
        Example(3, "", EVIDENCE, "SUPPORTS"),
    ]
    assert list(training_proofs(examples)) == []


def test_a_prover_is_trained_as_any_model_and_loaded_by_name(tmp_path: Path, capsys: Any):
    steps = list(operator_examples(training_proofs(toy_examples(40))))
    assert {step.label for step in steps} <= set(NAMES.values())
    write_examples(tmp_path / "steps.jsonl", steps)
    settings = settings_from(
        {
            "data": {"train": tmp_path / "steps.jsonl", "labels": [NAMES[o] for o in OPERATORS]},
            "model": {"kind": "concat", "backbone": "tiny", "max_length": 48},
            "training": {"epochs": 1, "batch_size": 8, "accumulation": 1},
        }
    )
    execute(settings, tmp_path / "run", cache=tmp_path / "cache")
    prover = load_judge(f"prover:{tmp_path / 'run'}")
    for verdict in prover.judge(toy_examples(3)):
        assert verdict.explanation is not None
        assert run_automaton(Operator(s.operator) for s in verdict.explanation.proof) == verdict.label
