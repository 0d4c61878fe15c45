"""Runs to be made, and what makes them: one after another, side by side, or elsewhere."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path

from adjudge.config import RunSettings
from adjudge.io.signals import tidy_when_terminated
from adjudge.runs.execute import Reporter, execute, is_judged
from adjudge.runs.folder import RunFolder
from adjudge.runs.status import dev_curve


@dataclass(frozen=True)
class Job:
    """A run to be made in a folder, trained to a share of its steps (:func:`execute`)."""

    name: str
    settings: RunSettings
    folder: Path
    until: float = 1.0

    @property
    def is_done(self) -> bool:
        """Whether the run is trained as far as asked for, and has judged its test claims."""
        run, data = RunFolder(self.folder), self.settings.data
        if run.is_finished:
            return data.test is None or is_judged(run, data)
        curve = dev_curve(run, self.settings.training.epochs) if self.until < 1 else []
        return bool(curve) and curve[-1].done >= self.until - 1e-9

    def execute(
        self, cache: Path, command: str = "", device: str = "auto", reporter: Reporter | None = None
    ) -> None:
        """Make it, or what is missing of it."""
        execute(
            self.settings,
            self.folder,
            resume=True,
            until=self.until,
            cache=cache,
            command=command,
            device=device,
            reporter=reporter,
        )


Runner = Callable[[Sequence[Job]], None]
"""Executes the jobs that are not done, here or on other machines."""


def local_runner(
    cache: Path, command: str = "", reporter: Callable[[Job], Reporter] = lambda job: Reporter()
) -> Runner:
    """One run after another, in this process."""

    def run(jobs: Sequence[Job]) -> None:
        for job in jobs:
            if not job.is_done:
                job.execute(cache, command, reporter=reporter(job))

    return run


def parallel_runner(
    processes: int, cache: Path, command: str = "", finished: Callable[[Job], None] = lambda job: None
) -> Runner:
    """So many runs at a time, each in a process of its own with its share of the CPUs.

    Small runs use two cores better apart than together. The first failure ends it all, and so do Ctrl-C, SIGTERM and
    the end of this process; what the other processes have saved stays.
    """
    work = partial(Job.execute, cache=cache, command=command)
    return lambda jobs: run_processes(processes, work, [job for job in jobs if not job.is_done], finished)


def run_processes(
    processes: int, work: Callable[[Job], None], jobs: Sequence[Job], finished: Callable[[Job], None]
) -> None:
    """Run several jobs at a time (:func:`parallel_runner`)."""
    threads = max(1, (os.cpu_count() or 1) // processes)
    others = active_children()
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin_process, (threads,)) as pool:
        pending = {pool.submit(_run_job, work, job): job for job in jobs}
        try:
            for done in as_completed(pending):
                done.result()
                finished(pending[done])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - set(others):
                process.terminate()
            raise


def _begin_process(threads: int) -> None:
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all, and one has to decide
    tidy_when_terminated()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(threads)


def _end_with_parent() -> None:
    """A parent that was killed has ended nobody."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _run_job(work: Callable[[Job], None], job: Job) -> None:
    try:
        work(job)
    except SystemExit:
        os._exit(1)  # a pool's process would take the next job
