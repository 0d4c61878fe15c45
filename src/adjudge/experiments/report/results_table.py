"""The results in the shape of the paper's Table 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from adjudge.experiments.models import display_name
from adjudge.experiments.plan import Arm
from adjudge.experiments.report.blocks import NOTHING, Cell, Entry, Row, Table
from adjudge.experiments.report.formatting import LEVEL, backbone_name
from adjudge.experiments.summary import Summary


class Result(NamedTuple):
    """What a row of the table is made of; LA and FS are shares of one."""

    arm: Arm
    label_accuracy: float
    fever_score: float | None
    significant: bool


def summary_table(summary: Summary) -> Table:
    """The table of a comparison: the selected run of every arm, asterisks by Holm's p."""
    return results_table(
        [
            Result(
                row.arm,
                row.selected.scores.label_accuracy,
                row.selected.scores.fever_score,
                significant=row.baseline_comparison is not None and row.baseline_comparison.holm_p < LEVEL,
            )
            for row in summary.arms
        ],
        summary.n,
    )


def results_table(results: Sequence[Result], claims: int) -> Table:
    """Results by backbone, with differences from the baseline and the best of each column."""
    variants = any(result.arm.variant != "paper" for result in results)
    fever = any(result.fever_score is not None for result in results)
    rows: list[Row | str] = []
    several = len({result.arm.model for result in results}) > 1
    for backbone, model in dict.fromkeys(result.arm.group for result in results):
        title = f"{backbone_name(backbone)}, {display_name(model)}" if several else backbone_name(backbone)
        rows.append(f"Backbone: {title}")
        rows += _group([item for item in results if item.arm.group == (backbone, model)], variants, fever)
    betas = {result.arm.beta for result in results if result.arm.weighted}
    shared = betas.pop() if len(betas) == 1 else None
    beta = "" if shared is None else f" β of the class weights is {shared:g}."
    return Table(
        f"Label accuracy (LA){' and FEVER score (FS)' if fever else ''} on {claims:,} claims, in %, of the run with "
        "the best LA on the tuning claims; in parentheses the difference from CE without weighting. * differs from it: "
        f"McNemar, Holm p < {LEVEL}. Bold: best of its {'model' if several else 'backbone'}.{beta}",
        ("Objective function", "Weighting", *["Variant"] * variants, "LA", *["FS"] * fever),
        tuple(rows),
        words=3 if variants else 2,
        kind="results",
    )


def _group(results: Sequence[Result], variants: bool, fever: bool) -> Iterator[Row]:
    results = sorted(results, key=lambda result: not result.arm.is_baseline)
    accuracy = _column([item.label_accuracy for item in results], [item.significant for item in results])
    scores = [item.fever_score for item in results if item.fever_score is not None]
    # An FS is compared only where every arm has one.
    whole = len(scores) == len(results)
    columns = [accuracy, _column(scores, [False] * len(scores)) if whole else [Cell(NOTHING)] * len(results)]
    for index, result in enumerate(results):
        words = [_objective(result.arm), "yes" if result.arm.weighted else NOTHING]
        figures: list[Entry] = [column[index] for column in columns[: 1 + fever]]
        yield (*words, *([result.arm.variant] * variants), *figures)


def _objective(arm: Arm) -> str:
    """Such as ``CE (baseline)`` or ``SR (λ=0.25)``."""
    if arm.is_baseline:
        return "CE (baseline)"
    return arm.objective.upper() + ("" if arm.lam is None else f" (λ={arm.lam:g})")


def _column(shares: Sequence[float], stars: Sequence[bool]) -> list[Cell]:
    """Figures in percent, the baseline's first; equal printed figures are best together.

    Differences are those of the printed figures, as in the paper, so that a reader who subtracts gets the same.
    """
    printed = [Decimal(f"{100 * share:.2f}") for share in shares]
    best = max(printed) if len(printed) > 1 else None
    notes = ["", *(f"({value - printed[0]:+})".replace("-", "−") for value in printed[1:])]
    return [
        Cell(f"{value}", note, best=value == best, star=star)
        for value, note, star in zip(printed, notes, stars, strict=True)
    ]
