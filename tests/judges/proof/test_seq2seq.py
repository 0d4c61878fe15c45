from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from adjudge.encoders.seq2seq import Seq2Seq
from adjudge.errors import ConfigError
from adjudge.judges.folder import load_judge
from adjudge.judges.proof.logic import Operator, run_automaton
from adjudge.types import Evidence, Example
from seq2seq_tiny import write_seq2seq

EVIDENCE = (Evidence("It was shot in Mexico .", "Savages", 0), Evidence("Mexico is large .", "Mexico", 0))


@pytest.fixture(scope="module", params=["t5", "bart"])
def folder(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_seq2seq(tmp_path_factory.mktemp(request.param), request.param)


def test_a_random_model_writes_proofs_whose_automaton_gives_the_verdict(folder: Path):
    judge = load_judge(f"proofver:{folder}")
    claim = "Savages was shot in France."
    [verdict] = judge.judge([Example(1, claim, EVIDENCE)])
    assert verdict.explanation is not None
    proof = verdict.explanation.proof
    assert proof and run_automaton(Operator(step.operator) for step in proof) == verdict.label
    for step in proof:
        assert claim[slice(*step.claim)].strip()
        if step.evidence is not None and step.sentence is not None:
            assert EVIDENCE[step.sentence].text[slice(*step.evidence)].strip()
    assert sum(verdict.probabilities.values()) == pytest.approx(1)
    assert judge.identity["kind"] == "proofver"


def test_a_claim_without_evidence_is_written_about_nothing(folder: Path):
    [verdict] = load_judge(f"proofver:{folder}").judge([Example(1, "Savages was shot.", ())])
    assert verdict.reason == "no evidence was given"
    assert verdict.explanation is not None
    assert all(step.sentence is None for step in verdict.explanation.proof)


def test_scores_are_the_models_log_probabilities(folder: Path):
    model = Seq2Seq(str(folder))
    targets = [model.encode("yes no"), model.encode("no")]
    [scores] = model.score(["is it so"], [targets])
    inputs = model.tokenizer("is it so", return_tensors="pt")
    for ids, score in zip(targets, scores, strict=True):
        labels = torch.tensor([[*ids, model.end]])
        with torch.inference_mode():
            loss = model.model(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                decoder_input_ids=torch.tensor([[model.start, *ids]]),
            ).logits
        log_probs = loss.log_softmax(dim=-1)[0]
        expected = sum(log_probs[n, token].item() for n, token in enumerate(labels[0].tolist()))
        assert score == pytest.approx(expected, abs=1e-3)


def test_what_cannot_be_loaded_is_refused_by_name(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be loaded as a sequence-to-sequence model"):
        Seq2Seq(str(tmp_path))
