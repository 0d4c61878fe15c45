"""The effect of λ: what a tuning tried and what it chose."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from adjudge.errors import DataError

RECORD = "tuning.json"
"""What a tuning's folder says of itself."""


@dataclass(frozen=True)
class Point:
    """One run of a tuning; a stopped one was given up at ``step`` and says nothing of a whole training."""

    lam: float | None
    beta: float | None
    seed: int
    dev_label_accuracy: float | None
    state: Literal["finished", "stopped"]
    step: int | None = None


@dataclass(frozen=True)
class Selected:
    """What a tuning chose."""

    lam: float | None
    beta: float | None


@dataclass(frozen=True)
class Effect:
    """A tuning of one objective."""

    objective: str
    weighted: bool
    points: tuple[Point, ...]
    selected: Selected | None = None
    protocol: str = ""

    @property
    def name(self) -> str:
        """What the tables call the objective."""
        return self.objective.upper() + (" + weighting" if self.weighted else "")


class Mean(NamedTuple):
    """The whole runs of one λ and β: mean LA on the tuning claims and how many seeds it is over."""

    lam: float
    beta: float | None
    label_accuracy: float
    seeds: int


def read_effect(folder: Path) -> Effect:
    """Read ``tuning.json``.

    Raises:
        DataError: the folder holds no tuning, or one in another form.
    """
    path = folder / RECORD
    try:
        effect = msgspec.json.decode(path.read_bytes(), type=Effect)
    except FileNotFoundError:
        raise DataError(f"{folder}: holds no tuning ({RECORD}); make one with adjudge tune.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not the record of a tuning ({error}).") from None
    if not means(effect):
        raise DataError(f"{path}: no finished run with a λ yet; finish the tuning with adjudge tune.")
    return effect


def means(effect: Effect) -> list[Mean]:
    """The mean of the finished seeds for each λ and β, in their order."""
    found: dict[tuple[float, float | None], list[float]] = {}
    for point in effect.points:
        if point.state == "finished" and point.lam is not None and point.dev_label_accuracy is not None:
            found.setdefault((point.lam, point.beta), []).append(point.dev_label_accuracy)
    rows = [Mean(lam, beta, statistics.fmean(values), len(values)) for (lam, beta), values in found.items()]
    return sorted(rows, key=lambda row: (row.lam, -math.inf if row.beta is None else row.beta))


def best_of_each_lambda(effect: Effect) -> list[Mean]:
    """For every λ the selected β where it was tried, else the β with the highest mean."""
    rows = means(effect)
    chosen = effect.selected
    best = {}
    for lam in dict.fromkeys(row.lam for row in rows):
        of_lam = [row for row in rows if row.lam == lam]
        if chosen is not None and lam == chosen.lam:
            of_lam = [row for row in of_lam if row.beta == chosen.beta] or of_lam
        best[lam] = max(of_lam, key=lambda row: row.label_accuracy)
    return list(best.values())
