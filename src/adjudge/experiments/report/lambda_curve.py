"""The effect of λ: what a tuning tried and what it selected."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from adjudge.errors import DataError
from adjudge.io.jsonl import BAD_JSON

RECORD = "tuning.json"
"""What a tuning's folder says of itself."""


@dataclass(frozen=True)
class CurvePoint:
    """One run of a tuning; a stopped one was given up at ``step`` and says nothing of a whole training."""

    lam: float | None
    beta: float | None
    seed: int
    dev_label_accuracy: float | None
    state: Literal["finished", "stopped"]
    step: int | None = None


@dataclass(frozen=True)
class Selected:
    """The pair that a tuning selected."""

    lam: float | None
    beta: float | None


class Mean(NamedTuple):
    """The whole runs of one λ and β: mean LA on the tuning claims and how many seeds it is over."""

    lam: float
    beta: float | None
    label_accuracy: float
    seeds: int


@dataclass(frozen=True)
class LambdaCurve:
    """A tuning of one objective."""

    objective: str
    weighted: bool
    points: tuple[CurvePoint, ...]
    selected: Selected | None = None
    protocol: str = ""

    @property
    def name(self) -> str:
        """What the tables call the objective."""
        return self.objective.upper() + (" + weighting" if self.weighted else "")

    def is_selected(self, mean: Mean) -> bool:
        """Whether a pair is the one selected."""
        return self.selected is not None and (mean.lam, mean.beta) == (self.selected.lam, self.selected.beta)


def read_lambda_curve(folder: Path) -> LambdaCurve:
    """Read ``tuning.json``.

    Raises:
        DataError: the folder holds no tuning, or one in another form.
    """
    path = folder / RECORD
    try:
        curve = msgspec.json.decode(path.read_bytes(), type=LambdaCurve)
    except FileNotFoundError:
        raise DataError(f"{folder}: holds no tuning ({RECORD}); make one with adjudge tune.") from None
    except BAD_JSON as error:
        raise DataError(f"{path}: not the record of a tuning ({error}).") from None
    if not means(curve):
        raise DataError(f"{path}: no finished run with a λ yet; finish the tuning with adjudge tune.")
    return curve


def means(curve: LambdaCurve) -> list[Mean]:
    """The mean of the finished seeds for each λ and β, in their order."""
    values: dict[tuple[float, float | None], list[float]] = {}
    for point in curve.points:
        if point.state == "finished" and point.lam is not None and point.dev_label_accuracy is not None:
            values.setdefault((point.lam, point.beta), []).append(point.dev_label_accuracy)
    rows = [Mean(*pair, statistics.fmean(seeds), len(seeds)) for pair, seeds in values.items()]
    return sorted(rows, key=lambda row: (row.lam, -math.inf if row.beta is None else row.beta))


def best_of_each_lambda(curve: LambdaCurve) -> list[Mean]:
    """For every λ the selected β where it was tried, else the β with the highest mean."""
    best: dict[float, Mean] = {}
    for mean in means(curve):
        best[mean.lam] = max(
            best.get(mean.lam, mean), mean, key=lambda row: (curve.is_selected(row), row.label_accuracy)
        )
    return list(best.values())
