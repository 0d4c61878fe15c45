"""One execution at a time for a run folder, whatever machine it is on.

A scheduler that loses sight of a worker starts its run elsewhere, while the worker may be alive behind a broken
network. ``running.json`` names the owner of a folder, who touches it every few seconds; once it is seen untouched
for :data:`PATIENCE` such periods, the next one takes over, and the former owner, should it wake up, stops.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from adjudge.data.files import write_json
from adjudge.errors import TrainingError

FILE = "running.json"
BEAT = 5.0
PATIENCE = 6
MOST_LOSSES = 10
"""Owners lost in a row with nothing saved between them, before the run itself is taken to be the reason."""


class _Owner(msgspec.Struct):
    """``state`` is when the resumable state was written that this owner began with, ``lost`` its forerunners."""

    owner: str
    host: str
    pid: int
    state: int
    lost: int = 0


@contextmanager
def held(folder: Path, beat: float = BEAT) -> Iterator[Callable[[], None]]:
    """Own a run folder during the block, waiting for it if need be.

    Yields a function that raises when another has taken over, to be called at every step of the work.
    """
    folder.mkdir(parents=True, exist_ok=True)
    hold = _Hold(folder / FILE, beat)
    hold.take()
    thread = threading.Thread(target=hold.keep, daemon=True)
    thread.start()
    try:
        yield hold.check
    finally:
        hold.done.set()
        thread.join()
        if hold.renew():
            hold.path.unlink(missing_ok=True)


class _Hold:
    def __init__(self, path: Path, beat: float) -> None:
        self.path = path
        self.beat = beat
        self.name = uuid.uuid4().hex
        self.renewed = time.monotonic()
        self.done = threading.Event()

    def take(self) -> None:
        """Wait until the folder is free or its owner has not been heard of for long."""
        seen, since = None, time.monotonic()
        while True:
            try:
                with open(self.path, "xb") as stream:  # only one succeeds, on NFS too
                    stream.write(msgspec.json.encode(self._claim(0)))
                break
            except FileExistsError:
                found = _read(self.path)
            if found != seen:
                seen, since = found, time.monotonic()
            elif found is not None and time.monotonic() - since > PATIENCE * self.beat:
                write_json(self.path, self._claim(self._losses(found[0])))
                time.sleep(self.beat)  # for others that took over in the same moment: the last one has it
                if self.renew():
                    break
                continue
            time.sleep(self.beat / 2)
        self.renewed = time.monotonic()

    def keep(self) -> None:
        """Show every beat that the owner is alive."""
        while not self.done.wait(self.beat):
            try:
                if not self.renew():
                    break
            except OSError:  # storage out of reach for a moment, which others' patience covers
                continue

    def renew(self) -> bool:
        """Touch the file, if it is still this owner's."""
        found = _read(self.path)
        owner = None if found is None else _decode(found[0])
        if owner is None or owner.owner != self.name:
            self.renewed = -math.inf
            return False
        os.utime(self.path)
        self.renewed = time.monotonic()
        return True

    def check(self) -> None:
        """Raise if another owns the folder; one that slept long looks anew."""
        if time.monotonic() - self.renewed > PATIENCE * self.beat / 2 and not self.renew():
            raise TrainingError(
                f"{self.path.parent}: was taken over by another execution, after this one on "
                f"{socket.gethostname()} had not been heard of for a while. That one goes on."
            )

    def _claim(self, lost: int) -> _Owner:
        return _Owner(self.name, socket.gethostname(), os.getpid(), _state(self.path.parent), lost)

    def _losses(self, left: bytes) -> int:
        """How many owners in a row were lost with the state as it is now."""
        owner = _decode(left)
        if owner is None or owner.state != _state(self.path.parent):
            return 1
        if owner.lost >= MOST_LOSSES:
            raise TrainingError(
                f"{self.path.parent}: {MOST_LOSSES + 1} workers were lost one after the other with nothing saved "
                f"between, the last on {owner.host}. If the run needs more memory than a worker has, give it more; "
                f"then remove {self.path.name} and start again."
            )
        return owner.lost + 1


def _state(folder: Path) -> int:
    try:
        return (folder / "resume.safetensors").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _read(path: Path) -> tuple[bytes, int] | None:
    """(content, time of the last touch); the file is opened because NFS remembers what it only looked at."""
    try:
        with open(path, "rb") as stream:
            return stream.read(), os.fstat(stream.fileno()).st_mtime_ns
    except FileNotFoundError:
        return None


def _decode(content: bytes) -> _Owner | None:
    try:
        return msgspec.json.decode(content, type=_Owner)
    except msgspec.MsgspecError:  # not yet written to its end
        return None
