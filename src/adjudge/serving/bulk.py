"""Verdicts for a whole file of claims: in order, and resumed where an interrupted job stopped.

Beside ``out`` stands, until the job is done, the folder ``out.parts``:

    job.json          what the verdicts depend on: model, corpus, selector, k, …
    00000007.jsonl    the verdicts on a window of claims; the file is there whole or not at all
    00000007.sha256   its checksum, there before it: verdicts that a disk has changed since are made again

Windows depend on the positions of the claims in the file alone. So a job ends in the same file however often it was
interrupted, and whether it runs here or on a cluster (:mod:`adjudge.cluster.bulk`).
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from adjudge.data.formats import read_claim_texts, read_claims
from adjudge.data.records import PathLike
from adjudge.data.verdicts import read_verdicts, verdict_record
from adjudge.errors import AdjudgeError, ConfigError, DataError
from adjudge.io.chunks import chunks
from adjudge.io.files import open_bytes, refuse_replacing, sha256, write_atomic, write_json, write_text
from adjudge.io.jsonl import BAD_JSON
from adjudge.io.temporary import sweep
from adjudge.retrieval.pipeline import WINDOW
from adjudge.retrieval.protocol import Retriever
from adjudge.serving.verifier import Corpus, Verifier
from adjudge.types import Claim, Example, Verdict

OTHER_JOB = "It belongs to another job: choose another --out, or pass --force to begin again."


@dataclass(frozen=True, slots=True)
class BulkReport:
    """What a bulk job wrote: verdicts in all, those an earlier attempt had left, by answer, and with a text cut."""

    claims: int
    resumed: int
    labels: dict[str, int]
    gold_injected: bool
    cut: int = 0


@dataclass(frozen=True)
class BulkJob:
    """A file of claims, and where the verdicts on them go.

    Attributes:
        claims: JSON lines with ``id`` (or ``claim_id``) and ``claim``; nothing else is read, unless ``inject_gold``.
        out: gets the verdicts, one per line, in the order of the claims.
        submission: gets the same as a FEVER submission.
        inject_gold: read the claims with their gold, and offer the gold pages' sentences to the selector; every
            verdict says so, and there can be no submission.
        restart: begin again, whatever an interrupted job left.
    """

    claims: PathLike
    out: PathLike
    submission: PathLike | None = None
    inject_gold: bool = False
    restart: bool = False

    def __post_init__(self) -> None:
        if self.inject_gold and self.submission is not None:
            raise ConfigError("A submission cannot say that gold was injected: leave out one of the two.")
        refuse_replacing(self.claims, self.out, self.submission)

    @property
    def folder(self) -> Path:
        """Where the verdicts are collected; it exists while the job is not done."""
        out = Path(self.out).absolute()
        return out.with_name(f"{out.name}.parts")

    @property
    def is_done(self) -> bool:
        """Whether ``out`` holds all verdicts that were collected: the job was killed before it could tidy up."""
        out, parts = Path(self.out), sorted(self.folder.glob("*.jsonl"))
        if not parts or not out.is_file():
            return False
        with open_bytes(out) as whole:
            same = all(whole.read(len(content := part.read_bytes())) == content for part in parts)
            return same and not whole.read(1)

    def read_claims(self) -> Iterator[Claim]:
        """The claims of the file, with their gold where that is wanted."""
        if self.inject_gold:
            return read_claims(self.claims, require_gold=True)
        return read_claim_texts(self.claims)


def verify_file(
    verifier: Verifier,
    job: BulkJob,
    corpus: Corpus | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> BulkReport:
    """Write a verdict for every claim of a file.

    What an interrupted call left is kept and gone on from, if it depends on the same model, corpus and settings.
    ``progress`` gets the number of verdicts written so far.
    """
    retriever = verifier.retriever(corpus, reopen=True)
    parts = Parts(job)
    pipeline = verifier.pipeline(retriever, job.inject_gold)

    def retrieve(window: list[Claim]) -> list[Example]:
        verifier.clear_cache()
        return verifier.retrieve_examples(window, pipeline)

    definition = job_definition(verifier, retriever, job.inject_gold)
    # The evidence of the next window is looked for while this one is judged.
    with parts.collect(definition), ThreadPoolExecutor(1, "evidence") as pool:
        for index, examples in _one_ahead(parts, lambda window: pool.submit(retrieve, window)):
            parts.write(index, list(verifier.judge_examples(examples.result(), retriever)))
            progress(parts.answers.total())
    return parts.report()


def _one_ahead(
    parts: Parts, submit: Callable[[list[Claim]], Future[list[Example]]]
) -> Iterator[tuple[int, Future[list[Example]]]]:
    """(number, evidence to come) of the windows without verdicts; the next one is submitted before one is given."""
    last: tuple[int, Future[list[Example]]] | None = None
    try:
        for index, window in parts.missing():
            coming = index, submit(window)
            if last is not None:
                yield last
            last = coming
    except AdjudgeError:  # a bad line: what stands before it is judged first
        if last is not None:
            yield last
        raise
    if last is not None:
        yield last


def judge_window(
    verifier: Verifier, window: list[Claim], retriever: Retriever, inject_gold: bool
) -> list[Verdict]:
    """Verdicts on a window of claims, the same whatever was judged before it."""
    verifier.clear_cache()
    return list(verifier.verify_many(window, retriever, inject_gold))


def job_definition(
    verifier: Verifier, retriever: Retriever, inject_gold: bool, precision: str | None = None
) -> dict[str, Any]:
    """What decides the verdicts besides the claims; ``precision`` where the workers' is not the verifier's own."""
    judge = dict(verifier.judge.identity)
    computed_in, runtime = judge.pop("precision", None), judge.pop("runtime", None)
    definition = {
        "model": judge,
        "precision": precision or computed_in,
        "runtime": None if precision else runtime,
        "corpus": dict(retriever.identity),
        "selector": dict(verifier.loaded_selector().identity),
        "k": verifier.settings.k,
        "candidates": verifier.settings.candidates,
        "minimum confidence": verifier.settings.min_confidence,
        "gold_injected": inject_gold,
    }
    plain: dict[str, Any] = msgspec.json.decode(
        msgspec.json.encode(definition)
    )  # as a file would give it back
    return plain


def verdicts_path(folder: Path, index: int) -> Path:
    """The file of a window's verdicts."""
    return folder / f"{index:08d}.jsonl"


def write_part(folder: Path, index: int, verdicts: Iterable[Verdict]) -> None:
    """Write the verdicts on a window, and their checksum before them."""
    content = b"".join(msgspec.json.encode(verdict_record(verdict)) + b"\n" for verdict in verdicts)
    write_text(_checksum_path(folder, index), hashlib.sha256(content).hexdigest())
    with write_atomic(verdicts_path(folder, index)) as stream:
        stream.write(content)


def has_part(folder: Path, index: int) -> bool:
    """Whether the verdicts on a window are there as they were written."""
    part, checksum = verdicts_path(folder, index), _checksum_path(folder, index)
    if not (part.exists() and checksum.exists()):
        return False
    return checksum.read_bytes() == sha256(part).encode()


def _checksum_path(folder: Path, index: int) -> Path:
    return verdicts_path(folder, index).with_suffix(".sha256")


class Parts:
    """The verdicts of a job, window by window, in its folder; ``answers`` counts them."""

    def __init__(self, job: BulkJob) -> None:
        self.job = job
        self.folder = job.folder
        self.answers: Counter[str] = Counter()
        self.cut = 0
        self.resumed = 0
        self.windows = 0

    @contextmanager
    def collect(self, definition: dict[str, Any]) -> Iterator[None]:
        """Own the folder during the block; after it, all windows have verdicts, which become ``out``."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ConfigError(
                f"{self.folder}: another process is writing it. Wait until it is done."
            ) from None
        try:
            sweep(self.folder)
            for written in (self.job.out, self.job.submission):
                if written is not None:
                    sweep(Path(written).parent, Path(written).name)
            self.resume_partial(definition)
            yield
            self._finish()
        finally:
            if not any(self.folder.glob("*.jsonl")):  # done, or nothing to resume
                shutil.rmtree(self.folder, ignore_errors=True)
            lock.release()

    def resume_partial(self, definition: dict[str, Any]) -> None:
        """Keep the verdicts that an earlier attempt left, if they depend on the same things."""
        path = self.folder / "job.json"
        if self.job.restart:
            self._clear()
        elif any(self.folder.glob("*.jsonl")):
            try:
                earlier = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
            except (OSError, *BAD_JSON):
                earlier = {}
            changes = [name for name in definition if earlier.get(name) != definition[name]]
            if changes:
                raise ConfigError(
                    f"{self.folder}: was made with another {' and '.join(changes)}. {OTHER_JOB}"
                )
        write_json(path, definition)

    def missing(self) -> Iterator[tuple[int, list[Claim]]]:
        """(number, claims) of the windows without whole verdicts; the others are checked and counted."""
        self.windows = 0
        for index, window in enumerate(chunks(self.job.read_claims(), WINDOW)):
            self.windows += 1
            if has_part(self.folder, index):
                self._check(index, window)
                self.count(index)
                self.resumed += len(window)
            else:
                yield index, window
        if not self.windows:
            raise DataError(f"{self.job.claims}: the file is empty, expected one claim per line.")
        beyond = [path for path in self.folder.glob("*.jsonl") if int(path.stem) >= self.windows]
        if beyond:
            raise DataError(f"{min(beyond)}: {self.job.claims} has fewer claims. {OTHER_JOB}")

    def path(self, index: int) -> Path:
        """The file of a window's verdicts."""
        return verdicts_path(self.folder, index)

    def write(self, index: int, verdicts: list[Verdict]) -> None:
        """Add the verdicts of a window."""
        write_part(self.folder, index, verdicts)
        self._count(verdicts)

    def count(self, index: int) -> None:
        """Count a window that has got its verdicts from elsewhere."""
        self._count(list(read_verdicts(self.path(index))))

    def report(self) -> BulkReport:
        """What has been written."""
        answers = self.answers
        return BulkReport(answers.total(), self.resumed, dict(answers), self.job.inject_gold, self.cut)

    def _count(self, verdicts: list[Verdict]) -> None:
        self.answers.update(verdict.answer for verdict in verdicts)
        self.cut += sum(verdict.cut for verdict in verdicts)

    def _check(self, index: int, window: list[Claim]) -> None:
        """Refuse verdicts on other claims than those at their position in the file."""
        path, claims = self.path(index), self.job.claims
        verdicts = list(read_verdicts(path))
        for verdict, claim in zip(verdicts, window, strict=False):
            if (verdict.id, verdict.claim) != (claim.id, claim.text):
                raise DataError(
                    f"{path}: has a verdict on claim {verdict.id!r} where {claims} has another claim, {claim.id!r}. "
                    f"{OTHER_JOB}"
                )
        if len(verdicts) != len(window):
            raise DataError(f"{path}: holds {len(verdicts)} verdicts on {len(window)} claims. {OTHER_JOB}")

    def _finish(self) -> None:
        paths = [self.path(index) for index in range(self.windows)]
        if self.job.submission is not None:
            from adjudge.data.submissions import write_submission

            write_submission(self.job.submission, _read_all(paths))
        with write_atomic(Path(self.job.out)) as stream:  # last: where out is, the job is done
            for path in paths:
                with open(path, "rb") as part:
                    shutil.copyfileobj(part, stream)
        self._clear()

    def _clear(self) -> None:
        for path in self.folder.iterdir():
            if path.name != "lock":
                path.unlink()


def _read_all(paths: Iterable[Path]) -> Iterator[Verdict]:
    for path in paths:
        yield from read_verdicts(path)
