from __future__ import annotations

import random

import pytest

from adjudge.experiments.halving import halving, patience
from adjudge.experiments.status import Evaluation

pytest.importorskip("optuna")


def judged(curves: list[list[float]]) -> list[int | None]:
    """For each run, evaluated at equal distances, the evaluation that it was given up at."""
    begin = halving()
    said: list[int | None] = []
    for curve in curves:
        watch, length = begin(), len(curve)
        verdicts = (watch(Evaluation(i, i / length, value)) for i, value in enumerate(curve, start=1))
        said.append(next((i for i, hopeless in enumerate(verdicts, start=1) if hopeless), None))
    return said


def test_a_run_must_be_in_the_better_half_at_a_quarter_and_at_half() -> None:
    # Evaluated at 25, 50, 75 and 100 %.
    curves = [
        [0.50, 0.52, 0.53, 0.54],  # the first is never given up
        [0.40, 0.90, 0.90, 0.90],  # at 25 % best of (.50, .40)? no
        [0.60, 0.62, 0.63, 0.64],  # 25 %: best of three; 50 %: best of two
        [0.55, 0.56, 0.99, 0.99],  # 25 %: second of four; 50 %: second of (.52, .62, .56), one goes on
        [0.58, 0.70, 0.10, 0.10],  # 25 %: second of five; 50 %: first of four; then it is left alone
    ]
    assert judged(curves) == [None, 1, None, 2, None]


def naive(curves: list[list[float]]) -> list[int | None]:
    rungs: dict[float, list[float]] = {0.25: [], 0.5: []}
    said: list[int | None] = []
    for curve in curves:
        given_up = None
        for rung, seen in rungs.items():
            at = next(i for i in range(1, len(curve) + 1) if i / len(curve) >= rung)
            if at == len(curve):
                continue
            value = max(curve[:at])
            seen.append(value)
            better = sum(other > value for other in seen)
            if better >= max(1, len(seen) // 2):
                given_up = at
                break
        said.append(given_up)
    return said


@pytest.mark.parametrize("evaluations", [1, 2, 5, 12])
def test_it_agrees_with_a_naive_loop_that_counts_better_runs(evaluations: int) -> None:
    draw = random.Random(evaluations)
    curves = [[draw.random() for _ in range(evaluations)] for _ in range(40)]
    assert judged(curves) == naive(curves)


def test_an_evaluation_that_a_resumed_run_repeats_counts_once() -> None:
    begin = halving()
    first, second, third = begin(), begin(), begin()
    assert [first(Evaluation(1, 0.25, 0.40)) for _ in range(3)] == [False] * 3
    assert not second(Evaluation(1, 0.25, 0.50))
    # One of (.40, .50, .45) goes on; had the first counted three times, two would.
    assert third(Evaluation(1, 0.25, 0.45))


def test_patience_gives_nothing_up() -> None:
    patience()(Evaluation(1, 0.25, 0.9))
    assert not patience()(Evaluation(1, 0.25, 0.0))
