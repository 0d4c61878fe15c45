"""The results table in the shape of the paper's Table 2, as data; every format renders the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from adjudge.experiments.plan import Arm
from adjudge.experiments.summary import Summary

LEVEL = 0.05
"""Below this p a difference gets its asterisk."""

BACKBONES = {
    "minilm": "MiniLM",
    "bert-base": "BERT Base",
    "bert-large": "BERT Large",
    "roberta-large": "RoBERTa Large",
}


class Result(NamedTuple):
    """What a row of the table is made of; LA and FS are shares of one."""

    arm: Arm
    label_accuracy: float
    fever_score: float | None
    significant: bool


@dataclass(frozen=True)
class Cell:
    """A figure in percent. ``delta`` is the difference of the printed figures, as in the paper, so that a reader
    who subtracts finds the same; it is None for the baseline.
    """

    value: Decimal
    delta: Decimal | None
    best: bool
    star: bool = False

    @property
    def signed(self) -> str:
        """The difference, such as ``+0.48``; empty for the baseline."""
        return "" if self.delta is None else f"{self.delta:+}".replace("-", "−")

    @property
    def text(self) -> str:
        """Such as ``78.29 (+0.48)``, without emphasis and asterisk."""
        return f"{self.value} ({self.signed})" if self.signed else f"{self.value}"


@dataclass(frozen=True)
class Row:
    """One arm of a backbone."""

    arm: Arm
    label_accuracy: Cell
    fever_score: Cell | None

    @property
    def objective(self) -> str:
        """Such as ``CE (baseline)`` or ``SR (λ=0.25)``."""
        if self.arm.is_baseline:
            return "CE (baseline)"
        name = self.arm.objective.upper()
        return name if self.arm.lam is None else f"{name} (λ={self.arm.lam:g})"

    @property
    def weighting(self) -> str:
        """``yes`` or a dash."""
        return "yes" if self.arm.weighted else "–"


@dataclass(frozen=True)
class Group:
    """The rows of one backbone, the baseline first."""

    backbone: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class ResultsTable:
    """``with_variant`` and ``with_fever`` say which columns there is anything to put into."""

    groups: tuple[Group, ...]
    with_variant: bool
    with_fever: bool

    @property
    def head(self) -> tuple[str, ...]:
        """The names of the columns."""
        variant = ("Variant",) if self.with_variant else ()
        return ("Objective function", "Weighting", *variant, "LA", *(("FS",) if self.with_fever else ()))

    @property
    def beta(self) -> float | None:
        """β of the class weights, where all weighted rows share one."""
        found = {row.arm.beta for group in self.groups for row in group.rows if row.arm.weighted}
        return found.pop() if len(found) == 1 else None

    def labels_of(self, row: Row) -> tuple[str, ...]:
        """The cells of a row that are words."""
        return (row.objective, row.weighting, *((row.arm.variant,) if self.with_variant else ()))

    def figures_of(self, row: Row) -> tuple[Cell | None, ...]:
        """The cells of a row that are figures."""
        return (row.label_accuracy, *((row.fever_score,) if self.with_fever else ()))


def backbone_name(backbone: str) -> str:
    """What the paper calls a backbone it knows."""
    return BACKBONES.get(backbone, backbone)


def results_table(results: Sequence[Result]) -> ResultsTable:
    """Group results by backbone, and mark differences from the baseline and the best of each column."""
    backbones = dict.fromkeys(result.arm.backbone for result in results)
    return ResultsTable(
        tuple(_group(name, [item for item in results if item.arm.backbone == name]) for name in backbones),
        with_variant=any(result.arm.variant != "paper" for result in results),
        with_fever=any(result.fever_score is not None for result in results),
    )


def summary_table(summary: Summary) -> ResultsTable:
    """The table of a comparison: the chosen run of every arm, asterisks by Holm's p."""
    return results_table(
        [
            Result(
                row.arm,
                row.chosen.scores.label_accuracy,
                row.chosen.scores.fever_score,
                significant=row.against is not None and row.against.holm_p < LEVEL,
            )
            for row in summary.arms
        ]
    )


def _group(backbone: str, results: Sequence[Result]) -> Group:
    results = sorted(results, key=lambda result: not result.arm.is_baseline)
    accuracy = _cells([item.label_accuracy for item in results], [item.significant for item in results])
    scores = [item.fever_score for item in results if item.fever_score is not None]
    # An FS is compared only where every arm has one.
    fever = _cells(scores, [False] * len(scores)) if len(scores) == len(results) else [None] * len(results)
    rows = zip(results, accuracy, fever, strict=True)
    return Group(backbone, tuple(Row(result.arm, la, fs) for result, la, fs in rows))


def _cells(shares: Sequence[float], stars: Sequence[bool]) -> list[Cell]:
    """A column whose first figure is the baseline's; equal printed figures are best together."""
    printed = [Decimal(f"{100 * share:.2f}") for share in shares]
    best = max(printed) if len(printed) > 1 else None
    deltas = [None, *(value - printed[0] for value in printed[1:])]
    return [
        Cell(value, delta, value == best, star)
        for value, delta, star in zip(printed, deltas, stars, strict=True)
    ]
