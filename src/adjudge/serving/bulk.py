"""Verdicts for a whole file of claims: streamed, in order, and resumed where an interrupted job stopped.

Beside ``out`` stand, until the job is done,

    out.part         the verdicts so far, appended line by line; renamed to ``out`` at the end
    out.part.json    what they rest on: model, corpus, selector, k

Claims are weighed in windows that depend on their place in the file alone, so that a job which was
interrupted, however often, ends in the same file as one that was not.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from adjudge.data.fever import write_submission
from adjudge.data.files import write_atomic, write_json
from adjudge.data.readers import read_claims_any
from adjudge.data.records import PathLike, claim_field, read_records
from adjudge.data.verdicts import read_verdicts, verdict_record
from adjudge.errors import ConfigError, DataError
from adjudge.retrieval.protocol import Retriever
from adjudge.retrieval.search import IndexRetriever
from adjudge.serving.corpus import fingerprint, open_corpus
from adjudge.serving.selectors import selector_identity, weights_hash
from adjudge.serving.verifier import NO_CORPUS, WINDOW, Corpus, Verifier
from adjudge.training.dataset import chunks
from adjudge.types import ABSTAINED, Claim, ClaimId, Verdict


@dataclass(frozen=True, slots=True)
class BulkReport:
    """What a bulk job wrote: verdicts in all, those an earlier attempt had left, counts by label or ABSTAINED."""

    claims: int
    resumed: int
    labels: dict[str, int]
    gold_injected: bool


class Line(msgspec.Struct):
    """What a resumed job must know of a verdict."""

    id: ClaimId
    claim: str
    label: str
    abstained: bool = False

    @property
    def answer(self) -> str:
        """As a verdict's."""
        return ABSTAINED if self.abstained else self.label


def read_claims(path: PathLike) -> Iterator[Claim]:
    """The claims of any JSONL file with ``id`` (or ``claim_id``) and ``claim``; nothing else is looked at."""
    for where, identity, record in read_records(path, ("id", "claim_id")):
        yield Claim(identity, claim_field(record, where))


def verify_file(
    verifier: Verifier,
    claims: PathLike,
    out: PathLike,
    corpus: Corpus | None = None,
    submission: PathLike | None = None,
    restart: bool = False,
    inject_gold: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> BulkReport:
    """Write a verdict for every claim of a file, one per line, in its order.

    What an interrupted call left in ``out.part`` is kept and gone on from, if it rests on the same model,
    corpus and settings; ``restart`` begins again. ``submission`` is the same as a FEVER submission.
    With ``inject_gold`` the claims are read with their gold, and the gold pages' sentences are offered to the
    selector; every verdict says so, and there can be no submission. ``progress`` hears how many are written.
    """
    check_submission(submission, inject_gold)
    out = Path(out)
    part = out.with_name(f"{out.name}.part")
    job = part.with_name(f"{part.name}.json")
    retriever = _opened(verifier.corpus if corpus is None else corpus)
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with held(part) as stream:
            known = _take_up(stream, part, job, job_definition(verifier, retriever, inject_gold), restart)
            labels = Counter(line.answer for line in known)
            for label in _append(stream, known, verifier, claims, retriever, part, inject_gold):
                labels[label] += 1
                progress(labels.total())
            os.fsync(stream.fileno())
        if submission is not None:
            write_submission(submission, read_verdicts(part))
        finish(part, out)  # last: where out is, the job is done
    finally:
        if part.exists() and not part.stat().st_size:  # nothing to resume
            part.unlink()
        if not part.exists():
            job.unlink(missing_ok=True)
    return BulkReport(labels.total(), len(known), dict(labels), inject_gold)


def check_submission(submission: PathLike | None, inject_gold: bool) -> None:
    """What a submission cannot say must not be in it."""
    if inject_gold and submission is not None:
        raise ConfigError("A submission cannot say that gold was injected: leave out one of the two.")


def claims_of(path: PathLike, with_gold: bool) -> Iterator[Claim]:
    """The claims of a file, with their gold where that is wanted."""
    return read_claims_any(path) if with_gold else read_claims(path)


def _append(
    stream: BinaryIO,
    known: list[Line],
    verifier: Verifier,
    claims: PathLike,
    retriever: Retriever,
    part: Path,
    inject_gold: bool,
) -> Iterator[str]:
    """Write the verdicts that are missing, and yield their labels."""
    position = 0
    for window in chunks(claims_of(claims, inject_gold), WINDOW):
        written = known[position : position + len(window)]
        check_same(written, window, part, claims)
        position += len(window)
        if len(written) == len(window):
            continue
        # The whole window again, though some of it may be written: its rows are padded together.
        for verdict in judge_window(verifier, window, retriever, inject_gold)[len(written) :]:
            stream.write(msgspec.json.encode(verdict_record(verdict)) + b"\n")
            stream.flush()
            yield verdict.answer
    if not position:
        raise DataError(f"{claims}: the file is empty, expected one claim per line.")
    if position < len(known):
        raise DataError(
            f"{part}: holds {len(known):,} verdicts, but {claims} has {position:,} claims. {OTHER_JOB}"
        )


def judge_window(
    verifier: Verifier, window: list[Claim], retriever: Retriever, inject_gold: bool
) -> list[Verdict]:
    """Verdicts on a window of claims, the same whatever was judged before it."""
    verifier.forget()
    return list(verifier.verify_many(window, retriever, inject_gold))


OTHER_JOB = "It belongs to another job: choose another --out, or pass --force to begin again."


def _opened(corpus: Corpus | None) -> Retriever:
    """The corpus as it is now; a verifier may have opened it long ago."""
    if corpus is None:
        raise ConfigError(NO_CORPUS)
    return IndexRetriever(open_corpus(corpus)) if isinstance(corpus, (str, os.PathLike)) else corpus


def job_definition(verifier: Verifier, retriever: Retriever, inject_gold: bool) -> dict[str, Any]:
    """What decides the verdicts besides the claims."""
    corpus = fingerprint(retriever.index) if isinstance(retriever, IndexRetriever) else _kind(retriever)
    return {
        "model": weights_hash(verifier.model.module),
        "corpus": corpus,
        "selector": selector_identity(verifier.chooser()),
        "k": verifier.k,
        "candidates": verifier.candidates,
        "temperature": verifier.temperature,
        "minimum confidence": verifier.min_confidence,
        "gold_injected": inject_gold,
    }


def _kind(thing: object) -> str:
    return type(thing).__name__


def _take_up(
    stream: BinaryIO, part: Path, job: Path, definition: dict[str, Any], restart: bool
) -> list[Line]:
    """The verdicts an earlier attempt left; the stream then stands behind the last whole one."""
    known, end = ([], 0) if restart else whole_lines(stream, part)
    if known:
        check_definition(job, definition, part)
    stream.truncate(end)
    stream.seek(end)
    write_json(job, definition)
    return known


def whole_lines(stream: BinaryIO, part: Path) -> tuple[list[Line], int]:
    """(verdicts, their bytes); a last line without an end was cut off by the interruption."""
    decode = msgspec.json.Decoder(Line).decode
    lines: list[Line] = []
    end = 0
    for raw in stream:
        if not raw.endswith(b"\n"):
            break
        try:
            lines.append(decode(raw))
        except msgspec.DecodeError as error:
            raise DataError(f"{part}:{len(lines) + 1}: not a verdict ({error}). {OTHER_JOB}") from None
        end += len(raw)
    return lines, end


def check_definition(job: Path, definition: dict[str, Any], part: Path) -> None:
    """Refuse to go on with verdicts that rest on something else."""
    try:
        found = msgspec.json.decode(job.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        found = {}
    changed = [name for name in definition if found.get(name) != definition[name]]
    if changed:
        raise ConfigError(f"{part}: was made with another {' and '.join(changed)}. {OTHER_JOB}")


def check_same(known: list[Line], window: list[Claim], part: Path, claims: PathLike) -> None:
    """Refuse verdicts on other claims than those at their place in the file."""
    for line, claim in zip(known, window, strict=False):
        if (line.id, line.claim) != (claim.id, claim.text):
            raise DataError(
                f"{part}: has a verdict on claim {line.id!r} where {claims} has another claim, {claim.id!r}. "
                f"{OTHER_JOB}"
            )


def finish(part: Path, out: Path) -> None:
    """Give the whole file its name."""
    if out.suffix != ".gz":
        os.replace(part, out)
        return
    with open(part, "rb") as stream, write_atomic(out) as packed:
        shutil.copyfileobj(stream, packed)
    part.unlink()


@contextmanager
def held(part: Path) -> Iterator[BinaryIO]:
    """Open the partial file, which no other process may have open; the system lets go when this one ends."""
    with open(part, "a+b") as stream:
        if sys.platform != "win32":  # elsewhere an open file cannot be renamed by another process anyway
            import fcntl

            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ConfigError(f"{part}: another process is writing it. Wait until it is done.") from None
        stream.seek(0)
        yield stream
