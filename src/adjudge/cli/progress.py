"""Progress of long work on standard error: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from adjudge.cli.output import terminal_safe

if TYPE_CHECKING:
    from adjudge.data.documents import Problem
    from adjudge.retrieval import IndexProgress

SHOWN_PROBLEMS = 20
LOG_SECONDS = 10.0


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


def print_problems(console: Console, problems: Sequence[Problem]) -> None:
    """What could not be read, on standard error; of very many the first."""
    for problem in problems[:SHOWN_PROBLEMS]:
        console.print(Text(terminal_safe(str(problem))), soft_wrap=True)
    if len(problems) > SHOWN_PROBLEMS:
        console.print(f"… and {len(problems) - SHOWN_PROBLEMS:,} more problems.", highlight=False)


@contextmanager
def index_progress(console: Console) -> Iterator[Callable[[IndexProgress], None]]:
    """Shows a build: a bar in bytes on a terminal, elsewhere a line now and then."""
    with bar(console) as progress:
        task = progress.add_task("indexing", total=0, note="", visible=False)
        embedding: TaskID | None = None
        logged_at = time.monotonic()

        def show_progress(state: IndexProgress) -> None:
            nonlocal logged_at, embedding
            if state.to_embed:
                if embedding is None:
                    embedding = progress.add_task("embedding", total=state.to_embed, note="sentences")
                    if state.embedding_eta is not None and state.embedding_eta > LOG_SECONDS:
                        logged_at = time.monotonic()
                        console.print(_embedding(state, "about "), highlight=False)
                progress.update(embedding, completed=state.embedded, total=state.to_embed)
                if not console.is_terminal and time.monotonic() - logged_at > LOG_SECONDS:
                    logged_at = time.monotonic()
                    console.print(_embedding(state, "ETA "), highlight=False)
                return
            rate = f"bytes, {state.sentences:,} sentences, {state.rate:,.0f}/s"
            progress.update(
                task, completed=state.bytes, total=state.bytes_total or state.bytes, note=rate, visible=True
            )
            if not console.is_terminal and time.monotonic() - logged_at > LOG_SECONDS:
                logged_at = time.monotonic()
                left = "" if state.eta is None else f", ETA {state.eta:,.0f} s"
                console.print(
                    f"indexing: {state.files:,}/{state.files_total:,} files, {state.sentences:,} sentences, "
                    f"{state.rate:,.0f}/s{left}",
                    highlight=False,
                )

        yield show_progress


def _embedding(state: IndexProgress, word: str) -> str:
    counts = f"embedding: {state.embedded:,}/{state.to_embed:,} sentences"
    left = state.embedding_eta
    if not left:
        return counts
    rate = (state.to_embed - state.embedded) / left
    return f"{counts}, {rate:,.0f}/s, {word}{left:,.0f} s"


class Pace(Protocol):
    """Hears how many are done, and how many there are where that was not known before."""

    def __call__(self, done: int, of: int | None = None, /) -> None:
        """Show it."""


@contextmanager
def pace(console: Console, what: str, total: int, unit: str) -> Iterator[Pace]:
    """Shows how many of ``total`` are done, the rate and the time left."""
    with bar(console) as progress:
        task = progress.add_task(what, total=total, note=unit)
        started = logged_at = time.monotonic()
        first: int | None = None

        def show_progress(done: int, of: int | None = None, /) -> None:
            nonlocal logged_at, first, total
            first = done if first is None else first  # what an interrupted job had done took no time now
            total = max(of or total, done)
            now = time.monotonic()
            rate = (done - first) / (now - started) if now > started else 0.0
            progress.update(task, completed=done, total=total, note=f"{unit}, {rate:.1f}/s")
            if not console.is_terminal and now - logged_at > LOG_SECONDS:
                logged_at = now
                left = f", ETA {(total - done) / rate:,.0f} s" if rate and total > done else ""
                console.print(f"{what}: {done:,}/{total:,} {unit}, {rate:.1f}/s{left}", highlight=False)

        yield show_progress
