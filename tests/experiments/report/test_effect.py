from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import DataError
from adjudge.experiments.report.effect import Mean, best_of_each_lambda, means, read_effect
from adjudge.experiments.report.tables import effect_table


def test_runs_stopped_early_are_in_no_mean(tuning: Path) -> None:
    assert means(read_effect(tuning)) == [
        Mean(0.03125, 0.999, pytest.approx(0.61), 2),
        Mean(0.25, 0.999, 0.63, 1),
        Mean(0.25, 0.9999, 0.64, 1),
        Mean(1.0, 0.999, 0.5, 1),
    ]


def test_each_lambda_stands_with_its_best_beta_and_the_selected_pair_is_strong(tuning: Path) -> None:
    effect = read_effect(tuning)
    assert [(row.lam, row.beta) for row in best_of_each_lambda(effect)] == [
        (0.03125, 0.999),
        (0.25, 0.9999),
        (1.0, 0.999),
    ]
    table = effect_table(effect)
    assert table.rows[1] == ("SR (λ=0.25)", "yes (β=0.9999)", "64.00", "1")
    assert table.strong == (1,)


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
        read_effect(tmp_path)
