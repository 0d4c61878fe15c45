"""A plan as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from adjudge.experiments.cost import Cost
from adjudge.runs.jobs import Job


def plan_view(jobs: Sequence[Job], cost: Cost) -> RenderableType:
    """The runs of a plan and what is left to do."""
    table = Table(title=f"{cost.runs} runs, {cost.finished} of them finished", title_justify="left")
    for column in ("backbone", "run", "folder"):
        table.add_column(column)
    for job in jobs:
        table.add_row(job.settings.model.backbone, job.name, job.folder.name)
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
