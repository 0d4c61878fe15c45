from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.experiments.comparison import prepare
from adjudge.experiments.cost import estimate
from toy import toy_plan


def test_work_grows_with_what_is_trained(toy_files: dict[str, Path], tmp_path: Path) -> None:
    def flops(**grid: object) -> float:
        cost = estimate(prepare(toy_plan(toy_files, backbones=["minilm"], **grid), tmp_path))
        assert cost.flops is not None and cost.seconds is not None and cost.seconds > 0
        return cost.flops

    one = flops(objectives=["ce"], weighting=[False])
    # Claims of two rows, near 10 tokens each; 6 layers of 1.77 M weights. 24 claims are trained on, with 6 operations
    # for each weight and token; 9 are predicted at both evaluations (steps 2 and 3) and at the end, 9 others once: 2.
    assert one == pytest.approx(6 * 1.77e6 * 2 * 10 * (6 * 24 + 2 * (2 * 9 + 9 + 9)), rel=0.3)
    assert flops(objectives=["sr"]) == pytest.approx(3 * one)  # CE, SR, SR + weighting
    assert flops(objectives=["ce"], weighting=[False], seeds=[0, 1]) == pytest.approx(2 * one)


def test_finished_runs_are_the_better_guide(toy_files: dict[str, Path], tmp_path: Path) -> None:
    jobs = prepare(toy_plan(toy_files, seeds=[0, 1, 2], objectives=["ce"], weighting=[False]), tmp_path)
    for job, seconds in zip(jobs[:2], (10.0, 20.0), strict=True):
        job.folder.mkdir(parents=True)
        (job.folder / "manifest.json").write_text(json.dumps({"seconds": seconds}))
    cost = estimate(jobs)
    assert (cost.runs, cost.finished, cost.seconds) == (3, 2, 15.0)


def test_an_unknown_backbone_has_no_estimate(toy_files: dict[str, Path], tmp_path: Path) -> None:
    cost = estimate(prepare(toy_plan(toy_files), tmp_path))
    assert cost.flops is None and cost.seconds is None
