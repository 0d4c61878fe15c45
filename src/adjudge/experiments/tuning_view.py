"""A search for λ and β as a person reads it in a terminal."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from adjudge.evaluation.render import percent, scores_view
from adjudge.experiments.tuning import TuningPoint, TuningResult

_GIVEN_UP = "†"


def tuning_view(result: TuningResult) -> RenderableType:
    """The curve as a table λ × β, the mean over seeds, the selected pair, and its scores on the test claims."""
    points: dict[tuple[float | None, float | None], list[TuningPoint]] = {}
    for point in result.points:
        points.setdefault((point.lam, point.beta), []).append(point)
    lams, betas = (list(dict.fromkeys(pair[axis] for pair in points)) for axis in (0, 1))
    title = f"{result.arm.backbone}, {result.arm.name}: LA on the tuning claims, in %"
    table = Table()
    table.add_column("λ" if betas == [None] else "λ ╲ β", no_wrap=True)
    for beta in betas:
        table.add_column("LA" if beta is None else f"{beta:.10g}", justify="right", no_wrap=True)
    for lam in lams:
        cells = [_cell(points[lam, beta], result.selected) for beta in betas]
        table.add_row("–" if lam is None else f"{lam:g}", *cells)
    parts: list[RenderableType] = [Text(title), table, Text(_notes(result), style="dim")]
    if result.test is not None:
        parts += [Text("\nThe selected run on the test claims"), scores_view(result.test)]
    return Group(*parts)


def _cell(points: Sequence[TuningPoint], selected: TuningPoint) -> Text:
    mark = _GIVEN_UP if any(point.state == "stopped" for point in points) else ""
    return Text(
        percent(statistics.fmean(point.dev_label_accuracy for point in points)) + mark,
        style="bold" if selected in points else "dim" if mark else "",
    )


def _notes(result: TuningResult) -> str:
    pair = [("λ", result.selected.lam), ("β", result.selected.beta)]
    lines = [
        "Selected: " + ", ".join(f"{name} = {value:.10g}" for name, value in pair if value is not None) + "."
    ]
    stopped = sum(point.state == "stopped" for point in result.points)
    if stopped:
        lines.append(
            f"{_GIVEN_UP} {stopped} of {len(result.points)} runs were given up early; their LA is the best so far."
        )
    lines.append(f"Selection: {result.protocol}.")
    if result.gold_injected:
        lines.append("GOLD INJECTED: gold sentences were put among the retrieved ones of the claims judged.")
    return "\n".join(lines)
