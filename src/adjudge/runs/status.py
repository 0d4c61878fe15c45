"""How far a run is, read off its folder: the same whether it runs here or on another machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from adjudge.io.jsonl import BAD_JSON
from adjudge.runs.folder import RunFolder

State = Literal["waiting", "begun", "stopped", "finished"]

_TAIL = 4096  # bytes that hold the last lines of metrics.jsonl


class Status(NamedTuple):
    """``done`` is the share of the training steps, all of them for a run that was stopped;
    ``dev_label_accuracy`` the latest, the best when finished.
    """

    state: State
    done: float
    seconds: float
    dev_label_accuracy: float | None


class _Line(msgspec.Struct):
    step: int
    epoch: float
    split: str
    accuracy: float
    seconds: float


def run_status(run: RunFolder, epochs: int) -> Status:
    """Read the manifest of a finished run, or the last metrics of one that has begun."""
    if run.is_finished:
        manifest = run.manifest()
        return Status("finished", 1.0, manifest["seconds"], manifest["best_dev_label_accuracy"])
    if not run.config.exists():
        return Status("waiting", 0.0, 0.0, None)
    lines = _last_lines(run.metrics)
    if not lines:
        return Status("begun", 0.0, 0.0, None)
    dev = [line.accuracy for line in lines if line.split == "dev"]
    stopped = run.stopped.exists()
    done = 1.0 if stopped else min(1.0, lines[-1].epoch / epochs)
    return Status("stopped" if stopped else "begun", done, lines[-1].seconds, dev[-1] if dev else None)


class Evaluation(NamedTuple):
    """How a run stood on the tuning claims; ``done`` is the share of its training steps."""

    step: int
    done: float
    label_accuracy: float


def dev_curve(run: RunFolder, epochs: int) -> list[Evaluation]:
    """Every evaluation on the tuning claims that a run has noted."""
    return [
        Evaluation(line.step, line.epoch / epochs, line.accuracy)
        for line in _last_lines(run.metrics, tail=None)
        if line.split == "dev"
    ]


def remaining_seconds(statuses: list[Status], at_once: int = 1) -> float | None:
    """What the unfinished runs will take at the pace so far; None before there is a pace."""
    done = sum(status.done for status in statuses)
    if not done:
        return None
    pace = sum(status.seconds for status in statuses) / done
    return pace * (len(statuses) - done) / at_once


def _last_lines(path: Path, tail: int | None = _TAIL) -> list[_Line]:
    """The whole lines in the last bytes, or in all, of a file that another process may be writing."""
    try:
        with path.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            start = 0 if tail is None else max(0, stream.tell() - tail)
            stream.seek(start)
            read = stream.read()
    except OSError:
        return []
    lines = read.split(b"\n")[1 if start else 0 : -1]  # the first may be cut off, the last not yet whole
    return [decoded for line in lines if (decoded := _decode(line)) is not None]


def _decode(line: bytes) -> _Line | None:
    """A line of the log; None for one that was damaged, or cut off by a full disk."""
    try:
        return msgspec.json.decode(line, type=_Line)
    except BAD_JSON:
        return None
