from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.experiments.report.content import Content, TrainingCurve, gather, protocol_facts
from adjudge.experiments.report.findings import findings


def test_a_repeated_step_counts_once_as_it_was_last(content: Content) -> None:
    base = content.summary.arms[0].arm
    assert content.training_curves[base] == (
        TrainingCurve(0, True, ((1, 2.0), (2, 1.0), (3, 2 / 3), (4, 0.5)), ((2, 0.4), (4, 0.6))),
        TrainingCurve(1, False, ((1, 2.0), (2, 1.0), (3, 2 / 3), (4, 0.5)), ((2, 0.4), (4, 0.5))),
    )


def test_unfinished_runs_are_named_and_left_out(own_comparison: Path) -> None:
    for run in ("sr00", "sr10", "sr11"):
        (own_comparison / "runs" / run / "manifest.json").unlink()
    found = gather(own_comparison)
    assert found.unfinished == (
        "my_back$bone<b>, SR: seed 0",
        "my_back$bone<b>, SR + weighting: seeds 0, 1",
    )
    assert [len(row.runs) for row in found.summary.arms] == [2, 1]


def test_a_lone_baseline_is_a_report_without_comparisons(own_comparison: Path) -> None:
    for manifest in own_comparison.glob("runs/sr*/manifest.json"):
        manifest.unlink()
    found = gather(own_comparison)
    assert findings(found.summary) == ["Only the baseline is finished: LA 41.67."]
    assert found.changes is None


def test_without_a_finished_baseline_there_is_no_report(own_comparison: Path) -> None:
    for manifest in own_comparison.glob("runs/ce*/manifest.json"):
        manifest.unlink()
    with pytest.raises(DataError, match="no finished run of the baseline"):
        gather(own_comparison)


def test_the_protocol_says_how_the_figures_came_about(content: Content) -> None:
    facts = dict(protocol_facts(content.summary))
    assert facts["Test claims"] == "12"
    assert facts["Selection"] == "nested"
    assert facts["Gold injected"].startswith("yes")
    assert facts["Seeds"] == "0, 1"
    assert facts["Data, test"].endswith(f"(SHA-256 {'ab' * 32})")
    assert "epochs" in facts["Training"] and "dropout" in facts["Model"]
    assert facts["Time"] == "15 seconds over all finished runs"
    assert facts["Commit"] == "c0ffee"


def test_a_title_may_be_given(comparison: Path) -> None:
    assert gather(comparison, title="Mine").title == "Mine"
