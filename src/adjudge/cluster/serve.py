"""The server's application on a Ray cluster: replicas behind Ray's proxy, batched with ``serve.batch``."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from adjudge.cluster.connection import WorkerResources, check_nodes, connect, inspect_node
from adjudge.errors import ConfigError, MissingExtra
from adjudge.serving.server.pieces import Work
from adjudge.serving.server.security import Access
from adjudge.serving.server.settings import ServerSettings
from adjudge.serving.server.work import QueueClosed, QueueFull

NAME = "adjudge"
HEALTH_SECONDS = 2.0
STOP_SECONDS = 20.0


class _Item(NamedTuple):
    work: Work
    cost: int


class ServeQueue:
    """The queue of a replica: pieces of work that arrive together are handed on together by ``serve.batch``.

    Takes the arguments of :class:`adjudge.serving.server.work.WorkQueue`, and is used like it. It must be made on the
    replica's event loop.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Work]], Sequence[list[Any]]],
        budget: int,
        wait: float,
        size: int,
        observe: Callable[[int, int, list[float]], None],
    ) -> None:
        from ray import serve

        self._size = size
        self._budget = budget
        self._under_way = 0
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="adjudge-work")

        def carry_out(items: list[_Item]) -> list[list[Any] | Exception]:
            try:
                return list(work([item.work for item in items]))
            except Exception as error:
                if len(items) == 1:
                    return [error]
                return [result for item in items for result in carry_out([item])]

        async def answer(items: list[_Item]) -> list[list[Any] | Exception]:
            observe(len(items), sum(item.cost for item in items), [])
            return await self._loop.run_in_executor(self._thread, carry_out, items)

        self._answer = serve.batch(
            max_batch_size=budget,
            batch_wait_timeout_s=wait,
            batch_size_fn=lambda items: sum(item.cost for item in items),
        )(answer)

    def __len__(self) -> int:
        return self._under_way

    @property
    def is_full(self) -> bool:
        """Whether :meth:`submit` would refuse an item now."""
        return self._under_way >= self._size

    def submit(self, item: Work, cost: int = 1, always: bool = False) -> Future[list[Any]]:
        """Queue an item, from any thread."""
        if self._closing:
            raise QueueClosed("The replica is stopping.")
        if self.is_full and not always:
            raise QueueFull(f"{self._under_way} requests are under way already. Try again in a moment.")
        self._under_way += 1
        future = asyncio.run_coroutine_threadsafe(self._ask(item, min(cost, self._budget)), self._loop)
        return future

    def close(self, timeout: float | None = None) -> None:
        """Take no more, and finish what is under way."""
        self._closing = True
        self._thread.shutdown(wait=True)

    async def _ask(self, item: Work, cost: int) -> list[Any]:
        try:
            result: list[Any] | Exception = await self._answer(_Item(item, max(cost, 1)))
        finally:
            self._under_way -= 1
        if isinstance(result, Exception):
            raise result
        return result


def application(
    settings: ServerSettings, access: Access, replicas: int = 2, resources: WorkerResources | None = None
) -> Any:
    """The application, for ``serve.run`` or a Serve configuration file.

    Args:
        settings: of each replica; corpora and data folder must be where all nodes see them.
        access: who may ask; the same for all replicas.
        replicas: how many there are.
        resources: what each takes of a node.
    """
    try:
        from ray import serve
    except ImportError:
        raise MissingExtra("Serving on a cluster needs Ray", "ray") from None
    resources = resources or WorkerResources()
    cpus = resources.cpus

    def build() -> Any:
        import torch

        from adjudge.serving.server.app import create_app

        torch.set_num_threads(cpus)
        return create_app(settings, access=access, make_queue=ServeQueue, wait=True)

    class Replica:
        """A process with a model of its own; Ray starts another one where it dies."""

    deployment = serve.deployment(
        name=NAME,
        num_replicas=replicas,
        max_ongoing_requests=settings.queue_size,
        max_queued_requests=settings.queue_size * replicas,
        health_check_period_s=HEALTH_SECONDS,
        graceful_shutdown_timeout_s=STOP_SECONDS,
        ray_actor_options={"num_cpus": resources.cpus, "num_gpus": resources.gpus},
    )(serve.ingress(build)(Replica))
    return deployment.bind()


@contextmanager
def serve_on(
    address: str,
    settings: ServerSettings,
    replicas: int = 2,
    resources: WorkerResources | None = None,
) -> Iterator[Access]:
    """Serve on a cluster for as long as the block lasts; gives who may ask.

    Raises:
        ConfigError: the cluster cannot be joined, has no room, or lacks files or packages.
    """
    access = Access.of(settings)
    resources = resources or WorkerResources()
    with connect(address):
        from ray import serve
        from ray.serve.config import HTTPOptions

        room = check_nodes(inspect_node([path.absolute() for path in settings.corpora]), resources)
        if room < replicas:
            raise ConfigError(
                f"{replicas} replicas: the cluster has room for {room}. Ask for fewer, or add nodes."
            )
        paths = tuple(path.absolute() for path in settings.corpora)
        settings = settings.model_copy(update={"corpora": paths})
        serve.start(
            proxy_location="HeadOnly", http_options=HTTPOptions(host=settings.host, port=settings.port)
        )
        try:
            serve.run(application(settings, access, replicas, resources), name=NAME, route_prefix="/")
            yield access
        finally:
            with contextlib.suppress(Exception):  # the cluster may be gone already
                serve.shutdown()
