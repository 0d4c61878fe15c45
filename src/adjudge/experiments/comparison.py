"""A comparison: the runs of a plan on the same data, made to exist, and judged on the same test claims."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from adjudge.config import DataSettings, RunSettings
from adjudge.errors import ConfigError
from adjudge.experiments.plan import Arm, Plan, WorldSettings
from adjudge.experiments.summary import RECORD, Summary, best_run, summarise
from adjudge.io.files import write_json
from adjudge.io.jsonl import read_json_lines
from adjudge.io.temporary import sweep
from adjudge.runs.folder import RunFolder, judgement_id, run_id
from adjudge.runs.jobs import Job, Runner, local_runner

NESTED = "nested: the tuning claims chose checkpoint and run, the test claims chose nothing"
PAPER = "paper: the claims reported on also chose checkpoint and run"


def prepare(plan: Plan, folder: Path, runs: Path | None = None) -> list[Job]:
    """Make up the plan's data where it asks for it, and give every run its folder: the hash of what trains it."""
    made = {} if plan.world is None else _world_files(plan.world, folder)
    several = len({arm.model for arm in plan.arms}) > 1
    jobs = []
    for settings in plan.runs:
        settings = with_data(settings, **made)
        arm, seed = Arm.of(settings, tuned=True), settings.training.seed
        model = f"{arm.model}, " if several else ""
        jobs.append(
            Job(f"{model}{arm.name}, seed {seed}", settings, (runs or folder / "runs") / run_id(settings))
        )
    return jobs


def with_data(settings: RunSettings, **files: Path | None) -> RunSettings:
    """The settings with other files."""
    return settings.model_copy(update={"data": settings.data.model_copy(update=files)})


def compare(
    plan: Plan,
    folder: Path,
    *,
    runs: Path | None = None,
    runner: Runner | None = None,
    command: str = "",
    protocol: str = "nested",
    best_only: bool = False,
) -> Summary:
    """Make the missing runs of a plan exist, let them judge the test claims, and test each arm against the baseline.

    Runs are named by what trains them: with other test claims, runs that exist judge these and are not trained again.

    Args:
        plan: what to run.
        folder: gets ``comparison.json``, ``cache/`` and, for a made-up world, ``data/``.
        runs: where the runs are or will be; ``runs/`` in the folder by default.
        runner: what executes unfinished runs; this process by default.
        command: noted in the record.
        protocol: ``nested``, which refuses tuning claims among the test claims, or ``paper``.
        best_only: let only each arm's run with the best LA on the tuning claims judge the test claims.
    """
    jobs = prepare(plan, folder, runs)
    runner = runner or local_runner(folder / "cache", command)
    _write_record(folder, plan, jobs, command, protocol)
    if best_only:
        runner([replace(job, settings=with_data(job.settings, test=None, gold=None)) for job in jobs])
        jobs = [best_run(same_arm, _dev_label_accuracy) for same_arm in group_by_arm(jobs).values()]
        _write_record(folder, plan, jobs, command, protocol)
    runner(jobs)
    return summarise(folder)


def group_by_arm(jobs: Sequence[Job]) -> dict[Arm, list[Job]]:
    """The jobs of each arm, in their order."""
    arms: dict[Arm, list[Job]] = {}
    for job in jobs:
        arms.setdefault(Arm.of(job.settings), []).append(job)
    return arms


def _dev_label_accuracy(job: Job) -> float | None:
    accuracy: float | None = RunFolder(job.folder).manifest()["best_dev_label_accuracy"]
    return accuracy


def _write_record(folder: Path, plan: Plan, jobs: Sequence[Job], command: str, protocol: str) -> None:
    """Note what a comparison is, after :func:`check_protocol`."""
    data = jobs[0].settings.data
    check_protocol(data, protocol)
    record = {
        "title": plan.title,
        "command": command,
        "protocol": PAPER if protocol == "paper" else NESTED,
        "gold_injected": gold_injected(data),
        "test": str(data.test),
        "gold": None if data.gold is None else str(data.gold),
        "judgement": judgement_id(data),
        "absent": dict(plan.absent),
        "runs": [
            {
                "arm": asdict(plan.arm(job.settings)),
                "seed": job.settings.training.seed,
                "run": os.path.relpath(job.folder, folder),
            }
            for job in jobs
        ],
    }
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    write_json(folder / RECORD, record)


def _world_files(world: WorldSettings, folder: Path) -> dict[str, Path]:
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
