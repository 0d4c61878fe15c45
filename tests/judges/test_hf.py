"""Classifiers with random weights, whose answers are recomputed from their logits by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from adjudge.errors import ConfigError
from adjudge.judges.hf import load_classifier
from adjudge.types import FEVER_LABELS, NOT_SUPPORTED, Evidence, Example
from classifiers import FAMILIES, write_classifier
from hf_tiny import load_tiny

S, R, N = FEVER_LABELS.names
EVIDENCE = (
    Evidence("The gate closes at ten.", page="Rules", line=0),
    Evidence("Dogs may enter."),
    Evidence("Tickets cost five euros."),
)


def distribution(folder: Path, premise: str, hypothesis: str) -> dict[str, float]:
    """P(label) by Hugging Face alone; class order as in NLI."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
    p = logits.softmax(-1).tolist()
    return {R: p[0], S: p[1], N: p[2]}


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")  # in DeBERTa
@pytest.mark.parametrize("family", FAMILIES)
def test_one_sentence_gets_the_classifiers_own_answer(family: str, tmp_path: Path):
    folder = write_classifier(tmp_path / family, family)
    judge = load_classifier(str(folder))
    (verdict,) = judge.judge([Example(7, "Dogs are allowed.", (Evidence("Dogs may enter."),))])
    expected = distribution(folder, "Dogs may enter.", "Dogs are allowed.")
    assert verdict.probabilities == pytest.approx(expected, abs=1e-5)
    assert verdict.id == 7 and verdict.label == max(expected, key=lambda label: expected[label])
    assert verdict.evidence[0].weight == pytest.approx(1.0)


def test_sentences_are_mixed_by_how_much_each_says(tmp_path: Path):
    folder = write_classifier(tmp_path / "model")
    (verdict,) = load_classifier(str(folder)).judge([Example(1, "Dogs are allowed.", EVIDENCE)])
    premises = ["Rules. The gate closes at ten.", "Dogs may enter.", "Tickets cost five euros."]
    rows = [distribution(folder, premise, "Dogs are allowed.") for premise in premises]
    says = [1 - row[N] for row in rows]
    weights = [value / sum(says) for value in says]
    mixed = {label: sum(w * row[label] for w, row in zip(weights, rows, strict=True)) for label in (S, R, N)}
    assert [sentence.weight for sentence in verdict.evidence] == pytest.approx(weights, abs=1e-5)
    assert verdict.probabilities == pytest.approx(mixed, abs=1e-5)


def test_joined_sentences_weigh_what_the_verdict_loses_without_them(tmp_path: Path):
    folder = write_classifier(tmp_path / "model")
    (verdict,) = load_classifier(str(folder), joined=True).judge([Example(1, "Dogs are allowed.", EVIDENCE)])
    texts = ["Rules. The gate closes at ten.", "Dogs may enter.", "Tickets cost five euros."]
    whole = distribution(folder, " ".join(texts), "Dogs are allowed.")
    label = max(whole, key=lambda name: whole[name])
    without = [" ".join(other for other in texts if other != text) for text in texts]
    losses = [
        max(0.0, whole[label] - distribution(folder, premise, "Dogs are allowed.")[label])
        for premise in without
    ]
    assert verdict.probabilities == pytest.approx(whole, abs=1e-5)
    expected = [loss / sum(losses) for loss in losses] if sum(losses) else [1 / 3] * 3
    assert [sentence.weight for sentence in verdict.evidence] == pytest.approx(expected, abs=1e-4)


def test_an_answer_does_not_depend_on_its_neighbours(tmp_path: Path):
    judge = load_classifier(str(write_classifier(tmp_path / "model")))
    long = Example(2, "A much longer claim about gates, dogs and tickets in all seasons.", EVIDENCE * 3)
    short = Example(1, "Dogs are allowed.", EVIDENCE)
    (alone,) = judge.judge([short])
    together = list(judge.judge([long, short, long]))
    assert [verdict.id for verdict in together] == [2, 1, 2]
    assert together[1].probabilities == pytest.approx(alone.probabilities, abs=1e-5)


def test_a_claim_without_evidence_is_judged_against_nothing(tmp_path: Path):
    judge = load_classifier(str(write_classifier(tmp_path / "model")))
    (verdict,) = judge.judge([Example(1, "Dogs are allowed.")])
    assert verdict.evidence == () and verdict.reason == "no evidence was given"


def test_classes_are_mapped_by_name_wherever_they_stand(tmp_path: Path):
    turned = write_classifier(
        tmp_path / "turned", id2label={0: "Refuted", 1: "SUPPORTED", 2: "NOT_ENOUGH_INFO"}
    )
    (verdict,) = load_classifier(str(turned)).judge([Example(1, "Dogs are allowed.", EVIDENCE[1:2])])
    assert verdict.probabilities == pytest.approx(
        distribution(turned, "Dogs may enter.", "Dogs are allowed."), abs=1e-5
    )


def test_two_classes_make_a_judge_of_two_labels(tmp_path: Path):
    folder = write_classifier(tmp_path / "two", id2label={0: "not_entailment", 1: "entailment"})
    judge = load_classifier(str(folder))
    (verdict,) = judge.judge([Example(1, "Dogs are allowed.", EVIDENCE)])
    assert judge.labels.names == (S, NOT_SUPPORTED)
    assert set(verdict.probabilities) == {S, NOT_SUPPORTED}


def test_names_that_say_nothing_are_refused_until_the_user_says_them(tmp_path: Path):
    folder = write_classifier(tmp_path / "odd", id2label={0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"})
    with pytest.raises(ConfigError, match=r"LABEL_0, LABEL_1, LABEL_2.*\n.*--label LABEL_0=SUPPORTS"):
        load_classifier(str(folder))
    names = {"LABEL_0": R, "LABEL_1": S, "LABEL_2": N}
    assert load_classifier(str(folder), class_names=names).labels is FEVER_LABELS


def test_two_classes_of_one_meaning_are_refused(tmp_path: Path):
    folder = write_classifier(tmp_path / "double", id2label={0: "entailment", 1: "supports", 2: "neutral"})
    with pytest.raises(ConfigError, match="its classes are entailment, supports, neutral"):
        load_classifier(str(folder))


def test_a_model_that_is_no_classifier_is_refused(tmp_path: Path):
    encoder, tokenizer = load_tiny()
    encoder.save_pretrained(tmp_path / "encoder")
    tokenizer.save_pretrained(tmp_path / "encoder")
    with pytest.raises(ConfigError, match="is not a sequence classifier"):
        load_classifier(str(tmp_path / "encoder"))


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path):
    folder = write_classifier(tmp_path / "model")
    for file in folder.glob("*token*"):
        file.unlink()
    with pytest.raises(ConfigError, match="comes without its tokenizer"):
        load_classifier(str(folder))


def test_a_folder_that_asks_for_its_own_code_is_not_given_it(tmp_path: Path):
    import json

    folder = write_classifier(tmp_path / "model")
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match="asks for code of its own"):
        load_classifier(str(folder))


def test_its_identity_names_what_decides_its_answers(tmp_path: Path):
    folder = write_classifier(tmp_path / "model")
    one, joined = load_classifier(str(folder)), load_classifier(str(folder), joined=True)
    assert one.identity["source"] == str(folder)
    assert one.identity != joined.identity
