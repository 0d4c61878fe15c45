from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.evaluation.statistics import holm, mcnemar
from adjudge.experiments.summary import summarise

GOLD = "SRNSRNSRN"  # the labels of the nine toy claims
SR = {"objective": "sr", "lam": 0.25}
MLL = {"objective": "mll", "lam": 0.25}


def test_the_run_with_the_best_tuning_accuracy_is_reported(written_comparison: Callable[..., Path]) -> None:
    # Seed 1 is worse on the tuning claims, though better on the test claims: it must not be chosen.
    folder = written_comparison([({}, 0, 0.6, "SSSSSSSSS"), ({}, 1, 0.5, GOLD), ({}, 2, 0.6, "RRRRRRRRR")])
    (row,) = summarise(folder).arms
    assert row.selected.seed == 0  # the first among equals
    assert row.selected.scores.label_accuracy == pytest.approx(3 / 9)
    # (1/3 + 1 + 1/3) / 3 = 5/9; deviations -2/9, 4/9, -2/9: variance (4 + 16 + 4) / 81 / 2 = 12/81
    assert row.label_accuracy.mean == pytest.approx(5 / 9)
    assert row.label_accuracy.sd == pytest.approx((12 / 81) ** 0.5)
    assert row.baseline_comparison is None


def test_each_arm_is_tested_against_the_baseline_and_corrected(
    written_comparison: Callable[..., Path],
) -> None:
    wrong = "RNSRNSRNS"
    folder = written_comparison(
        [({}, 0, 0.5, "S" + wrong[1:]), (SR, 0, 0.5, GOLD), (MLL, 0, 0.5, "SRN" + wrong[3:])]
    )
    base, sr, mll = summarise(folder).arms
    assert sr.baseline_comparison is not None and mll.baseline_comparison is not None
    assert sr.baseline_comparison.test == mcnemar([True] + [False] * 8, [True] * 9)
    assert (sr.baseline_comparison.test.n01, sr.baseline_comparison.test.n10) == (8, 0)
    # Exact: 2/2^8 for SR, 2/2^2 for MLL; Holm doubles the smaller.
    assert sr.baseline_comparison.test.p_value == pytest.approx(2 / 2**8)
    assert [sr.baseline_comparison.holm_p, mll.baseline_comparison.holm_p] == pytest.approx([4 / 2**8, 0.5])
    assert [sr.baseline_comparison.holm_p, mll.baseline_comparison.holm_p] == holm([2 / 2**8, 0.5])
    assert sr.baseline_comparison.label_accuracy.estimate == pytest.approx(8 / 9)
    assert sr.baseline_comparison.label_accuracy.low <= 8 / 9 <= sr.baseline_comparison.label_accuracy.high


def test_the_mean_over_seeds_is_compared_claim_by_claim(written_comparison: Callable[..., Path]) -> None:
    wrong = "RNSRNSRNS"
    folder = written_comparison(
        [({}, 0, 0.5, wrong), ({}, 1, 0.4, GOLD), (SR, 0, 0.5, GOLD), (SR, 1, 0.4, GOLD)]
    )
    _, sr = summarise(folder).arms
    assert sr.baseline_comparison is not None
    assert sr.baseline_comparison.label_accuracy.estimate == pytest.approx(1.0)  # the chosen runs
    assert sr.baseline_comparison.mean_label_accuracy.estimate == pytest.approx(
        0.5
    )  # half of the baseline's seeds are right
    assert sr.baseline_comparison.mean_label_accuracy.low == pytest.approx(0.5)  # on every claim alike


def test_the_contradiction_rate_has_an_interval(written_comparison: Callable[..., Path]) -> None:
    # Of the six claims with S or R, one S is called R.
    folder = written_comparison([({}, 0, 0.5, "RRNSRNSRN")])
    (row,) = summarise(folder).arms
    assert row.contradiction is not None
    assert row.contradiction.estimate == pytest.approx(1 / 6)
    assert 0 <= row.contradiction.low < 1 / 6 < row.contradiction.high


def test_temperature_is_fitted_on_the_tuning_claims(written_comparison: Callable[..., Path]) -> None:
    # 0.8 is said and 6 of 9 are right: ECE |0.8 - 2/3|. The same answers on the tuning claims: the best
    # temperature makes 0.8 into 2/3, where (0.8, 0.1, 0.1)^(1/T) is normalised: ECE 0.
    folder = written_comparison([({}, 0, 0.5, "SRNSRNRNS")])
    (row,) = summarise(folder).arms
    assert row.calibration is not None
    assert row.calibration.ece == pytest.approx(0.8 - 6 / 9, abs=1e-6)
    assert row.calibration.temperature > 1
    assert row.calibration.ece_tempered == pytest.approx(0.0, abs=1e-4)


def test_unfinished_runs_are_counted_not_guessed(written_comparison: Callable[..., Path]) -> None:
    folder = written_comparison([({}, 0, 0.5, GOLD), (SR, 0, 0.5, GOLD)])
    (folder / "runs" / "run1" / "manifest.json").unlink()
    summary = summarise(folder)
    assert [row.arm.name for row in summary.arms] == ["CE"] and summary.missing == 1


@pytest.mark.parametrize("unfinished", [["run0"], ["run0", "run1"]])
def test_without_a_baseline_there_is_nothing_to_say(
    unfinished: list[str], written_comparison: Callable[..., Path]
) -> None:
    folder = written_comparison([({}, 0, 0.5, GOLD), (SR, 0, 0.5, GOLD)])
    for name in unfinished:
        (folder / "runs" / name / "manifest.json").unlink()
    with pytest.raises(DataError, match="no finished run of the baseline"):
        summarise(folder)


def test_a_folder_without_a_comparison_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no comparison"):
        summarise(tmp_path)


def test_a_summary_is_plain_json(written_comparison: Callable[..., Path]) -> None:
    summary = summarise(written_comparison([({}, 0, 0.5, GOLD), (SR, 0, 0.5, GOLD)]))
    record = json.loads(json.dumps(summary.to_dict()))
    assert [arm["name"] for arm in record["arms"]] == ["CE", "SR"]
    assert record["arms"][1]["baseline_comparison"]["holm_p"] == 1.0
    assert record["arms"][0]["selected"]["scores"]["confusion"] == [[3, 0, 0], [0, 3, 0], [0, 0, 3]]
