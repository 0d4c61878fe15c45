from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import ConfigError
from adjudge.experiments.plan import Arm, make_plan, plan_names, read_plan
from toy import TINY_RUN, toy_plan


def test_the_default_grid_is_the_papers_with_the_baseline_first(toy_files: dict[str, Path]) -> None:
    plan = toy_plan(toy_files, seeds=[0, 1, 2])
    assert [arm.name for arm in plan.arms] == [
        "CE",
        "CE + weighting",
        "MLL",
        "MLL + weighting",
        "SRN",
        "SRN + weighting",
        "SR",
        "SR + weighting",
    ]
    assert len(plan.runs) == 24
    assert [run.training.seed for run in plan.runs[:4]] == [0, 1, 2, 0]
    assert Arm.of(plan.runs[0]).is_baseline and not Arm.of(plan.runs[3]).is_baseline


def test_the_baseline_runs_even_when_it_is_not_asked_for(toy_files: dict[str, Path]) -> None:
    plan = toy_plan(toy_files, objectives=["sr"], weighting=[True], backbones=["tiny", "minilm"])
    assert [(arm.backbone, arm.name) for arm in plan.arms] == [
        ("tiny", "CE"),
        ("tiny", "SR + weighting"),
        ("minilm", "CE"),
        ("minilm", "SR + weighting"),
    ]


def test_the_released_variant_may_be_run_for_some_objectives_only(toy_files: dict[str, Path]) -> None:
    plan = toy_plan(toy_files, variants=["paper", "released"], released=["sr"], weighting=[True])
    assert [arm.name for arm in plan.arms] == [
        "CE",
        "CE + weighting",
        "MLL + weighting",
        "SRN + weighting",
        "SR + weighting",
        "SR + weighting (released)",
    ]


def test_plain_cross_entropy_is_not_run_again_for_the_released_variant(toy_files: dict[str, Path]) -> None:
    plan = toy_plan(toy_files, objectives=["ce", "sr"], variants=["paper", "released"])
    assert [arm.name for arm in plan.arms] == [
        "CE",
        "CE + weighting",
        "CE + weighting (released)",
        "SR",
        "SR (released)",
        "SR + weighting",
        "SR + weighting (released)",
    ]


@pytest.mark.parametrize(
    ("lam", "expected"),
    [
        (0.5, {"MLL": 0.5, "MLL + weighting": 0.5, "SR": 0.5, "SR + weighting": 0.5}),
        ({"sr": 0.5}, {"MLL": 0.25, "MLL + weighting": 0.25, "SR": 0.5, "SR + weighting": 0.5}),
        (
            {"sr": {"unweighted": 0.0625, "weighted": 0.25}, "mll": 0.0},
            {"MLL": 0.0, "MLL + weighting": 0.0, "SR": 0.0625, "SR + weighting": 0.25},
        ),
    ],
)
def test_lambda_is_one_for_all_or_by_objective_and_weighting(
    lam: object, expected: dict[str, float], toy_files: dict[str, Path]
) -> None:
    plan = toy_plan(toy_files, objectives=["mll", "sr"], lam=lam, beta=0.9)
    assert {arm.name: arm.lam for arm in plan.arms if arm.objective != "ce"} == expected
    for arm, run in zip(plan.arms, plan.runs, strict=True):
        assert run.objective.name == arm.objective
        assert run.objective.beta == (0.9 if arm.weighted else None)
        assert arm.lam is None or run.objective.lam == arm.lam


def test_several_values_of_lambda_and_beta_are_axes_and_named(toy_files: dict[str, Path]) -> None:
    lam = {"sr": {"unweighted": [0.5, 1.0], "weighted": 0.25}}
    plan = toy_plan(toy_files, objectives=["ce", "sr"], lam=lam, beta=[0.9, 0.999999])
    assert [arm.name for arm in plan.arms] == [
        "CE",
        "CE + weighting, β 0.9",
        "CE + weighting, β 0.999999",
        "SR, λ 0.5",
        "SR, λ 1",
        "SR + weighting, λ 0.25, β 0.9",
        "SR + weighting, λ 0.25, β 0.999999",
    ]


def test_everything_wrong_with_a_plan_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        """
colour = "red"
[run.training]
epochs = 0
seed = 3
[grid]
objectives = ["ce", "xyz"]
beta = 1.0
lam = { sr = -1.0 }
seeds = []
"""
    )
    with pytest.raises(ConfigError) as caught:
        read_plan(str(path))
    for problem in (
        "colour is not a setting",
        "run.training.epochs is 0",
        "grid.objectives.1 is 'xyz'",
        "grid.beta.0 is 1.0",
        "grid.lam.sr.weighted.0 is -1.0",
        "grid.seeds: is empty",
        "run.training.seed is decided by the grid",
    ):
        assert problem in str(caught.value)


def test_missing_files_are_said_before_any_training(toy_files: dict[str, Path], tmp_path: Path) -> None:
    files = {**toy_files, "train": tmp_path / "nowhere.jsonl", "gold": tmp_path}
    del files["dev"]
    with pytest.raises(ConfigError) as caught:
        toy_plan(files)
    for problem in ("nowhere.jsonl: no such file", "data.dev is not set", "is a directory"):
        assert problem in str(caught.value)


def test_a_world_leaves_no_place_for_files(toy_files: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match=r"run.data.train, run.data.dev, run.data.test: \[world\]"):
        make_plan({"world": {"claims": 100, "seed": 1}, "run": {**TINY_RUN, "model": {}, "data": toy_files}})


def test_an_unknown_plan_names_the_presets() -> None:
    with pytest.raises(ConfigError, match="demo"):
        read_plan("nonsense")


def test_the_demo_is_the_whole_table_without_any_file() -> None:
    assert "demo" in plan_names()
    plan = read_plan("demo")
    assert plan.world is not None and len(plan.arms) == 8
    assert plan.arms[0] == Arm("minilm", "ce", weighted=False)


def test_what_is_laid_over_a_plan_wins(toy_files: dict[str, Path]) -> None:
    plan = read_plan("demo", {"grid": {"seeds": ["4", "5"]}, "run": {"training": {"epochs": 7}}})
    assert {run.training.seed for run in plan.runs} == {4, 5}
    assert {run.training.epochs for run in plan.runs} == {7}
