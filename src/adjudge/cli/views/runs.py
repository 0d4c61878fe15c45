"""The progress of one run, and of the runs of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import Progress
from rich.table import Table

from adjudge.runs.execute import Reporter
from adjudge.runs.folder import RunFolder
from adjudge.runs.status import remaining_seconds, run_status

if TYPE_CHECKING:
    from adjudge.runs.jobs import Job
    from adjudge.training.loop import Metric

_STYLES = {"waiting": "dim", "begun": "bold", "stopped": "yellow", "finished": "green"}


def evaluation_line(console: Console, name: str, metric: Metric, steps: int) -> None:
    """A line for an evaluation on the dev claims; nothing for a training step."""
    if metric.split == "dev":
        console.print(
            f"{name} step {metric.step}/{steps}  epoch {metric.epoch:.2f}  dev loss {metric.loss:.4f}  "
            f"dev LA {100 * metric.accuracy:.2f}  {metric.seconds:.0f} s".strip(),
            highlight=False,
            soft_wrap=True,
        )


class RunProgress:
    """Shows the stages and metrics of a run."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self.progress = progress
        self.console = console
        self.task = progress.add_task("", total=1, note="")
        self.dev = ""

    def reporter(self) -> Reporter:
        """What the run calls."""
        return Reporter(stage=self._stage, caching=self._caching, metric=self._metric)

    def _stage(self, name: str) -> None:
        self.progress.reset(self.task, description=name, total=1, note="")

    def _caching(self, done: int, total: int) -> None:
        self.progress.update(self.task, completed=done, total=total, note="tokens")

    def _metric(self, metric: Metric, steps: int) -> None:
        evaluation_line(self.console, "", metric, steps)
        if metric.split == "dev":
            self.dev = f" dev LA {100 * metric.accuracy:.1f}"
        else:
            note = f"loss {metric.loss:.3f} LA {100 * metric.accuracy:.0f}{self.dev}"
            self.progress.update(self.task, completed=metric.step, total=steps, note=note)


class GridProgress:
    """The runs of a comparison as a live table with ETA on a terminal, a line per event in a log.

    It reads the run folders, so it shows runs on other machines as well.
    """

    def __init__(self, jobs: Sequence[Job], console: Console, at_once: int = 1) -> None:
        self.jobs = {job.folder: job for job in jobs}
        self.console = console
        self.at_once = at_once

    def live(self) -> AbstractContextManager[object]:
        """Show the table until the block ends."""
        if not self.console.is_terminal:
            return nullcontext()
        return Live(get_renderable=self.table, console=self.console, refresh_per_second=1, transient=True)

    def table(self) -> RenderableType:
        """Every run with its state."""
        statuses = [
            run_status(RunFolder(job.folder), job.settings.training.epochs) for job in self.jobs.values()
        ]
        finished = sum(status.state in ("finished", "stopped") for status in statuses)
        left = remaining_seconds(statuses, self.at_once)
        eta = "" if left is None else f", about {timedelta(seconds=round(left))} to go"
        table = Table(
            title=f"{finished} of {len(self.jobs)} runs finished{eta}", title_justify="left", box=None
        )
        for column in ("backbone", "run", "folder", "state"):
            table.add_column(column)
        for column in ("done", "dev LA", "time"):
            table.add_column(column, justify="right")
        for job, status in zip(self.jobs.values(), statuses, strict=True):
            accuracy = status.dev_label_accuracy
            table.add_row(
                job.settings.model.backbone,
                job.name,
                job.folder.name,
                status.state,
                f"{100 * status.done:.0f} %",
                "" if accuracy is None else f"{100 * accuracy:.2f}",
                str(timedelta(seconds=round(status.seconds))),
                style=_STYLES[status.state],
            )
        return table

    def room_for(self, at_once: int) -> None:
        """Leave room for the runs that go on at the same time."""
        self.at_once = min(at_once, len(self.jobs))

    def finished(self, job: Job) -> None:
        """In a log, a line for a run that another machine is done with."""
        if not self.console.is_terminal:
            self.console.print(f"{self._name(job)} finished", highlight=False, markup=False, soft_wrap=True)

    def reporter(self, job: Job) -> Reporter:
        """In a log, a line for every evaluation; a terminal has the table."""
        if self.console.is_terminal:
            return Reporter()
        return Reporter(metric=partial(evaluation_line, self.console, self._name(job)))

    def _name(self, job: Job) -> str:
        return f"[{list(self.jobs).index(job.folder) + 1}/{len(self.jobs)}] {job.name}:"
