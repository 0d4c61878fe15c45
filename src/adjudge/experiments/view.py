"""A comparison as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from adjudge.evaluation.render import beside, matrix_view, percent
from adjudge.experiments.comparison import Result

LEVEL = 0.05


def comparison_view(results: Sequence[Result]) -> RenderableType:
    """The table with Δ to the baseline and significance, then the confusion matrices."""
    baseline = results[0]
    table = Table(
        title=f"{baseline.scores.n:,} test claims, {baseline.name} is the baseline", title_justify="left"
    )
    table.add_column("objective")
    for column in ("LA", "ΔLA", "FS", "S↔R", "only base right", "only this right", "McNemar p", "Holm p"):
        table.add_column(column, justify="right")
    for result in results:
        table.add_row(result.name, *_cells(result, baseline))
    note = Text(
        f"LA label accuracy, FS FEVER score, S↔R contradiction rate, all in %. * Holm p < {LEVEL}.",
        style="dim",
    )
    matrices = [matrix_view(result.scores, result.name) for result in results]
    return Group(
        table, note, Text(), Text("confusion matrices (rows gold, columns predicted)"), beside(matrices)
    )


def comparison_record(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The same, for programs."""
    return [
        {
            "name": result.name,
            "folder": str(result.folder),
            "scores": result.scores.to_dict(),
            "mcnemar": None if result.against is None else result.against._asdict(),
            "holm_p": result.holm_p,
        }
        for result in results
    ]


def _cells(result: Result, baseline: Result) -> list[str]:
    scores = result.scores
    figures = [
        percent(scores.label_accuracy),
        "",
        percent(scores.fever_score),
        percent(scores.contradiction_rate),
    ]
    if result.against is None or result.holm_p is None:
        return [*figures, "", "", "", ""]
    star = "*" if result.holm_p < LEVEL else ""
    figures[1] = f"{100 * (scores.label_accuracy - baseline.scores.label_accuracy):+.2f}{star}"
    against = result.against
    return [*figures, str(against.n10), str(against.n01), f"{against.p_value:.4f}", f"{result.holm_p:.4f}"]
