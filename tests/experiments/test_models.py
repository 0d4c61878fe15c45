from __future__ import annotations

from pathlib import Path

import pytest
from torch import nn

from adjudge.config import ModelSettings
from adjudge.encoders.backbone import Backbone
from adjudge.encoders.batch import Batch, ModelOutput
from adjudge.errors import ConfigError
from adjudge.experiments.comparison import compare
from adjudge.experiments.models import display_name, model_name
from adjudge.experiments.plan import make_plan
from adjudge.experiments.report import build_report, gather
from adjudge.experiments.report.blocks import Table
from adjudge.experiments.report.markdown import to_markdown
from adjudge.judges.registry import KINDS
from toy import toy_plan

GEAR_3 = {"kind": "gear", "options": {"layers": 3}}


def test_models_are_an_axis_beside_objectives_each_with_its_own_baseline(toy_files: dict[str, Path]) -> None:
    plan = toy_plan(
        toy_files, models=["kgat", GEAR_3], objectives=["sr"], weighting=[False], backbones=["tiny", "minilm"]
    )
    assert [(arm.backbone, arm.model, arm.name, arm.is_baseline) for arm in plan.arms] == [
        ("tiny", "kgat", "CE", True),
        ("tiny", "kgat", "SR", False),
        ("tiny", "gear (layers 3)", "CE", True),
        ("tiny", "gear (layers 3)", "SR", False),
        ("minilm", "kgat", "CE", True),
        ("minilm", "kgat", "SR", False),
        ("minilm", "gear (layers 3)", "CE", True),
        ("minilm", "gear (layers 3)", "SR", False),
    ]
    kinds = [(run.model.kind, run.model.options, run.model.max_length) for run in plan.runs]
    assert (
        kinds
        == [("kgat", {}, 32), ("kgat", {}, 32), ("gear", {"layers": 3}, 32), ("gear", {"layers": 3}, 32)] * 2
    )
    assert not plan.tuned


def test_an_entry_may_set_other_settings_of_the_model(toy_files: dict[str, Path]) -> None:
    plan = toy_plan(toy_files, models=["kgat", {"kind": "concat", "max_length": 64}], objectives=["ce"])
    assert {(run.model.kind, run.model.max_length) for run in plan.runs} == {("kgat", 32), ("concat", 64)}


def test_an_entry_may_have_its_own_selector(toy_files: dict[str, Path]) -> None:
    plan = toy_plan(
        toy_files,
        models=["kgat", {"kind": "kgat", "selector": "lexical"}],
        objectives=["ce"],
        weighting=[False],
    )
    assert [arm.model for arm in plan.arms] == ["kgat", "kgat + lexical"]
    assert [run.data.selector for run in plan.runs] == [None, "lexical"]
    assert {plan.arm(run) for run in plan.runs} == set(plan.arms)


def test_without_the_axis_the_runs_have_the_model_of_the_plan(toy_files: dict[str, Path]) -> None:
    values = {
        "run": {"data": toy_files, "model": GEAR_3},
        "grid": {"objectives": ["ce"], "backbones": ["tiny"]},
    }
    plan = make_plan(values)
    assert {arm.model for arm in plan.arms} == {"gear (layers 3)"}
    assert {plan.arm(run) for run in plan.runs} == set(plan.arms)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"grid": {"models": ["kgat", "kgat"]}}, "holds a model twice"),
        ({"grid": {"models": ["kgat", "bert"]}}, "expected one of kgat"),
        ({"grid": {"models": [{"kind": "gear", "options": {"depth": 2}}]}}, "depth is not a setting"),
        ({"grid": {"models": [{"kind": "gear", "backbone": "tiny"}]}}, "backbone is not to be set here"),
        ({"grid": {"models": [3]}}, "a table of model settings"),
        (
            {"grid": {"models": ["kgat"]}, "run": {"model": {"kind": "gear"}}},
            "run.model.kind is decided by the grid",
        ),
    ],
)
def test_what_is_wrong_with_the_axis_is_named(
    values: dict[str, dict[str, object]], message: str, toy_files: dict[str, Path]
) -> None:
    values = {"grid": values["grid"], "run": {**values.get("run", {}), "data": toy_files}}
    with pytest.raises(ConfigError, match=message):
        make_plan(values)


def test_a_model_is_named_by_its_kind_and_options() -> None:
    assert model_name(ModelSettings(kind="kgat", options={"released": True})) == "kgat (released)"
    assert model_name(ModelSettings(kind="gear", options={"layers": 2})) == "gear"  # the default
    assert display_name("gear (layers 3)") == "GEAR (layers 3)"
    assert [display_name(kind) for kind in KINDS] == ["KGAT", "mixture", "concatenation", "GEAR", "BEVERS"]
    assert display_name("kgat + fusion") == "KGAT + fusion"


class FIRST(nn.Module):
    """A head that nothing but its line in the registry knows of: it judges by the first sentence alone."""

    one_row = False
    pads_rows = False

    def __init__(self, backbone: Backbone, classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.backbone = backbone
        self.verdict = nn.Linear(backbone.hidden_size, classes)

    def forward(self, batch: Batch) -> ModelOutput:
        states = self.backbone(batch).pooled[batch.row_of[:, 0]]
        return ModelOutput(self.verdict(states).float().log_softmax(dim=-1))


def test_a_new_head_needs_its_class_and_one_line(
    toy_files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "first", f"{__name__}:FIRST")
    plan = toy_plan(toy_files, models=["kgat", "first"], objectives=["sr"], weighting=[True])
    summary = compare(plan, tmp_path / "out")
    assert [row.arm.model for row in summary.arms] == ["kgat", "kgat", "first", "first"]
    assert summary.arms[3].model_comparison is not None
    text = to_markdown(build_report(gather(tmp_path / "out")))
    assert "| FIRST | SR + weighting |" in text


def test_models_are_compared_with_the_first_under_the_same_objective(
    toy_files: dict[str, Path], tmp_path: Path
) -> None:
    plan = toy_plan(
        toy_files,
        models=["kgat", "gear"],
        objectives=["ce", "sr"],
        weighting=[False],
        absent={"LisT5": "needs the weights of t5-base"},
    )
    summary = compare(plan, tmp_path / "out")
    rows = {(row.arm.model, row.arm.name): row for row in summary.arms}
    assert list(rows) == [("kgat", "CE"), ("kgat", "SR"), ("gear", "CE"), ("gear", "SR")]
    correct = {}
    for key, row in rows.items():
        correct[key] = row.selected.scores.label_accuracy
        assert (
            row.selected.parameters and row.selected.claims_per_second and row.selected.claims_per_second > 0
        )
    for name in ("CE", "SR"):
        first, other = rows["kgat", name], rows["gear", name]
        assert first.model_comparison is None
        comparison = other.model_comparison
        assert comparison is not None
        # Only this right − only the first right = claims of difference in accuracy.
        gained = comparison.test.n01 - comparison.test.n10
        assert gained / 9 == pytest.approx(correct["gear", name] - correct["kgat", name])
        assert comparison.holm_p >= comparison.test.p_value
    assert rows["gear", "CE"].baseline_comparison is None
    assert rows["gear", "SR"].baseline_comparison is not None
    assert rows["gear", "CE"].selected.parameters != rows["kgat", "CE"].selected.parameters

    report = build_report(gather(tmp_path / "out"))
    section = next(section for section in report.sections if section.title == "Systems")
    [table] = section.blocks
    assert isinstance(table, Table)
    assert [row[:2] for row in table.rows] == [
        ("KGAT", "CE"),
        ("KGAT", "SR"),
        ("GEAR", "CE"),
        ("GEAR", "SR"),
        ("LisT5", "needs the weights of t5-base"),
    ]
    assert {len(row) for row in table.rows} == {len(table.head)}
    text = to_markdown(report)
    assert "needs the weights of t5-base" in text and "GEAR: " in text


def test_one_model_has_no_table_of_systems(toy_files: dict[str, Path], tmp_path: Path) -> None:
    compare(toy_plan(toy_files, objectives=["ce"], weighting=[False]), tmp_path / "out")
    titles = [section.title for section in build_report(gather(tmp_path / "out")).sections]
    assert "Systems" not in titles and "Results" in titles
