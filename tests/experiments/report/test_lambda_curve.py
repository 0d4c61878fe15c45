from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.experiments.report.blocks import Cell, Report, Table
from adjudge.experiments.report.lambda_curve import Mean, best_of_each_lambda, means, read_lambda_curve


def test_runs_stopped_early_are_in_no_mean(tuning: Path) -> None:
    assert means(read_lambda_curve(tuning)) == [
        Mean(0.03125, 0.999, pytest.approx(0.61), 2),
        Mean(0.25, 0.999, 0.63, 1),
        Mean(0.25, 0.9999, 0.64, 1),
        Mean(1.0, 0.999, 0.5, 1),
    ]


def test_each_lambda_stands_with_its_best_beta_and_the_selected_pair_is_bold(
    tuning: Path, report: Report
) -> None:
    curve = read_lambda_curve(tuning)
    assert [(row.lam, row.beta) for row in best_of_each_lambda(curve)] == [
        (0.03125, 0.999),
        (0.25, 0.9999),
        (1.0, 0.999),
    ]
    (section,) = (section for section in report.sections if section.title == "SR + weighting")
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    texts = ("SR (λ=0.25)", "yes (β=0.9999)", "64.00", "1")
    assert table.rows[1] == tuple(Cell(text, best=True) for text in texts)
    assert not any(cell.best for row in (table.rows[0], table.rows[2]) for cell in row)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "holds no tuning"),
        ("{", "not the record of a tuning"),
        ('{"objective": "sr", "weighted": true, "points": [{"lam": "x"}]}', "not the record of a tuning"),
        ('{"objective": "sr", "weighted": true, "points": []}', "no finished run"),
    ],
)
def test_a_folder_without_a_usable_tuning_is_refused(text: str | None, problem: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "tuning.json").write_text(text)
    with pytest.raises(DataError, match=problem):
        read_lambda_curve(tmp_path)
