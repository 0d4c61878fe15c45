"""The runs of a comparison on a Ray cluster: each a task that goes on elsewhere when its worker is lost."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adjudge.cluster.connection import (
    NodeState,
    WorkerResources,
    check_node,
    check_nodes,
    connect,
    inspect_node,
    shared_marker,
)
from adjudge.errors import AdjudgeError, ConfigError, TrainingError
from adjudge.judges.registry import PACKAGE_MODELS
from adjudge.runs.folder import FILES
from adjudge.runs.jobs import Job, Runner

CANCEL_SECONDS = 10.0
WITHIN = ("tiny", "minilm", *PACKAGE_MODELS)
"""Models that come with packages, whatever folders there are."""


def ray_runner(
    address: str,
    cache: Path,
    command: str = "",
    *,
    cpus: int = 1,
    gpus: float = 0.0,
    begun: Callable[[int], None] = lambda at_once: None,
    finished: Callable[[Job], None] = lambda job: None,
) -> Runner:
    """As many runs at once as the cluster has room for.

    A run whose worker or node is lost is taken up on another from its last saved state, however often that
    happens. One that fails by itself does not stop the others: they finish first, then the failures are raised.
    Folders and files must lie on storage that all nodes see under the same names.

    Args:
        address: ``auto``, ``local``, ``host:port`` or ``ray://host:port``.
        cache: where outputs of frozen layers are kept; nodes that share it compute them once.
        command: noted in the manifests.
        cpus: CPUs of a run, and the threads it computes with.
        gpus: GPUs of a run, of which less than one is a share; with none it computes on CPUs.
        begun: called with how many runs the cluster has room for.
        finished: called with every run that is done.
    """
    resources = WorkerResources(cpus, gpus)

    def run(jobs: Sequence[Job]) -> None:
        waiting = [job for job in jobs if not job.is_done]
        if not waiting:
            return
        sent = [_with_absolute_paths(job) for job in waiting]
        with connect(address) as ray, shared_marker(sent[0].folder.parent) as marker:
            expected = inspect_node([marker, *_input_files(sent)])
            begun(check_nodes(expected, resources))
            # A lost worker is Ray's concern, without end; an error of the run's own would only come again.
            task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=-1, retry_exceptions=False)(_run)
            shared = (cache.absolute(), command, expected, resources)
            pending = {task.remote(there, *shared): job for there, job in zip(sent, waiting, strict=True)}
            try:
                failed = _wait(ray, pending, finished)
            except BaseException:
                _cancel(ray, list(pending))
                raise
        if failed:
            raise _failure(failed, len(waiting))

    return run


def _run(job: Job, cache: Path, command: str, expected: NodeState, resources: WorkerResources) -> str | None:
    """On a node: make the run. What stands against it is returned; Ray cannot send every exception."""
    import torch

    # By it Ray cancels a task; on a cluster that was started in the background of a script it is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    torch.set_num_threads(resources.cpus)
    try:
        check_node(expected)
        job.execute(cache, command, resources.device)
    except (AdjudgeError, OSError) as error:
        return str(error)
    return None


def _wait(
    ray: Any, pending: dict[Any, Job], finished: Callable[[Job], None]
) -> list[tuple[Job, str | Exception]]:
    """The runs that failed, after all have ended; ``pending`` is emptied."""
    failed: list[tuple[Job, str | Exception]] = []
    while pending:
        done, _ = ray.wait(list(pending), timeout=1.0)
        for answer in done:
            job = pending.pop(answer)
            try:
                problem: str | Exception | None = ray.get(answer)
            except ray.exceptions.RayError as error:
                problem = error
            if problem is None:
                finished(job)
            else:
                failed.append((job, problem))
    return failed


def _cancel(ray: Any, pending: list[Any]) -> None:
    """Stop the tasks, politely first: a run that ends by itself leaves its folder free."""
    for force in (False, True):
        for answer in pending:
            ray.cancel(answer, force=force)
        if pending:
            _, pending = ray.wait(pending, num_returns=len(pending), timeout=CANCEL_SECONDS)


def _failure(failed: list[tuple[Job, str | Exception]], jobs: int) -> Exception:
    lines = [f"{len(failed)} of {jobs} runs failed; the others are finished and kept."]
    for job, problem in failed:
        lines.append(f"  {job.name} ({job.folder}): {problem}")
    message = "\n".join(lines)
    for _, problem in failed:
        if isinstance(problem, Exception):  # nobody's input, so its traceback is wanted
            error = RuntimeError(message)
            error.__cause__ = problem
            return error
    return TrainingError(message)


def _with_absolute_paths(job: Job) -> Job:
    """The job with paths that mean the same in any working folder."""
    settings = job.settings
    backbone = _model_folder(settings.model.backbone)
    if (
        backbone is not None and str(backbone) != settings.model.backbone
    ):  # its name is part of the run's identity
        raise ConfigError(
            f"Backbone {settings.model.backbone!r} is a folder here; the nodes work in other folders. "
            f"Name it in full: {backbone}."
        )
    paths = {name: path.absolute() for name in FILES if (path := getattr(settings.data, name)) is not None}
    changed: dict[str, Any] = {"data": settings.data.model_copy(update=paths)}
    init = _model_folder(settings.model.init)
    if init is not None:
        changed["model"] = settings.model.model_copy(update={"init": str(init)})
    return replace(job, settings=settings.model_copy(update=changed), folder=job.folder.absolute())


def _input_files(jobs: Sequence[Job]) -> list[Path]:
    """What the runs read: their claims, and models that are folders."""
    files: dict[Path, None] = {}
    for job in jobs:
        settings = job.settings
        claims = [getattr(settings.data, name) for name in FILES]
        for path in [*claims, _model_folder(settings.model.backbone), _model_folder(settings.model.init)]:
            if path is not None:
                files[path] = None
    return list(files)


def _model_folder(name: str | None) -> Path | None:
    """The folder a model is in, if its name is that of a folder."""
    if name is None or name in WITHIN:
        return None
    folder = Path(name).expanduser()
    return folder.absolute() if folder.is_dir() else None
