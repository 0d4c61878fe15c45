from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.experiments.comparison import compare
from systems import split_claims, with_lines
from systems_tables import main
from toy import toy_files, toy_plan


def test_parts_share_no_claim_and_have_about_the_sizes_asked_for():
    records = [{"id": n, "claim": f"claim {n // 2}"} for n in range(40)]
    first, second = split_claims(records, (10, 15))
    assert len(first) == 10 and len(second) == 16
    assert not {r["claim"] for r in first} & {r["claim"] for r in second}
    assert split_claims(records, (10, 15)) == [first, second]
    assert split_claims(records, (10, 15), seed=1) != [first, second]


def test_lines_are_found_again_by_the_letters_of_the_text():
    pages = [{"id": "A", "lines": "0\tOne -LRB- two -RRB- .\tlink\n1\t\n2\tThree .\n3\tThree ."}]
    record = {
        "id": 1,
        "evidence": [["A", -1, "One (two).", 0.5], ["A", -1, "Three.", 0.0], ["B", -1, "x", 0.0]],
    }
    [found] = with_lines([record], pages)
    assert found["evidence"] == [["A", 0, "One (two).", 0.5], ["A", 2, "Three.", 0.0], ["B", -1, "x", 0.0]]


def test_tables_hold_means_over_seeds_and_the_chosen_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = toy_plan(
        toy_files(tmp_path), models=["kgat", "gear"], objectives=["sr"], weighting=[True], seeds=[0, 1]
    )
    summary = compare(plan, tmp_path / "out")
    main(tmp_path / "out")
    means, tests, gains, cost, *_ = capsys.readouterr().out.split("\n\n")
    assert [line.split(" | ")[:2] for line in means.splitlines()[2:]] == [
        ["| KGAT", "CE"],
        ["| KGAT", "SR + weighting"],
        ["| GEAR", "CE"],
        ["| GEAR", "SR + weighting"],
    ]
    row = summary.arms[3]
    shares = [run.scores.label_accuracy for run in row.runs]
    assert f"{100 * sum(shares) / 2:.2f} ± {100 * abs(shares[0] - shares[1]) / 2**0.5:.2f}" in means
    assert row.model_comparison is not None and row.baseline_comparison is not None
    last = tests.splitlines()[-1].strip("| ").split(" | ")
    assert last[2:4] == [str(row.selected.seed), f"{100 * row.selected.scores.label_accuracy:.2f}"]
    assert last[5] == f"{row.model_comparison.test.p_value:.3f}"
    counts = [run.scores.contradiction_rate for run in row.runs]
    assert ", ".join(f"{6 * (rate or 0):.0f}" for rate in counts) in gains.splitlines()[-1]  # of 6 claims
    assert [line.split(" | ")[0] for line in cost.splitlines()[2:]] == ["| KGAT", "| GEAR"]
