"""Verdicts for a whole file of claims on a Ray cluster: one verifier per worker, one task per window of claims.

The job's folder is that of :mod:`adjudge.serving.bulk`; beside the verdicts on a window it holds, while workers need
them, the window's claims (``00000007.claims``). A job can be interrupted here and go on without a cluster.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cluster.connection import (
    NodeState,
    WorkerResources,
    check_node,
    check_nodes,
    connect,
    inspect_node,
    shared_marker,
)
from adjudge.errors import AdjudgeError, ConfigError
from adjudge.io.files import write_atomic
from adjudge.judges.registry import PACKAGE_MODELS
from adjudge.retrieval.protocol import Retriever
from adjudge.retrieval.retriever import IndexRetriever
from adjudge.retrieval.selectors import NAMES
from adjudge.serving.bulk import (
    BulkJob,
    BulkReport,
    Parts,
    has_part,
    job_definition,
    judge_window,
    write_part,
)
from adjudge.serving.settings import VerifierSettings
from adjudge.serving.verifier import Verifier
from adjudge.types import Claim

WINDOWS = 16
"""Windows of claims in a Ray block: some hundred claims, half a minute of a CPU."""


@dataclass(frozen=True)
class Task:
    """What a worker needs: its verifier's settings, where the parts are, and what the verdicts must depend on."""

    settings: VerifierSettings
    folder: Path
    inject_gold: bool
    definition: dict[str, Any]
    resources: WorkerResources


def verify_file_on(
    address: str,
    settings: VerifierSettings,
    job: BulkJob,
    *,
    resources: WorkerResources | None = None,
    windows: int = WINDOWS,
    progress: Callable[[int], None] = lambda done: None,
) -> BulkReport:
    """:func:`adjudge.serving.bulk.verify_file` on a Ray cluster.

    Model, corpus and ``job.out`` must lie on storage that all nodes see under the same names; the claims are read
    here. Workers that are lost are replaced, and their unfinished windows judged again.

    Args:
        address: ``auto``, ``local`` or ``host:port``; Ray Data cannot be led from outside a cluster.
        settings: of the verifier; its device is that of the workers.
        job: the claims, and where the verdicts go.
        resources: CPUs and GPUs of a worker; one CPU by default.
        windows: windows of claims that a worker takes at a time.
        progress: gets the number of verdicts written so far.
    """
    if address.startswith("ray://"):
        raise ConfigError(
            f"--ray {address}: Ray Data cannot be led from outside a cluster. Give the command on a node of it with "
            "--ray auto, or send it there: ray job submit -- adjudge verify … --ray auto."
        )
    resources = resources or WorkerResources()
    on_cpu = resources.device == "cpu"
    # A GPU's precision changes no weights, so the models are compared in fp32.
    verifier = Verifier(settings.with_(device="cpu", precision=settings.precision if on_cpu else "fp32"))
    retriever = verifier.retriever()
    # On CPUs all nodes compute in the precision that suits this one.
    precision = verifier.judge.identity.get("precision", "fp32") if on_cpu else settings.precision
    definition = job_definition(verifier, retriever, job.inject_gold, precision)
    settings = shared_settings(settings, retriever).with_(device=resources.device, precision=precision)
    parts = Parts(job)
    with parts.collect(definition):
        missing = []
        for index, window in parts.missing():
            with write_atomic(_claims_path(parts.folder, index)) as stream:
                stream.write(msgspec.json.encode(window))
            missing.append(index)
        progress(parts.resumed)
        task = Task(settings, parts.folder, job.inject_gold, definition, resources)
        for index in _judge_windows(address, task, missing, windows) if missing else ():
            parts.count(index)
            progress(parts.answers.total())
    return parts.report()


def shared_settings(settings: VerifierSettings, retriever: Retriever) -> VerifierSettings:
    """The settings with paths that mean the same in any working folder; documents are indexed once, here."""
    if not isinstance(retriever, IndexRetriever):
        raise ConfigError("--ray: expected an index or documents as the corpus.")
    return settings.with_(
        corpus=retriever.index.path.absolute(),
        model=_absolute(settings.model),
        selector=_absolute(settings.selector),
    )


def _absolute(name: str) -> str:
    """A folder by its absolute path; the name of a model or a selector as it is."""
    folder = Path(name).expanduser()
    named = name in PACKAGE_MODELS or name in NAMES or not folder.exists()
    return name if named else str(folder.absolute())


def _claims_path(folder: Path, index: int) -> Path:
    return folder / f"{index:08d}.claims"


def _judge_windows(address: str, task: Task, missing: list[int], windows: int) -> Iterator[int]:
    """The numbers of the windows as their verdicts are written."""
    with connect(address), shared_marker(task.folder) as marker:
        from ray import data

        logging.getLogger("ray.data").setLevel(logging.ERROR)
        named = (task.settings.model, task.settings.selector, task.settings.corpus)
        paths = [Path(name) for name in named if name is not None and Path(name).is_absolute()]
        expected = inspect_node([marker, *paths])
        room = check_nodes(expected, task.resources)
        blocks = -(-len(missing) // windows)
        dataset = data.from_items([{"window": index} for index in missing], override_num_blocks=blocks)
        dataset.context.enable_progress_bars = False
        answers = dataset.map_batches(
            VerifyWorker,
            fn_constructor_args=(task, expected),
            batch_size=1,
            compute=data.ActorPoolStrategy(min_size=1, max_size=min(room, blocks)),
            num_cpus=task.resources.cpus,
            num_gpus=task.resources.gpus,
        )
        for answer in answers.iter_rows():
            if answer["problem"]:
                raise ConfigError(
                    f"{answer['problem']}\nWhat is done is kept; given again, the command goes on."
                )
            yield int(answer["window"])


class VerifyWorker:
    """A Ray actor. Its verifier is made with its first window, so that a problem with it can be returned."""

    def __init__(self, task: Task, expected: NodeState) -> None:
        self.task = task
        self.expected = expected
        self.verifier: Verifier | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Numbers of windows in; the same with what went wrong, or nothing."""
        return {"window": batch["window"], "problem": [self._problem(int(n)) for n in batch["window"]]}

    def _problem(self, index: int) -> str:
        try:
            self._judge(index)
        except (AdjudgeError, OSError) as error:
            return f"Node {socket.gethostname()}: {error}"
        return ""

    def _judge(self, index: int) -> None:
        if has_part(self.task.folder, index):  # of a worker that was lost since
            return
        import torch

        torch.set_num_threads(self.task.resources.cpus)
        verifier = self.verifier = self.verifier or self._make_verifier()
        claims = msgspec.json.decode(_claims_path(self.task.folder, index).read_bytes(), type=list[Claim])
        verdicts = judge_window(verifier, claims, verifier.retriever(), self.task.inject_gold)
        write_part(self.task.folder, index, verdicts)

    def _make_verifier(self) -> Verifier:
        check_node(self.expected)
        task = self.task
        verifier = Verifier(task.settings)
        here = job_definition(verifier, verifier.retriever(), task.inject_gold, task.settings.precision)
        changed = [name for name in task.definition if here[name] != task.definition[name]]
        if changed:
            raise ConfigError(f"sees another {' and '.join(changed)} than the command that began this job.")
        return verifier
