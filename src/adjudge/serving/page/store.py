"""The checks that the page made last, so that an export or a permalink need not check again."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.serving.check.records import Check
from adjudge.types import Verdict

MOST_CHECKS = 32
MOST_CHARACTERS = 1_000_000
"""Of the texts that are kept."""


@dataclass(frozen=True)
class PageCheck:
    """A check with what its cards show: for each sentence and part, the evidence judged alone."""

    check: Check
    alone: tuple[Sequence[Sequence[Verdict]], ...]


class CheckStore:
    """Keeps the last checks in memory, by text, corpus and the corpus's state."""

    def __init__(self) -> None:
        self._checks: OrderedDict[str, PageCheck] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> PageCheck | None:
        """The check of a key, where it is kept."""
        with self._lock:
            if key in self._checks:
                self._checks.move_to_end(key)
            return self._checks.get(key)

    def put(self, key: str, result: PageCheck) -> None:
        """Keep a check; the oldest ones go."""
        with self._lock:
            self._checks[key] = result
            self._checks.move_to_end(key)
            while len(self._checks) > MOST_CHECKS or self._characters() > MOST_CHARACTERS:
                self._checks.popitem(last=False)

    def _characters(self) -> int:
        return sum(len(result.check.text) for result in self._checks.values())


def key_of(text: str, corpus: str, generation: str) -> str:
    """What a check is kept by: a hash, so that the text is not kept twice."""
    return hashlib.sha256("\0".join((corpus, generation, text)).encode("utf-8", "replace")).hexdigest()
