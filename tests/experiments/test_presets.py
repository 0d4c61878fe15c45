from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adjudge.config import read_preset
from adjudge.experiments.plan import plan_names, read_plan

PAPER = ("bert-base", "bert-large", "roberta-large")


def test_the_presets_are_these() -> None:
    assert plan_names() == ["demo", "fever-mini", *(f"paper-{name}" for name in PAPER), "systems"]


def test_systems_are_compared_under_ce_and_weighted_sr(toy_files: dict[str, Path]) -> None:
    plan = read_plan("systems", {"run": {"data": toy_files}})
    models = ["kgat", "gear", "mixture", "concat", "bevers", "bevers (trees)"]
    assert [(arm.model, arm.name) for arm in plan.arms] == [
        (model, name) for model in models for name in ("CE", "SR + weighting")
    ]
    assert {run.training.seed for run in plan.runs} == {0, 1, 2}
    assert {"LisT5", "ProoFVer"} <= set(plan.absent)


@pytest.mark.parametrize("name", [name for name in plan_names() if name != "systems"])
def test_a_preset_reads_and_holds_the_whole_table(name: str, toy_files: dict[str, Path]) -> None:
    plan = read_plan(name, {} if name == "demo" else {"run": {"data": toy_files}})
    assert len(plan.arms) == 8  # four objectives, without and with weighting
    assert plan.arms[0].is_baseline and plan.title


@pytest.mark.parametrize("backbone", PAPER)
def test_the_papers_presets_train_as_the_single_runs_presets_do(
    backbone: str, toy_files: dict[str, Path]
) -> None:
    expected = read_preset(backbone)
    for run in read_plan(f"paper-{backbone}", {"run": {"data": toy_files}}).runs:
        training = run.training.model_dump()
        assert {key: training[key] for key in expected["training"]} == expected["training"]
        assert run.model.backbone == expected["model"]["backbone"]


def test_fever_mini_trains_as_the_minilm_preset_does(toy_files: dict[str, Path]) -> None:
    expected = read_preset("minilm")
    settings = read_plan("fever-mini", {"run": {"data": toy_files}}).runs[0]
    training = settings.training.model_dump()
    assert {key: training[key] for key in expected["training"]} == expected["training"]
    assert (settings.model.backbone, settings.data.limit) == ("minilm", 4000)


@pytest.mark.parametrize("backbone", PAPER)
def test_lambda_and_beta_are_those_of_the_papers_table(
    backbone: str, toy_files: dict[str, Path], paper_tables: dict[str, Any]
) -> None:
    published = {
        (row["objective"], row["weighting"]): row["lambda"]
        for row in paper_tables["dev_results"]
        if row["backbone"] == backbone
    }
    plan = read_plan(f"paper-{backbone}", {"run": {"data": toy_files}})
    assert {(arm.objective, arm.weighted): arm.lam for arm in plan.arms} == published
    assert {arm.beta for arm in plan.arms if arm.weighted} == {paper_tables["beta"]}
    assert {run.training.seed for run in plan.runs} == {0, 1, 2}
