from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.data.verdicts import read_verdicts, write_verdicts
from adjudge.errors import ConfigError
from adjudge.evaluation.statistics import mcnemar
from adjudge.experiments.comparison import compare, read_plan
from adjudge.experiments.view import comparison_record, comparison_view
from adjudge.types import Verdict


def plan_file(folder: Path, files: dict[str, Path]) -> Path:
    data = "\n".join(f'{name} = "{path}"' for name, path in files.items())
    path = folder / "plan.toml"
    path.write_text(
        f"""
[run.data]
{data}
[run.model]
backbone = "tiny"
max_length = 32
[run.training]
epochs = 1
batch_size = 8
accumulation = 1
eval_every = 2
[[runs]]
name = "CE"
objective = {{ name = "ce" }}
[[runs]]
name = "SR"
objective = {{ name = "sr", lam = 0.5 }}
"""
    )
    return path


def test_finished_runs_are_not_repeated(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = read_plan(str(plan_file(tmp_path, toy_files)))
    first = compare(plan, tmp_path / "out")
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert comparison_record(compare(plan, tmp_path / "out")) == comparison_record(first)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*") if path.is_file()} == made


def test_each_run_is_tested_against_the_first(toy_files: dict[str, Path], tmp_path: Path) -> None:
    plan = read_plan(str(plan_file(tmp_path, toy_files)))
    base, other = compare(plan, tmp_path / "out")
    # Make the second run answer everything right, the first everything wrong but one claim.
    for result, right in ((base, 1), (other, 9)):
        path = result.folder / "predictions.jsonl"
        gold = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
        said = [gold[i % 3] if i < right else gold[(i + 1) % 3] for i in range(9)]
        verdicts = [
            Verdict(v.id, v.claim, label, v.probabilities, v.evidence)
            for v, label in zip(list(read_verdicts(path)), said, strict=True)
        ]
        write_verdicts(path, verdicts)
    base, other = compare(plan, tmp_path / "out")
    assert base.against is None
    assert base.scores.label_accuracy == pytest.approx(1 / 9)
    assert other.scores.label_accuracy == 1.0
    assert other.against == mcnemar([True] + [False] * 8, [True] * 9)
    assert other.against.n01 == 8  # only the second run right
    assert other.holm_p == other.against.p_value == pytest.approx(2 / 2**8)


def test_the_view_shows_delta_significance_and_matrices(toy_files: dict[str, Path], tmp_path: Path) -> None:
    from rich.console import Console

    results = compare(read_plan(str(plan_file(tmp_path, toy_files))), tmp_path / "out")
    console = Console(width=160, record=True, file=(tmp_path / "log").open("w"))
    console.print(comparison_view(results))
    console.file.close()
    text = console.export_text()
    difference = 100 * (results[1].scores.label_accuracy - results[0].scores.label_accuracy)
    assert f"{difference:+.2f}" in text
    assert "confusion matrices" in text and "McNemar p" in text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no"),
        ('[[runs]]\nobjective = {name = "ce"}', "needs a name"),
        ('[[runs]]\nname = "a"\n[[runs]]\nname = "a"', "needs a name of its own"),
        ('[grid]\n[[runs]]\nname = "a"', "grid is not a table"),
        ('[world]\nclaims = 3\n[[runs]]\nname = "a"', "claims and seed"),
        ('[[runs]]\nname = "a"\nobjective = {name = "xyz"}', "objective.name"),
        ('[[runs]]\nname = "a"\nobjective = {lam = -1.0, beta = 1.0}', "objective.lam .*objective.beta"),
    ],
)
def test_a_wrong_plan_is_refused_before_any_training(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem):
        compare(read_plan(str(path)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_plan_names_the_presets() -> None:
    with pytest.raises(ConfigError, match="demo"):
        read_plan("nonsense")
