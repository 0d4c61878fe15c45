"""Scores as a person reads them in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from adjudge.evaluation.scoring import Scores

MATRIX = "confusion matrix (rows gold, columns predicted)"
INJECTED = "Gold helped to find the evidence (gold_injected): these are not figures of a search."
SHORT = {"SUPPORTS": "S", "REFUTES": "R", "NOT ENOUGH INFO": "NEI"}


def percent(value: float | None) -> str:
    """A share as a percentage with two decimals, or a dash."""
    return "–" if value is None else f"{100 * value:.2f}"


def scores_view(scores: Scores) -> RenderableType:
    """All figures of one set of predictions, with its confusion matrix."""
    figures = Table(title=f"{scores.n:,} claims", title_justify="left", show_header=False, box=None)
    for name, value in (
        ("label accuracy", scores.label_accuracy),
        ("FEVER score", scores.fever_score),
        ("evidence precision", scores.evidence_precision),
        ("evidence recall", scores.evidence_recall),
        ("evidence F1", scores.evidence_f1),
        ("contradiction rate", scores.contradiction_rate),
    ):
        if value is not None:
            figures.add_row(name, f"{percent(value)} %")
    if any(scores.unanswered):
        figures.add_row("claims without an answer", f"{sum(scores.unanswered):,}")
    classes = Table(title="by gold label", title_justify="left", box=None)
    classes.add_column("")
    for column in ("precision", "recall", "F1", "claims"):
        classes.add_column(column, justify="right")
    for label, per in scores.per_class.items():
        classes.add_row(
            label, percent(per.precision), percent(per.recall), percent(per.f1), f"{per.support:,}"
        )
    parts: list[RenderableType] = [figures, Text(f"\n{MATRIX}"), matrix_view(scores), Text(), classes]
    return Group(*([INJECTED] if scores.gold_injected else []), *parts)


def matrix_view(scores: Scores, title: str | None = None) -> Table:
    """The confusion matrix; right answers in bold."""
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("")
    for label in scores.labels:
        table.add_column(SHORT.get(label, label), justify="right")
    for i, (label, row) in enumerate(zip(scores.labels, scores.confusion, strict=True)):
        cells = [Text(f"{count:,}", style="bold" if i == j else "") for j, count in enumerate(row)]
        table.add_row(SHORT.get(label, label), *cells)
    return table


def beside(tables: Sequence[RenderableType]) -> Table:
    """Tables in one line."""
    grid = Table.grid(padding=(0, 4))
    grid.add_row(*tables)
    return grid
