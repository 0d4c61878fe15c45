"""One execution at a time for a folder, whatever machine it is on.

A scheduler that loses sight of a worker starts its work elsewhere, while the worker may be alive behind a broken
network. The owner of a folder touches ``running.lock`` every few seconds. Once it is seen untouched for
:data:`LEASE_SECONDS`, or its process is gone from this machine, the next one takes over; the former owner, should it
wake up, stops. ``attempt.json`` stands there as long as there is an owner: who finds it took over from a lost one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from filelock import SoftFileLease

from adjudge.errors import TrainingError
from adjudge.io.files import write_json
from adjudge.io.jsonl import BAD_JSON

LOCK = "running.lock"
ATTEMPT = "attempt.json"
LEASE_SECONDS = 30.0
"""Longer than a busy machine keeps a thread waiting."""
HEARTBEATS = 6
"""Signs of life within a lease."""
MAX_LOSSES = 10
"""Owners lost in a row with nothing saved between them, before the work itself is taken to be the reason."""


class _Attempt(msgspec.Struct):
    """``state`` is when the state was saved that the owner began with, ``lost`` counts its predecessors."""

    host: str
    pid: int
    state: int
    lost: int = 0


@contextmanager
def lease(folder: Path, state: Path, seconds: float = LEASE_SECONDS) -> Iterator[Callable[[], None]]:
    """Own a folder during the block, waiting for it if need be; an empty one is removed at the end.

    Args:
        folder: made where it does not exist.
        state: the file that the work saves its state to, which tells whether lost owners got on.
        seconds: how long an owner may be silent; the same for all.

    Yields:
        A function that raises when another has taken over, to be called at every step of the work.

    Raises:
        TrainingError: too many owners were lost one after the other.
    """
    beat = seconds / HEARTBEATS
    owned = SoftFileLease(
        folder / LOCK, lease_duration=seconds, heartbeat_interval=beat, poll_interval=beat / 5
    )
    while not owned.is_locked:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # its last owner has just removed it
            owned.acquire()
    try:
        _count_losses(folder, state, owned)
        try:
            yield _Watch(owned, folder).check
        finally:
            if _is_ours(owned):
                (folder / ATTEMPT).unlink(missing_ok=True)
    finally:
        owned.release()
        with suppress(OSError):  # not empty
            folder.rmdir()


class _Watch:
    def __init__(self, owned: SoftFileLease, folder: Path) -> None:
        self.owned = owned
        self.folder = folder
        self.looked = time.monotonic()

    def check(self) -> None:
        """Raise if another owns the folder; after a long silence the heartbeat may not have noticed yet."""
        lost = self.owned.compromise is not None
        if time.monotonic() - self.looked > self.owned.lease_duration / 2:
            lost = lost or not _is_ours(self.owned)
        self.looked = time.monotonic()
        if lost:
            raise TrainingError(
                f"{self.folder}: was taken over by another execution, after this one had not been heard of for a "
                "while. That one goes on."
            )


def _is_ours(owned: SoftFileLease) -> bool:
    """Whether the file names this owner; who checks it for staleness moves it aside for a moment."""
    for _ in range(3):
        owner = owned.owner
        if owner is not None and owner.token == owned.token:
            return True
        time.sleep(owned.lease_duration / HEARTBEATS / 5)
    return False


def _count_losses(folder: Path, state: Path, owned: SoftFileLease) -> None:
    """Note this attempt, and how many owners in a row were lost with the state as it is now."""
    path, saved, lost = folder / ATTEMPT, 0, 0
    with suppress(FileNotFoundError):
        saved = state.stat().st_mtime_ns
    with suppress(FileNotFoundError, *BAD_JSON):
        last = msgspec.json.decode(path.read_bytes(), type=_Attempt)
        lost = last.lost + 1 if last.state == saved else 1
        if lost > MAX_LOSSES:
            raise TrainingError(
                f"{folder}: {lost} workers were lost one after the other with nothing saved between, the last on "
                f"{last.host}. If the run needs more memory than a worker has, give it more; then remove {ATTEMPT} "
                "and start again."
            )
    owner = owned.owner
    if owner is not None:
        write_json(path, _Attempt(owner.hostname, owner.pid, saved, lost))
