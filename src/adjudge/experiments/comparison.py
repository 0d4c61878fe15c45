"""A comparison: the runs of a plan on the same data, made to exist."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from adjudge.config import DataSettings
from adjudge.data.files import read_json_lines, write_json
from adjudge.errors import ConfigError
from adjudge.experiments.plan import Plan, Spec, World
from adjudge.experiments.run import Reporter, execute, is_finished, run_id
from adjudge.experiments.summary import RECORD, Summary, summarise
from adjudge.signals import tidy_when_terminated

NESTED = "nested: the tuning claims chose checkpoint and run, the test claims chose nothing"
PAPER = "paper: the claims reported on also chose checkpoint and run"

_Item = TypeVar("_Item")


class Job(NamedTuple):
    """A run of a plan and where it lives."""

    spec: Spec
    folder: Path


Runner = Callable[[Sequence[Job]], None]
"""Executes unfinished jobs, here or on other machines; each leaves a finished run folder."""


def local_runner(
    cache: Path, command: str = "", reporter: Callable[[Job], Reporter] = lambda job: Reporter()
) -> Runner:
    """One run after another, in this process."""

    def run(jobs: Sequence[Job]) -> None:
        for job in jobs:
            execute(
                job.spec.settings,
                job.folder,
                resume=True,
                cache=cache,
                command=command,
                reporter=reporter(job),
            )

    return run


def parallel_runner(
    processes: int, cache: Path, command: str = "", finished: Callable[[Job], None] = lambda job: None
) -> Runner:
    """So many runs at a time (:func:`side_by_side`)."""
    work = partial(_run_alone, cache=cache, command=command)
    return lambda jobs: side_by_side(processes, work, jobs, finished)


def side_by_side(
    processes: int, work: Callable[[_Item], None], items: Sequence[_Item], finished: Callable[[_Item], None]
) -> None:
    """Do the work of so many items at a time, each in a process of its own with its share of the CPUs.

    Small runs use two cores better apart than together. The first failure ends it all, and so do Ctrl-C and
    SIGTERM; what the other processes have saved stays.
    """
    threads = max(1, (os.cpu_count() or 1) // processes)
    others = active_children()
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin, (threads,)) as pool:
        pending = {pool.submit(_do, work, item): item for item in items}
        try:
            for done in as_completed(pending):
                done.result()
                finished(pending[done])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(active_children()) - set(others):
                process.terminate()
            raise


def _begin(threads: int) -> None:
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all, and one has to decide
    tidy_when_terminated()
    torch.set_num_threads(threads)


def _do(work: Callable[[_Item], None], item: _Item) -> None:
    try:
        work(item)
    except SystemExit:
        os._exit(1)  # a pool's process would take the next item


def _run_alone(job: Job, cache: Path, command: str) -> None:
    execute(job.spec.settings, job.folder, resume=True, cache=cache, command=command)


def prepare(plan: Plan, folder: Path) -> list[Job]:
    """Make up the plan's data where it asks for it, and give every run its folder: the hash of what it is."""
    data = None if plan.world is None else _world_files(plan.world, folder)
    jobs = []
    for spec in plan.specs:
        if data is not None:
            chosen = spec.settings.data.model_copy(update=data)
            spec = replace(spec, settings=spec.settings.model_copy(update={"data": chosen}))
        jobs.append(Job(spec, folder / "runs" / run_id(spec.settings)))
    return jobs


def compare(
    plan: Plan,
    folder: Path,
    *,
    runner: Runner | None = None,
    command: str = "",
    protocol: str = "nested",
) -> Summary:
    """Make the missing runs of a plan exist, then test each arm against the baseline.

    Args:
        plan: what to run.
        folder: gets ``comparison.json``, ``runs/``, ``cache/`` and, for a made-up world, ``data/``.
        runner: what executes unfinished runs; this process by default.
        command: noted in the record.
        protocol: ``nested``, which refuses tuning claims among the test claims, or ``paper``.
    """
    jobs = prepare(plan, folder)
    write_record(folder, jobs, plan.title, command, protocol)
    (runner or local_runner(folder / "cache", command))([job for job in jobs if not is_finished(job.folder)])
    return summarise(folder)


def write_record(
    folder: Path, jobs: Sequence[Job], title: str, command: str, protocol: str, **about: Any
) -> None:
    """Note what a comparison is, after :func:`check_protocol`."""
    data = jobs[0].spec.settings.data
    check_protocol(data, protocol)
    record = {
        "title": title,
        "command": command,
        "protocol": PAPER if protocol == "paper" else NESTED,
        "gold_injected": gold_injected(data),
        **about,
        "runs": [
            {"arm": asdict(job.spec.arm), "seed": job.spec.seed, "run": job.folder.name} for job in jobs
        ],
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / RECORD, record)


def _world_files(world: World, folder: Path) -> dict[str, Path]:
    from adjudge.data.world import generate, save_world

    data = folder / "data" / f"world-{world.claims}-{world.seed}-{world.sentences}"
    if not (data / "kinds-test.jsonl").exists():
        save_world(generate(world.claims, world.seed), data, seed=world.seed, most=world.sentences)
    names = {"train": "train", "dev": "tune", "test": "test", "gold": "claims-test"}
    return {name: data / f"{stem}.jsonl" for name, stem in names.items()}


def check_protocol(data: DataSettings, protocol: str) -> None:
    """Refuse tuning claims among the test claims, unless the paper's protocol is asked for."""
    if protocol not in ("nested", "paper"):
        raise ConfigError(f"--protocol {protocol!r} is neither nested nor paper.")
    if protocol == "paper" or data.dev is None or data.test is None:
        return
    shared = claim_texts(data.dev) & claim_texts(data.test)
    if shared:
        raise ConfigError(
            f"{len(shared):,} claims of {data.test} are also in {data.dev}, such as {min(shared)!r}: what chooses a "
            "run would also be reported on.\nGive other tuning claims, or say --protocol paper to do as the paper."
        )


def claim_texts(path: Path) -> set[str]:
    """The texts of a file's claims."""
    return {str(record.get("claim")) for _, record in read_json_lines(path)}


def gold_injected(data: DataSettings) -> bool:
    """Whether a file of claims to be judged says that its gold sentences were put among the retrieved."""
    files = [path for path in (data.dev, data.test) if path is not None]
    return any(record.get("gold_injected") for path in files for _, record in read_json_lines(path))
