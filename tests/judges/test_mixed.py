"""Facts and a judge mixed; the arithmetic of a mix is done by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from adjudge.errors import ConfigError
from adjudge.facts.compare import compare
from adjudge.judges.calibrated import (
    CALIBRATION,
    CalibratedJudge,
    Calibration,
    load_calibrated,
    write_calibration,
)
from adjudge.judges.folder import load_judge
from adjudge.judges.mixed import (
    MIX_FEATURES,
    RULE_FEATURES,
    Mix,
    MixedJudge,
    compares_facts,
    load_mixes,
    reading_judge,
    rule_features,
    with_facts,
)
from adjudge.types import FEVER_LABELS, Evidence, Example, Span
from checking import WordJudge

SENTENCE = Evidence("The Vel bridge was opened in 1932.", title="Vel bridge")


def test_a_mix_is_a_softmax_of_its_weighted_features():
    mix = Mix("by hand", ("a", "b"), (0.0, 0.0, math.log(2)), ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0)))
    # logits log 4, log 1, log 2 → 4/7, 1/7, 2/7
    assert mix.probabilities([math.log(4), 0.0]) == pytest.approx([4 / 7, 1 / 7, 2 / 7])


def test_every_mix_of_the_package_has_a_weight_for_every_feature():
    for mix in load_mixes().values():
        columns = RULE_FEATURES if mix.name == "rules" else MIX_FEATURES
        assert mix.features == columns
        assert len(mix.bias) == len(mix.matrix) == 3
        assert all(len(row) == len(columns) for row in mix.matrix)
        assert mix.fitted_on


def test_the_rules_see_what_a_claim_and_its_evidence_have():
    claim = "The Vel bridge was not opened in 1931."
    values = dict(
        zip(RULE_FEATURES, rule_features(claim, [SENTENCE], compare(claim, [SENTENCE])), strict=True)
    )
    assert values == {
        "value different": 1.0,
        "value open": 0.0,
        "value absent": 0.0,
        "value equal": 0.0,
        "name different": 0.0,
        "name absent": 0.0,
        "name equal": 1.0,
        "overlap": 1.0,
        "all words": 1.0,
        "negation": 1.0,
        "opposite": 0.0,
        "swapped": 0.0,
        "quantifier": 0.0,
    }


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("The Vel bridge was opened in 1932.", "SUPPORTS"),
        ("The Vel bridge was opened in 1931.", "REFUTES"),
        ("The town has a small theatre.", "NOT ENOUGH INFO"),
    ],
)
def test_facts_alone_decide_what_they_can(claim, label):
    (verdict,) = load_judge("rules").judge([Example(0, claim, (SENTENCE,))])
    assert verdict.label == label
    assert sum(verdict.probabilities.values()) == pytest.approx(1.0)


def test_a_verdict_carries_the_comparisons_as_its_proof():
    (verdict,) = with_facts(WordJudge()).judge(
        [Example(0, "The Vel bridge was opened in 1931.", (SENTENCE,))]
    )
    assert verdict.explanation is not None
    step = verdict.explanation.proof[-1]
    assert (step.claim, step.operator, step.evidence, step.sentence) == (
        Span(29, 33),
        "different",
        Span(29, 33),
        0,
    )


def test_a_wrong_number_refutes_though_the_judge_says_otherwise():
    (verdict,) = with_facts(WordJudge()).judge(
        [Example(0, "The Vel bridge was opened in 1931.", (SENTENCE,))]
    )
    assert verdict.label == "REFUTES"


def test_a_mix_fitted_for_a_judges_weights_is_taken_for_it():
    class Known(WordJudge):
        identity = {"weights": load_mixes()["small"].weights}

    assert with_facts(Known()).mix.name == "small"
    assert with_facts(WordJudge()).mix.name == "default"


def test_judges_within_judges_are_found():
    words = WordJudge()
    mixed = with_facts(words)
    assert compares_facts(mixed) and not compares_facts(words)
    assert reading_judge(mixed) is words and reading_judge(with_facts(None)) is None


class TestCalibrated:
    FITTED = Calibration(
        model="rules",
        labels=tuple(FEVER_LABELS),
        temperature=2.0,
        biases=(0.0, 0.0, math.log(2)),
        min_confidence=0.6,
    )

    def test_probabilities_are_tempered_and_biased(self):
        judge = CalibratedJudge(WordJudge(), self.FITTED)
        (verdict,) = judge.judge([Example(0, SENTENCE.text, (SENTENCE,))])
        # √0.9, √0.05, 2·√0.05 over their sum
        shares = [math.sqrt(0.9), math.sqrt(0.05), 2 * math.sqrt(0.05)]
        assert list(verdict.probabilities.values()) == pytest.approx(
            [share / sum(shares) for share in shares]
        )

    def test_a_weak_answer_is_abstained_from(self):
        judge = CalibratedJudge(WordJudge(), self.FITTED)
        (verdict,) = judge.judge([Example(0, SENTENCE.text, (SENTENCE,))])
        assert verdict.confidence == pytest.approx(0.586, abs=1e-3) and verdict.abstained

    def test_what_was_written_is_loaded_as_a_model(self, tmp_path: Path):
        write_calibration(tmp_path, self.FITTED)
        judge = load_judge(tmp_path)
        assert isinstance(judge, CalibratedJudge) and isinstance(judge.inner, MixedJudge)
        assert judge.calibration == self.FITTED

    def test_a_damaged_file_and_another_label_set_are_refused(self, tmp_path: Path):
        (tmp_path / CALIBRATION).write_text('{"model": "rules", "temperature": 0}')
        with pytest.raises(ConfigError, match=r"calibration\.json: damaged"):
            load_judge(tmp_path)
        other = self.FITTED.model_copy(update={"labels": ("A", "B", "C")})
        write_calibration(tmp_path, other)
        with pytest.raises(ConfigError, match="fitted for the labels A, B, C"):
            load_calibrated(tmp_path, load_judge)

    def test_a_changed_figure_is_noticed(self, tmp_path: Path):
        write_calibration(tmp_path, self.FITTED)
        written = (tmp_path / CALIBRATION).read_text()
        (tmp_path / CALIBRATION).write_text(written.replace('"temperature": 2.0', '"temperature": 3.0'))
        with pytest.raises(ConfigError, match=r"calibration\.json: damaged or changed"):
            load_judge(tmp_path)

    @pytest.mark.parametrize(
        "change", [{"biases": [0.0]}, {"temperature": math.inf}, {"biases": [math.nan] * 3}]
    )
    def test_values_that_no_fit_gives_are_refused(self, tmp_path: Path, change: dict[str, object]):
        values = self.FITTED.model_dump(mode="json", exclude={"checksum"}) | change
        (tmp_path / CALIBRATION).write_text(json.dumps(values))
        with pytest.raises(ConfigError, match=r"calibration\.json: damaged"):
            load_judge(tmp_path)

    def test_a_calibration_takes_no_models_place_nor_its_own(self, tmp_path: Path, untrained_run: Path):
        for folder in (untrained_run, tmp_path):
            fitted = self.FITTED.model_copy(update={"model": str(folder)})
            with pytest.raises(ConfigError, match="Choose another --out"):
                write_calibration(folder, fitted)
        first, second = tmp_path / "first", tmp_path / "second"
        for folder, model in ((first, second), (second, first)):
            write_calibration(folder, self.FITTED.model_copy(update={"model": str(model)}))
        with pytest.raises(ConfigError, match="is fitted for itself"):
            load_judge(first)
