"""Progress of long work on standard error: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from adjudge.experiments.run import Reporter

if TYPE_CHECKING:
    from adjudge.training.loop import Metric


@contextmanager
def bar(console: Console) -> Iterator[Progress]:
    """A progress display with ETA that leaves nothing behind."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield progress


class RunProgress:
    """Shows the stages and metrics of a run."""

    def __init__(self, progress: Progress, console: Console, name: str = "") -> None:
        self.progress = progress
        self.console = console
        self.name = name
        self.task = progress.add_task(name, total=1, note="")
        self.dev = ""

    def reporter(self) -> Reporter:
        """What the run calls."""
        return Reporter(stage=self._stage, caching=self._caching, metric=self._metric)

    def _stage(self, name: str) -> None:
        self.progress.reset(self.task, description=f"{self.name} {name}".strip(), total=1, note="")

    def _caching(self, done: int, total: int) -> None:
        self.progress.update(self.task, completed=done, total=total, note="tokens")

    def _metric(self, metric: Metric, steps: int) -> None:
        if metric.split == "dev":
            self.dev = f" dev LA {100 * metric.label_accuracy:.1f}"
            self.console.print(
                f"{self.name} step {metric.step}/{steps}  epoch {metric.epoch:.2f}  dev loss {metric.loss:.4f}  "
                f"dev LA {100 * metric.label_accuracy:.2f}  {metric.seconds:.0f} s".strip(),
                highlight=False,
                soft_wrap=True,
            )
        else:
            note = f"loss {metric.loss:.3f} LA {100 * metric.label_accuracy:.0f}{self.dev}"
            self.progress.update(self.task, completed=metric.step, total=steps, note=note)
