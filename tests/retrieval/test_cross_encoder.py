from __future__ import annotations

from pathlib import Path

import pytest
import torch

from adjudge.errors import ConfigError
from adjudge.retrieval.cross_encoder import CrossEncoderScorer
from adjudge.retrieval.selectors import load_selector
from adjudge.types import Evidence
from classifiers import write_classifier

SENTENCES = (
    Evidence("The gate closes at ten.", page="Rules", line=0, score=9.0),
    Evidence("Dogs may enter.", score=1.0),
    Evidence("Tickets cost five euros.", score=5.0),
)


def score(folder: Path, claim: str, sentence: str) -> float:
    """σ(logit) by Hugging Face alone."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        return float(model(**tokenizer(claim, sentence, return_tensors="pt")).logits[0, 0].sigmoid())


def test_sentences_are_ranked_by_the_cross_encoder_alone(tmp_path: Path):
    folder = write_classifier(tmp_path / "model", id2label={0: "LABEL_0"})
    texts = ["Rules. The gate closes at ten.", "Dogs may enter.", "Tickets cost five euros."]
    expected = {text: score(folder, "Dogs are allowed.", text) for text in texts}
    selected = load_selector(f"hf:{folder}").select_many(["Dogs are allowed."], [SENTENCES], 3)[0]
    assert [s.score for s in selected] == pytest.approx(sorted(expected.values(), reverse=True), abs=1e-5)
    best = max(expected, key=lambda text: expected[text])
    assert best.endswith(selected[0].text)


def test_each_claim_gets_the_scores_of_its_own_sentences(tmp_path: Path):
    scorer = CrossEncoderScorer(str(write_classifier(tmp_path / "model", id2label={0: "LABEL_0"})))
    claims = ["Dogs are allowed.", "It is free."]
    together = scorer.score_many(claims, [SENTENCES, SENTENCES[:1]])
    alone = scorer.score_many(claims[1:], [SENTENCES[:1]])
    assert [len(scores) for scores in together] == [3, 1]
    assert together[1] == pytest.approx(alone[0], abs=1e-5)


def test_a_classifier_of_several_classes_is_refused(tmp_path: Path):
    folder = write_classifier(tmp_path / "model")
    with pytest.raises(ConfigError, match="contradiction, entailment, neutral, expected a single score"):
        load_selector(f"hf:{folder}")
