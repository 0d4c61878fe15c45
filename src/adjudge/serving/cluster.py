"""Verdicts for a whole file of claims on a Ray cluster: one verifier per worker, one file per part of the claims.

Beside ``out`` stands, until the job is done, the folder ``out.parts``:

    job.json          what the verdicts rest on, as in :mod:`adjudge.serving.bulk`
    00000007.claims   the claims of a part
    00000007.jsonl    their verdicts; it is there whole or not at all

A job that was interrupted does the parts without verdicts. Parts are whole windows of claims, so that ``out`` is
the same file as without a cluster.
"""

from __future__ import annotations

import logging
import shutil
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from adjudge.data.fever import write_submission
from adjudge.data.files import write_atomic, write_json
from adjudge.data.records import PathLike, write_records
from adjudge.data.verdicts import read_verdicts, verdict_record
from adjudge.errors import AdjudgeError, ConfigError, DataError
from adjudge.experiments.cluster import Share, Sight, check_here, check_nodes, connected, look, marked
from adjudge.models.int8 import is_faster
from adjudge.retrieval.pipeline import CANDIDATES
from adjudge.retrieval.search import IndexRetriever
from adjudge.serving.bulk import (
    OTHER_JOB,
    BulkReport,
    Line,
    check_definition,
    check_same,
    check_submission,
    claims_of,
    finish,
    held,
    job_definition,
    judge_window,
    whole_lines,
)
from adjudge.serving.corpus import open_corpus
from adjudge.serving.selectors import NAMES
from adjudge.serving.verifier import WINDOW, Verifier
from adjudge.training.dataset import chunks
from adjudge.types import MAX_EVIDENCE, Claim

WINDOWS = 16
"""Windows of claims in a part: some hundred claims, half a minute of a CPU."""


@dataclass(frozen=True)
class Recipe:
    """How a worker makes its verifier; as in :class:`Verifier`."""

    corpus: Path
    run: Path | None = None
    selector: str = "fusion"
    k: int = MAX_EVIDENCE
    candidates: int = CANDIDATES
    min_confidence: float = 0.0
    inject_gold: bool = False
    precision: str = "auto"

    def make(self, device: str = "cpu") -> tuple[Verifier, IndexRetriever]:
        """The verifier and what it searches."""
        retriever = IndexRetriever(open_corpus(self.corpus))
        verifier = Verifier.load(
            self.run,
            retriever,
            self.selector,
            self.k,
            self.candidates,
            device,
            self.min_confidence,
            self.precision,
        )
        return verifier, retriever

    def anywhere(self, share: Share) -> Recipe:
        """With paths that mean the same in any working folder, and a precision that all nodes compute in."""
        ranker = self.selector not in NAMES
        precision = self.precision
        if precision == "auto" and share.device == "cpu":
            precision = "int8" if is_faster() else "fp32"
        return replace(
            self,
            precision=precision,
            corpus=self.corpus.absolute(),
            run=None if self.run is None else self.run.absolute(),
            selector=str(Path(self.selector).expanduser().absolute()) if ranker else self.selector,
        )

    def paths(self) -> list[Path]:
        """What every node must see."""
        ranker = [] if self.selector in NAMES else [Path(self.selector)]
        return [self.corpus, *ranker, *([] if self.run is None else [self.run])]


def verify_file_on(
    address: str,
    recipe: Recipe,
    claims: PathLike,
    out: PathLike,
    *,
    share: Share | None = None,
    windows: int = WINDOWS,
    submission: PathLike | None = None,
    restart: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> BulkReport:
    """:func:`adjudge.serving.bulk.verify_file` on a Ray cluster.

    Model, corpus and ``out`` must lie on storage that all nodes see under the same names. Workers that are lost
    are replaced, and what they were doing is done again.

    Args:
        address: ``auto``, ``local`` or ``host:port``; Ray Data cannot be led from outside a cluster.
        recipe: how to make the verifier.
        claims: JSON lines with ``id`` and ``claim``; read here, not on the nodes.
        out: gets the verdicts in the order of the claims.
        share: CPUs and GPUs of a worker; one CPU by default.
        windows: windows of claims in a part.
        submission: the same as a FEVER submission.
        restart: begin again, whatever an interrupted call left.
        progress: hears how many verdicts are written.
    """
    check_submission(submission, recipe.inject_gold)
    if address.startswith("ray://"):
        raise ConfigError(
            f"--ray {address}: Ray Data cannot be led from outside a cluster. Give the command on a node of it with "
            "--ray auto, or send it there: ray job submit -- adjudge verify … --ray auto."
        )
    out = Path(out).absolute()
    folder = out.with_name(f"{out.name}.parts")
    share = share or Share()
    recipe = recipe.anywhere(share)
    # A GPU's precision changes no weights, so those are compared as they are.
    verifier, retriever = recipe.make() if share.device == "cpu" else replace(recipe, precision="fp32").make()
    definition = definition_of(recipe, verifier, retriever)
    recipe = replace(recipe, corpus=retriever.index.path.absolute())  # documents were indexed here, once
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with held(folder / "lock"):
            if restart:
                _clear(folder)
            _take_up(folder, {**definition, "part size": windows * WINDOW})
            parts = _Parts(folder, claims, recipe.inject_gold)
            missing = parts.split(windows * WINDOW)
            resumed = parts.labels.total()
            progress(resumed)
            if missing:
                task = Task(recipe, folder, definition, share)
                for number in _judged(address, task, missing):
                    parts.count(number)
                    progress(parts.labels.total())
            joined = parts.join()
            if submission is not None:
                write_submission(submission, read_verdicts(joined))
            finish(joined, out)  # last: where out is, the job is done
            _clear(folder)
    finally:
        if not list(folder.glob("*.jsonl")):  # nothing to resume
            shutil.rmtree(folder, ignore_errors=True)
    return BulkReport(parts.labels.total(), resumed, dict(parts.labels), recipe.inject_gold)


def definition_of(recipe: Recipe, verifier: Verifier, retriever: IndexRetriever) -> dict[str, Any]:
    """What decides the verdicts besides the claims."""
    return {**job_definition(verifier, retriever, recipe.inject_gold), "precision": recipe.precision}


def _take_up(folder: Path, definition: dict[str, Any]) -> None:
    if list(folder.glob("*.jsonl")):
        check_definition(folder / "job.json", definition, folder)
    write_json(folder / "job.json", definition)


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name != "lock":
            path.unlink()


class _Parts:
    """The parts of a file of claims, and the labels of those that have verdicts."""

    def __init__(self, folder: Path, claims: PathLike, with_gold: bool) -> None:
        self.folder = folder
        self.claims = claims
        self.with_gold = with_gold
        self.number = 0
        self.labels: Counter[str] = Counter()

    def split(self, size: int) -> list[int]:
        """Write the claims of the parts without verdicts; returns their numbers."""
        missing = []
        for part in chunks(claims_of(self.claims, self.with_gold), size):
            if _verdicts(self.folder, self.number).exists():
                self._add(self.number, part)
            else:
                with write_atomic(_claims(self.folder, self.number)) as stream:
                    stream.write(msgspec.json.encode(part))
                missing.append(self.number)
            self.number += 1
        if not self.number:
            raise DataError(f"{self.claims}: the file is empty, expected one claim per line.")
        beyond = [path for path in self.folder.glob("*.jsonl") if int(path.stem) >= self.number]
        if beyond:
            raise DataError(f"{min(beyond)}: {self.claims} has fewer claims. {OTHER_JOB}")
        return missing

    def count(self, number: int) -> None:
        """Take in a part that has just got its verdicts."""
        self._add(number, _read_claims(self.folder, number))

    def join(self) -> Path:
        """All verdicts in one file, in the order of the claims."""
        joined = self.folder / "verdicts"
        with write_atomic(joined) as stream:
            for number in range(self.number):
                with open(_verdicts(self.folder, number), "rb") as part:
                    shutil.copyfileobj(part, stream)
        return joined

    def _add(self, number: int, claims: list[Claim]) -> None:
        path = _verdicts(self.folder, number)
        with open(path, "rb") as stream:
            lines: list[Line] = whole_lines(stream, path)[0]
        check_same(lines, claims, path, self.claims)
        if len(lines) != len(claims):
            raise DataError(f"{path}: holds {len(lines)} verdicts on {len(claims)} claims. {OTHER_JOB}")
        self.labels.update(line.answer for line in lines)


def _claims(folder: Path, number: int) -> Path:
    return folder / f"{number:08d}.claims"


def _verdicts(folder: Path, number: int) -> Path:
    return folder / f"{number:08d}.jsonl"


def _read_claims(folder: Path, number: int) -> list[Claim]:
    return msgspec.json.decode(_claims(folder, number).read_bytes(), type=list[Claim])


@dataclass(frozen=True)
class Task:
    """What a worker is told: what to make, where the parts are, and what the verdicts must rest on."""

    recipe: Recipe
    folder: Path
    definition: dict[str, Any]
    share: Share


def _judged(address: str, task: Task, missing: list[int]) -> Iterator[int]:
    """The numbers of the parts as their verdicts are written."""
    with connected(address), marked(task.folder) as mark:
        from ray import data

        logging.getLogger("ray.data").setLevel(logging.ERROR)
        expected = look([mark, *task.recipe.paths()])
        room = check_nodes(expected, task.share)
        # A part to a block, so that a lost worker costs one part.
        parts = data.from_items([{"part": number} for number in missing], override_num_blocks=len(missing))
        parts.context.enable_progress_bars = False
        judged = parts.map_batches(
            Judge,
            fn_constructor_args=(task, expected),
            batch_size=1,
            compute=data.ActorPoolStrategy(min_size=1, max_size=min(room, len(missing))),
            num_cpus=task.share.cpus,
            num_gpus=task.share.gpus,
        )
        for row in judged.iter_rows():
            if row["problem"]:
                raise ConfigError(
                    f"{row['problem']}\nWhat is done is kept; given again, the command goes on."
                )
            yield int(row["part"])


class Judge:
    """A worker. Its verifier is made with its first part, so that what stands against it can be returned."""

    def __init__(self, task: Task, expected: Sight) -> None:
        self.task = task
        self.expected = expected
        self.made: tuple[Verifier, IndexRetriever] | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """``part`` numbers in; the same with what went wrong, or nothing."""
        return {"part": batch["part"], "problem": [self._problem(int(number)) for number in batch["part"]]}

    def _problem(self, number: int) -> str:
        try:
            if not _verdicts(self.task.folder, number).exists():  # else of a worker that was lost since
                self._judge(number)
        except (AdjudgeError, OSError) as error:
            return f"Node {socket.gethostname()}: {error}"
        return ""

    def _judge(self, number: int) -> None:
        import torch

        torch.set_num_threads(self.task.share.cpus)
        verifier, retriever = self.made = self.made or self._make()
        claims = _read_claims(self.task.folder, number)
        inject_gold = self.task.recipe.inject_gold
        verdicts = (
            verdict
            for window in chunks(claims, WINDOW)
            for verdict in judge_window(verifier, window, retriever, inject_gold)
        )
        write_records(_verdicts(self.task.folder, number), map(verdict_record, verdicts))

    def _make(self) -> tuple[Verifier, IndexRetriever]:
        check_here(self.expected)
        recipe, wanted = self.task.recipe, self.task.definition
        verifier, retriever = recipe.make(self.task.share.device)
        found = definition_of(recipe, verifier, retriever)
        other = [name for name in wanted if found[name] != wanted[name]]
        if other:
            raise ConfigError(f"sees another {' and '.join(other)} than the command that began this job.")
        return verifier, retriever
