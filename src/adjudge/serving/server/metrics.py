"""What a server counts, for Prometheus: seconds of each stage, sizes of queue and batches, verdicts by state."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from adjudge.types import Verdict

if TYPE_CHECKING:
    from adjudge.serving.server.engine import Engine

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_ITEMS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_TOKENS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)


class Metrics:
    """The metrics of one application, in a registry of their own."""

    def __init__(self, engine: Engine) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "adjudge_request_seconds",
            "Seconds from a request's first byte to the end of its answer",
            ("route", "method", "status"),
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.stages = Histogram(
            "adjudge_stage_seconds",
            "Seconds of a stage: queue (each piece of work), retrieval, tokenisation and inference (each batch)",
            ("stage",),
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.batch_items = Histogram(
            "adjudge_batch_requests", "Pieces of work judged together", registry=self.registry, buckets=_ITEMS
        )
        self.batch_tokens = Histogram(
            "adjudge_batch_tokens", "Tokens judged together, about", registry=self.registry, buckets=_TOKENS
        )
        self.verdicts = Counter("adjudge_verdicts", "Answers by state", ("state",), registry=self.registry)
        self.shed = Counter(
            "adjudge_shed", "Requests refused because the queue was full", registry=self.registry
        )
        waiting = Gauge("adjudge_queue_requests", "Pieces of work that wait", registry=self.registry)
        waiting.set_function(lambda: engine.queue_length)
        ready = Gauge("adjudge_ready", "Whether model and corpora are loaded", registry=self.registry)
        ready.set_function(lambda: float(engine.is_ready))

    def observe_batch(self, items: int, cost: int, waits: list[float]) -> None:
        """A batch is about to be judged."""
        self.batch_items.observe(items)
        self.batch_tokens.observe(cost)
        for seconds in waits:
            self.observe_stage("queue", seconds)

    def observe_stage(self, stage: str, seconds: float) -> None:
        """A stage has taken so long."""
        self.stages.labels(stage).observe(seconds)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the block as a stage."""
        began = time.perf_counter()
        yield
        self.observe_stage(name, time.perf_counter() - began)

    def count_verdict(self, verdict: Verdict) -> None:
        """A claim was answered."""
        self.count_state(verdict.answer)

    def count_state(self, state: str) -> None:
        """A claim or sentence was answered."""
        self.verdicts.labels(state).inc()

    def exposition(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self.registry)
