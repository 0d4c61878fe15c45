"""The other tables of a report, as words in cells; every format renders the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adjudge.evaluation.render import SHORT, percent
from adjudge.experiments.report.effect import Effect, best_of_each_lambda
from adjudge.experiments.report.words import (
    NOTHING,
    difference,
    judgement,
    probability,
    rate,
    spread,
)
from adjudge.experiments.summary import ArmResult


@dataclass(frozen=True)
class Table:
    """The first column names the row, the first ``words`` hold words; ``strong`` rows are to stand out."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    strong: tuple[int, ...] = ()
    words: int = 1


def without(table: Table, columns: Sequence[str]) -> Table:
    """The table less some columns."""
    kept = [place for place, name in enumerate(table.head) if name not in columns]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return replace(table, head=tuple(table.head[place] for place in kept), rows=rows)


def spread_table(rows: Sequence[ArmResult]) -> Table:
    """Every arm over its seeds, beside the run that was chosen."""
    return Table(
        "Over seeds, in %. Chosen: the run with the highest LA on the tuning claims.",
        ("Objective", "Seeds", "LA, mean ± sd", "FS, mean ± sd", "Tuning LA, chosen", "LA, chosen"),
        tuple(
            (
                row.arm.name,
                ", ".join(str(run.seed) for run in row.runs),
                spread(row.label_accuracy),
                spread(row.fever_score),
                percent(row.chosen.dev_label_accuracy),
                percent(row.chosen.scores.label_accuracy),
            )
            for row in rows
        ),
    )


def difference_table(rows: Sequence[ArmResult]) -> Table:
    """Every arm against the baseline, with intervals and tests."""
    return Table(
        "Difference from CE without weighting in percentage points, with 95% intervals from a paired bootstrap over "
        "claims; McNemar's test on the chosen runs, Holm's correction over all arms.",
        (
            "Objective",
            "ΔLA",
            "ΔLA, mean of seeds",
            "ΔFS",
            "Only CE right",
            "Only this right",
            "McNemar p",
            "Holm p",
            "Difference in LA",
        ),
        tuple(
            (
                row.arm.name,
                difference(against.label_accuracy),
                difference(against.mean_label_accuracy),
                difference(against.fever_score),
                f"{against.test.n10:,}",
                f"{against.test.n01:,}",
                probability(against.test.p_value),
                probability(against.holm_p),
                judgement(against),
            )
            for row in rows
            if (against := row.against) is not None
        ),
    )


def class_table(rows: Sequence[ArmResult]) -> Table:
    """Recall of every class, and the contradiction rate with its interval."""
    labels = rows[0].chosen.scores.labels
    return Table(
        "Recall of each class and contradiction rate (SUPPORTS taken for REFUTES or the reverse, over the claims of "
        "both), in %, with its 95% bootstrap interval.",
        ("Objective", *(f"Recall {SHORT.get(label, label)}" for label in labels), "Contradiction rate"),
        tuple(
            (
                row.arm.name,
                *(percent(row.chosen.scores.per_class[label].recall) for label in labels),
                rate(row.contradiction),
            )
            for row in rows
        ),
    )


def calibration_table(rows: Sequence[ArmResult]) -> Table | None:
    """Expected calibration error before and after the temperature; None where nothing was measured."""
    measured = [(row.arm.name, row.calibration) for row in rows if row.calibration is not None]
    if not measured:
        return None
    return Table(
        "Expected calibration error (ECE) on the test claims, before and after a temperature fitted on the tuning "
        "claims.",
        ("Objective", "ECE", "Temperature", "ECE, tempered"),
        tuple(
            (name, f"{found.ece:.3f}", f"{found.temperature:.2f}", f"{found.ece_tempered:.3f}")
            for name, found in measured
        ),
    )


def effect_table(effect: Effect) -> Table:
    """A row for each λ with the best β tried beside it, as the paper's Table 5."""
    rows = best_of_each_lambda(effect)
    chosen = effect.selected
    picked = [
        place
        for place, row in enumerate(rows)
        if chosen is not None and (row.lam, row.beta) == (chosen.lam, chosen.beta)
    ]
    return Table(
        f"Effect of λ in the {effect.objective.upper()} objective: LA on the tuning claims in %, mean of the seeds "
        "that were trained to the end. In bold: the pair selected.",
        ("Loss", "Weighting", "Tuning LA", "Seeds"),
        tuple(
            (
                f"{effect.objective.upper()} (λ={row.lam:g})",
                NOTHING if row.beta is None else f"yes (β={row.beta:g})",
                percent(row.label_accuracy),
                f"{row.seeds}",
            )
            for row in rows
        ),
        tuple(picked),
        words=2,
    )
