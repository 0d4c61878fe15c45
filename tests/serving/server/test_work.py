from __future__ import annotations

import threading
import time

import pytest

from adjudge.serving.server.work import QueueClosed, QueueFull, WorkQueue


def slow_queue(gate: threading.Event, batches: list[list[int]], **settings: object) -> WorkQueue[int, int]:
    """A queue whose work is to double numbers, once the gate is open."""

    def work(items):
        gate.wait(10)
        batches.append(list(items))
        return [2 * item for item in items]

    values = {"budget": 10, "wait": 0.0, "size": 4, **settings}
    return WorkQueue(work, **values)


def test_what_waits_is_taken_together_in_order_up_to_the_budget():
    gate, batches = threading.Event(), []
    queue = slow_queue(gate, batches, size=10)
    first = queue.submit(0)
    while len(queue):  # until the thread is busy with it
        time.sleep(0.001)
    # Costs 4 + 5 fit a budget of 10, another 3 does not: two batches.
    futures = [queue.submit(1, 4), queue.submit(2, 5), queue.submit(3, 3)]
    gate.set()
    assert [f.result(5) for f in [first, *futures]] == [0, 2, 4, 6]
    assert batches == [[0], [1, 2], [3]]
    queue.close()


def test_an_item_that_costs_more_than_the_budget_is_worked_on_alone():
    gate, batches = threading.Event(), []
    gate.set()
    queue = slow_queue(gate, batches)
    assert queue.submit(7, 1000).result(5) == 14
    queue.close()


def test_items_that_arrive_within_the_wait_share_a_batch():
    gate, batches = threading.Event(), []
    gate.set()
    queue = slow_queue(gate, batches, wait=0.5)
    futures = [queue.submit(n, 5) for n in (1, 2)]  # 5 + 5 fills the budget: no need to wait on
    began = time.monotonic()
    assert [f.result(5) for f in futures] == [2, 4]
    assert time.monotonic() - began < 0.4
    assert batches == [[1, 2]]
    queue.close()


def test_more_than_its_size_is_refused_but_what_continues_accepted_work_is_not():
    gate, batches = threading.Event(), []
    queue = slow_queue(gate, batches, size=2)
    running = queue.submit(0)
    while len(queue):
        time.sleep(0.001)
    waiting = [queue.submit(1), queue.submit(2)]
    with pytest.raises(QueueFull, match="2 requests are waiting already"):
        queue.submit(3)
    continued = queue.submit(4, always=True)
    gate.set()
    assert [f.result(5) for f in [running, *waiting, continued]] == [0, 2, 4, 8]
    queue.close()


def test_an_item_that_fails_spoils_only_its_own_result():
    def work(items):
        if 13 in items:
            raise ValueError("thirteen")
        return [2 * item for item in items]

    queue = WorkQueue(work, budget=10, wait=0.2, size=10)
    futures = [queue.submit(n) for n in (1, 13, 3)]
    assert futures[0].result(5) == 2 and futures[2].result(5) == 6
    with pytest.raises(ValueError, match="thirteen"):
        futures[1].result(5)
    queue.close()


def test_an_item_that_was_given_up_is_not_worked_on():
    gate, batches = threading.Event(), []
    queue = slow_queue(gate, batches)
    first = queue.submit(0)
    while len(queue):
        time.sleep(0.001)
    abandoned, last = queue.submit(1), queue.submit(2)
    assert abandoned.cancel()
    gate.set()
    assert [first.result(5), last.result(5)] == [0, 4]
    assert batches == [[0], [2]]
    queue.close()


def test_closing_finishes_what_waits_and_takes_no_more():
    gate, batches = threading.Event(), []
    queue = slow_queue(gate, batches)
    futures = [queue.submit(n) for n in (1, 2, 3)]
    gate.set()
    queue.close(timeout=5)
    assert [f.result(0) for f in futures] == [2, 4, 6]
    with pytest.raises(QueueClosed):
        queue.submit(4)
