"""Interrupt works at their write boundaries and at random moments, and see that nothing is lost or wrong.

    python tests/torture/run.py --faults 320           # make torture
    python tests/torture/run.py --works index --faults 40 --seed 7
    python tests/torture/run.py --minutes 20           # as many as fit, each work its share of the time

Every trial: a copy of what was prepared, the work with a fault, a look at what it left, the work again without a fault,
and the end compared with that of undisturbed work.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults import ERRORS, KINDS, Faults
from works import WORKS, Work, leftovers

from adjudge.errors import AdjudgeError

SHARES = {"index": 0.3, "bulk": 0.18, "download": 0.16, "corpora": 0.14, "training": 0.13, "compare": 0.09}
TIMEOUT = 1800.0
"""Seconds after which work is held to hang: long, since a busy machine may give it a hundredth of a processor."""
FINISHED, REFUSED, FAILED = 0, 3, 4
"""How a trial's process ends by itself: done, an error in words, any other error."""


@dataclass(frozen=True)
class Fault:
    """``at`` a boundary, or for the kind ``random`` after a share of the undisturbed time."""

    kind: str
    at: float

    def __str__(self) -> str:
        return f"{self.kind} {self.at:.2f}" if self.kind == "random" else f"{self.kind} {self.at:.0f}"


@dataclass
class Trials:
    """The trials of one work; ``problems`` says what went wrong in which."""

    work: Work
    name: str
    prepared: Path
    scratch: Path
    problems: list[str]
    ends: Counter[str]

    def run(self, count: int, rng: random.Random, seconds: float) -> None:
        """So many faults, none begun after ``seconds``."""
        deadline = time.monotonic() + seconds
        reference = self._fresh()
        boundaries = _Pipe()
        began = time.monotonic()
        status = in_child(lambda: self._do(reference, Faults(reference), boundaries))
        undisturbed = time.monotonic() - began
        if status != FINISHED:
            self.problems.append(f"{self.name}: undisturbed work ended with {status}")
            return
        total = int(boundaries.read())
        final = in_child_value(lambda: self.work.result(reference))
        for fault in self._faults(count, total, rng):
            if time.monotonic() > deadline:
                break
            problem = self._trial(fault, undisturbed, final)
            if problem:
                self.problems.append(f"{self.name}, {fault} of {total} boundaries: {problem}")

    def _faults(self, count: int, total: int, rng: random.Random) -> list[Fault]:
        """A third at random moments, the others spread over all boundaries and kinds; in no order."""
        at_random = [Fault("random", rng.random()) for _ in range(count // 3)]
        every = [Fault(kind, at) for at in range(1, total + 1) for kind in KINDS]
        faults = at_random + rng.sample(every, min(len(every), count - len(at_random)))
        rng.shuffle(faults)
        return faults

    def _trial(self, fault: Fault, seconds: float, final: Any) -> str | None:
        folder = self._fresh()
        try:
            limit = fault.at * seconds if fault.kind == "random" else None
            faults = Faults(folder, fault.kind, 0 if fault.kind == "random" else int(fault.at))
            status = in_child(lambda: self._do(folder, faults), limit)
            self.ends[_name(status)] += 1
            if status == FAILED:
                return "ended with an error that is not told in words"
            if status == REFUSED and fault.kind not in ERRORS:
                return "was refused"
            if status == REFUSED and leftovers(folder):
                return f"the disk's error left {leftovers(folder)}"
            if wrong := in_child_value(lambda: self._check(folder, final)):
                return f"what was left: {wrong}"
            before = self.work.finished(folder)
            status = in_child(lambda: self._do(folder))
            if status != FINISHED:
                return f"the same work given again ended with {_name(status)}"
            result = in_child_value(lambda: self.work.result(folder))
            if result != final:
                return f"another result: {_difference(result, final)}"
            after = self.work.finished(folder)
            if [name for name, made in before.items() if made not in (None, after.get(name))]:
                return "what was finished was made again"
            return None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _do(self, folder: Path, faults: Faults | None = None, count: _Pipe | None = None) -> int:
        os.chdir(folder)
        try:
            if faults is not None:
                faults.install()
            self.work.do(folder)
        except (AdjudgeError, OSError) as error:
            if os.environ.get("TORTURE_VERBOSE"):
                sys.stderr.write(f"{error}\n")
            told = isinstance(error, OSError) and error.errno in ERRORS.values()
            return REFUSED if told or isinstance(error, AdjudgeError) else FAILED
        if count is not None and faults is not None:
            count.write(str(faults.count))
        return FINISHED

    def _check(self, folder: Path, final: Any) -> str:
        try:
            self.work.check(folder, final)
        except AssertionError as error:
            return str(error) or "not what it should be"
        except AdjudgeError as error:
            return str(error) if self.name == "index" else ""  # an index stays readable all the time
        return ""

    def _fresh(self) -> Path:
        """Paths are part of what some works remember, so every trial has the same."""
        folder = self.scratch / "trial"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.prepared, folder, symlinks=True)
        return folder


def in_child(action: Callable[[], int], limit: float | None = None) -> int:
    """Do something in a process of its own, killed after ``limit`` seconds; minus the signal that ended it."""
    child = os.fork()
    if not child:
        code = FAILED
        try:
            code = action()
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            if os.environ.get("TORTURE_VERBOSE"):
                import traceback

                traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + (TIMEOUT if limit is None else limit)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
            return os.waitstatus_to_exitcode(status) if limit is not None else FAILED
        time.sleep(0.002)


def in_child_value(action: Callable[[], Any]) -> Any:
    """What a function returns in a process of its own; this one keeps no file open and no thread."""
    pipe = _Pipe()

    def do() -> int:
        pipe.write_bytes(pickle.dumps(action()))
        return FINISHED

    status = in_child(do)
    return pickle.loads(pipe.read_bytes()) if status == FINISHED else f"ended with {_name(status)}"


class _Pipe:
    """A file through which a child answers: large answers do not block it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()

    def write(self, text: str) -> None:
        self.write_bytes(text.encode())

    def write_bytes(self, content: bytes) -> None:
        os.write(self._file.fileno(), content)

    def read(self) -> str:
        return self.read_bytes().decode()

    def read_bytes(self) -> bytes:
        self._file.seek(0)
        return self._file.read()


def _name(status: int) -> str:
    names = {FINISHED: "done", REFUSED: "an error in words", FAILED: "another error"}
    return names.get(status, "killed" if status == -signal.SIGKILL else f"status {status}")


def _difference(result: Any, final: Any) -> str:
    if isinstance(result, dict) and isinstance(final, dict):
        return ", ".join(
            sorted(key for key in result.keys() | final.keys() if result.get(key) != final.get(key))
        )[:200]
    if isinstance(result, (list, tuple)) and isinstance(final, (list, tuple)):
        return str([n for n, pair in enumerate(zip(result, final, strict=False)) if pair[0] != pair[1]])
    return str(result)[:200]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--faults", type=int, default=320)
    parser.add_argument("--works", default=",".join(WORKS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no fault after these")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    names = options.works.split(",")
    weight = sum(SHARES[name] for name in names)
    figures: dict[str, Any] = {}
    problems: list[str] = []
    for name in names:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="torture-") as root:
            prepared, scratch = Path(root) / "prepared", Path(root) / "scratch"
            prepared.mkdir()
            scratch.mkdir()
            work = WORKS[name]()
            trial = scratch / "trial"
            trial.mkdir()
            work.prepare(trial)  # under the path of the trials
            shutil.rmtree(prepared)
            shutil.copytree(trial, prepared)
            trials = Trials(work, name, prepared, scratch, problems, Counter())
            share = SHARES[name] / weight
            minutes = options.minutes * share
            trials.run(round(options.faults * share), random.Random(options.seed), 60 * minutes)
            seconds = round(time.monotonic() - began, 1)
            figures[name] = {"faults": trials.ends.total(), "ends": dict(trials.ends), "seconds": seconds}
            sys.stderr.write(f"{name}: {json.dumps(figures[name])}\n")
    faults = sum(figure["faults"] for figure in figures.values())
    sys.stdout.write(json.dumps({"faults": faults, "problems": problems, "works": figures}, indent=2) + "\n")
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
