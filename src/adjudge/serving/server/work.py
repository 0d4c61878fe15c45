"""A bounded queue whose items are worked on together: what waits is taken by cost, up to a budget."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from adjudge.errors import AdjudgeError

Item = TypeVar("Item")
Result = TypeVar("Result")


class QueueFull(AdjudgeError):
    """There is no room for more work now."""


class QueueClosed(AdjudgeError):
    """The queue takes no more work: the server is stopping."""


@dataclass
class _Entry(Generic[Item, Result]):
    item: Item
    cost: int
    future: Future[Result] = field(default_factory=Future)
    arrival: float = field(default_factory=time.monotonic)


class WorkQueue(Generic[Item, Result]):
    """Hands items to one thread, several at a time.

    The thread takes the oldest item, waits until ``wait`` seconds after its arrival for others to join it, and takes as
    many as fit the budget, in their order. Where one of them makes the work fail, each is tried alone, so that it
    spoils only its own result.

    Args:
        work: items → their results, in order.
        budget: cost of the items that are worked on together; a single item may cost more.
        wait: seconds.
        size: items that may wait; :meth:`submit` raises :class:`QueueFull` beyond.
        observe: called with (items, cost, seconds that each has waited) before each piece of work.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result]],
        budget: int,
        wait: float,
        size: int,
        observe: Callable[[int, int, list[float]], None] = lambda items, cost, waits: None,
    ) -> None:
        self._work = work
        self._budget = budget
        self._wait = wait
        self._size = size
        self._observe = observe
        self._entries: deque[_Entry[Item, Result]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="adjudge-work", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_full(self) -> bool:
        """Whether :meth:`submit` would refuse an item now."""
        return len(self._entries) >= self._size

    def submit(self, item: Item, cost: int = 1, always: bool = False) -> Future[Result]:
        """Queue an item. With ``always`` there is room for it: it continues what was accepted before."""
        entry: _Entry[Item, Result] = _Entry(item, max(cost, 1))
        with self._changed:
            if self._closing:
                raise QueueClosed("The server is stopping.")
            if self.is_full and not always:
                raise QueueFull(f"{len(self._entries)} requests are waiting already. Try again in a moment.")
            self._entries.append(entry)
            self._changed.notify()
        return entry.future

    def close(self, timeout: float | None = None) -> None:
        """Take no more, finish what waits, and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)

    def _run(self) -> None:
        while entries := self._take():
            now = time.monotonic()
            self._observe(len(entries), sum(e.cost for e in entries), [now - e.arrival for e in entries])
            self._carry_out(entries)

    def _take(self) -> list[_Entry[Item, Result]]:
        """The next items to work on, without those given up; none when the queue has been closed and is empty."""
        while True:
            with self._changed:
                while not self._entries and not self._closing:
                    self._changed.wait()
                if not self._entries:
                    return []
                deadline = self._entries[0].arrival + self._wait
                while not self._closing and not self._fills_budget():
                    left = deadline - time.monotonic()
                    if left <= 0 or not self._changed.wait(left):
                        break
                entries = self._pop_budget()
            entries = [entry for entry in entries if entry.future.set_running_or_notify_cancel()]
            if entries:
                return entries

    def _fills_budget(self) -> bool:
        total = 0
        for entry in self._entries:
            total += entry.cost
            if total >= self._budget:
                return True
        return False

    def _pop_budget(self) -> list[_Entry[Item, Result]]:
        entries = [self._entries.popleft()]
        total = entries[0].cost
        while self._entries and total + self._entries[0].cost <= self._budget:
            entries.append(self._entries.popleft())
            total += entries[-1].cost
        return entries

    def _carry_out(self, entries: list[_Entry[Item, Result]]) -> None:
        try:
            results = self._work([entry.item for entry in entries])
        except Exception as error:
            if len(entries) == 1:
                entries[0].future.set_exception(error)
                return
            for entry in entries:
                self._carry_out([entry])
            return
        for entry, result in zip(entries, results, strict=True):
            entry.future.set_result(result)
