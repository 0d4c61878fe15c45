"""A comparison as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from adjudge.evaluation.render import beside, matrix_view, percent
from adjudge.evaluation.statistics import Interval
from adjudge.experiments.comparison import Job
from adjudge.experiments.cost import Cost
from adjudge.experiments.retest import trained_in
from adjudge.experiments.summary import ArmResult, Spread, Summary

LEVEL = 0.05
_MATRICES_IN_A_LINE = 4


def comparison_view(summary: Summary) -> RenderableType:
    """For each backbone the results, how sure the differences are, and the confusion matrices."""
    parts: list[RenderableType] = []
    for backbone in dict.fromkeys(row.arm.backbone for row in summary.arms):
        rows = [row for row in summary.arms if row.arm.backbone == backbone]
        parts += [_results(summary, backbone, rows), _differences(rows), Text(), *_matrices(rows), Text()]
    said = (
        "LA label accuracy, FS FEVER score, S↔R contradiction rate, in %, of the run with the best tuning LA. "
        f"* Holm p < {LEVEL}. ECE before and after a temperature fitted on the tuning claims.\n"
        f"Selection: {summary.protocol['selection']}."
    )
    if "trained_in" in summary.protocol:
        said += f"\nTrained in {trained_in(summary.protocol['trained_in'])}."
    if summary.protocol["gold_injected"]:
        said += "\nGOLD INJECTED: gold sentences were put among the retrieved ones of the claims judged."
    if summary.missing:
        said += f"\n{summary.missing} runs are not finished and not in the table."
    return Group(*parts, Text(said, style="dim"))


def _results(summary: Summary, backbone: str, rows: Sequence[ArmResult]) -> Table:
    seeds = max(len(row.runs) for row in rows)
    table = Table(
        title=f"{backbone}: {summary.n:,} test claims, {seeds} seed{'s' if seeds > 1 else ''} each",
        title_justify="left",
    )
    table.add_column("objective", no_wrap=True)
    for column in ("λ", "LA", "Δ", "mean ± sd", "FS", "Δ", "mean ± sd", "S↔R", "ECE"):
        table.add_column(column, justify="right", no_wrap=True)
    base = rows[0].chosen.scores
    for row in rows:
        scores, against = row.chosen.scores, row.against
        star = "*" if against is not None and against.holm_p < LEVEL else ""
        calibration = row.calibration
        table.add_row(
            row.arm.name,
            "" if row.arm.lam is None else f"{row.arm.lam:g}",
            percent(scores.label_accuracy) + star,
            "" if against is None else _points(scores.label_accuracy, base.label_accuracy),
            _spread(row.label_accuracy),
            percent(scores.fever_score),
            "" if against is None else _points(scores.fever_score, base.fever_score),
            _spread(row.fever_score),
            percent(scores.contradiction_rate),
            "–" if calibration is None else f"{calibration.ece:.3f} → {calibration.ece_tempered:.3f}",
        )
    return table


def _differences(rows: Sequence[ArmResult]) -> Table:
    title = f"difference from {rows[0].arm.name}, with 95% intervals from a paired bootstrap over claims"
    table = Table(title=title, title_justify="left")
    table.add_column("objective", no_wrap=True)
    for column in (
        "ΔLA",
        "ΔLA, mean of seeds",
        "ΔFS",
        "only CE right",
        "only this right",
        "McNemar p",
        "Holm p",
    ):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        if (against := row.against) is not None:
            table.add_row(
                row.arm.name,
                _interval(against.label_accuracy),
                _interval(against.mean_label_accuracy),
                _interval(against.fever_score),
                str(against.test.n10),
                str(against.test.n01),
                f"{against.test.p_value:.4f}",
                f"{against.holm_p:.4f}",
            )
    return table


def _spread(spread: Spread | None) -> str:
    if spread is None or spread.sd is None:
        return "–"
    return f"{percent(spread.mean)} ± {100 * spread.sd:.2f}"


def _points(value: float | None, base: float | None) -> str:
    return "" if value is None or base is None else f"{100 * (value - base):+.2f}"


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return f"{100 * interval.estimate:+.2f} [{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]"


def _matrices(rows: Sequence[ArmResult]) -> list[RenderableType]:
    shown: list[RenderableType] = [Text("confusion matrices (rows gold, columns predicted)")]
    tables = [matrix_view(row.chosen.scores, row.arm.name) for row in rows]
    for start in range(0, len(tables), _MATRICES_IN_A_LINE):
        shown += [beside(tables[start : start + _MATRICES_IN_A_LINE]), Text()]
    return shown[:-1]


def plan_view(jobs: Sequence[Job], cost: Cost) -> RenderableType:
    """The runs of a plan and what is left to do."""
    table = Table(title=f"{cost.runs} runs, {cost.finished} of them finished", title_justify="left")
    for column in ("backbone", "objective", "λ", "β", "seed", "run"):
        table.add_column(column)
    for job in jobs:
        arm = job.spec.arm
        lam, beta = ("" if value is None else f"{value:g}" for value in (arm.lam, arm.beta))
        table.add_row(arm.backbone, arm.name, lam, beta, str(job.spec.seed), job.folder.name)
    return Group(table, Text(_cost(cost)))


def _cost(cost: Cost) -> str:
    if cost.seconds is None:
        return "The cost of this backbone is not known beforehand."
    source = (
        "from the finished runs"
        if cost.finished
        else "from the size of the work and the speed of this machine"
    )
    work = "" if cost.flops is None else f"{cost.flops / 1e15:,.2f} PFLOP; "
    return f"Left to do: {work}about {timedelta(seconds=round(cost.seconds))} here, one run at a time ({source})."
