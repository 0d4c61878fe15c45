"""A Ray cluster by its address, and whether its nodes can do the work: same versions, same files."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.errors import AdjudgeError, ConfigError, MissingExtra

PACKAGES = ("adjudge", "torch", "transformers")
"""What decides a result, and must be the same on every node."""

KNOCK_SECONDS = 10.0
ANSWER_SECONDS = 120.0
OBJECT_STORE = 80 << 20
"""Bytes for a cluster of our own: runs and claims travel as files."""


class WorkerResources(NamedTuple):
    """What one piece of work takes of a node."""

    cpus: int = 1
    gpus: float = 0.0

    @property
    def device(self) -> str:
        """Where it computes."""
        return "cuda" if self.gpus else "cpu"

    def fits(self, resources: dict[str, float]) -> int:
        """How many pieces a node with these resources does at once."""
        by_cpu = resources.get("CPU", 0.0) // self.cpus
        return int(min(by_cpu, resources.get("GPU", 0.0) // self.gpus) if self.gpus else by_cpu)


class NodeState(NamedTuple):
    """What a node has: versions of :data:`PACKAGES`, and sizes of paths (-1 for a folder); None for absent."""

    node: str
    versions: dict[str, str | None]
    sizes: dict[str, int | None]


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """The ``ray`` module, connected to ``auto``, ``local``, ``host:port`` or ``ray://host:port``.

    ``local`` starts a cluster on this machine that ends with the block. A connection that the caller already
    has is used as it is.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtra("Working on a cluster needs Ray", "ray") from None
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray's only way of not reporting its use
    local_options = (
        {"include_dashboard": False, "object_store_memory": OBJECT_STORE} if address == "local" else {}
    )
    try:
        _check_reachable(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **local_options)
    except Exception as error:  # Ray raises all kinds, Exception itself among them
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ConfigError(
            f"--ray {address}: no Ray cluster could be joined ({first}).\nExpected local, auto (on a node of a "
            "running cluster), HOST:PORT of its head, or ray://HOST:10001 from outside it."
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise where nothing answers; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_SECONDS).close()


@contextmanager
def shared_marker(folder: Path) -> Iterator[Path]:
    """A file that only those who share the folder see, while the block lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder.absolute() / f".shared-{uuid.uuid4().hex}"
    mark.touch()
    try:
        yield mark
    finally:
        mark.unlink(missing_ok=True)


def inspect_node(paths: Iterable[Path]) -> NodeState:
    """What this machine has, to be compared with what the nodes have."""
    return NodeState(*_inspector()(PACKAGES, [str(path) for path in paths]))


def check_node(expected: NodeState) -> None:
    """Refuse to work on a node that lacks something; one may have joined after :func:`check_nodes`."""
    here = NodeState(*_inspector()(tuple(expected.versions), list(expected.sizes)))
    problems = _problems(expected, here)
    if problems:
        raise _refusal(problems)


def check_nodes(expected: NodeState, resources: WorkerResources) -> int:
    """Ask every node that has the resources of a worker whether it has what is needed.

    Returns:
        How many workers the cluster has room for.

    Raises:
        ConfigError: with everything that is wrong on any of them.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"]]
    able = [node for node in nodes if resources.fits(node["Resources"])]
    if not able:
        raise ConfigError(_describe_no_room(resources, nodes))
    task = ray.remote(num_cpus=0, max_retries=0)(_inspector())
    asked = {}
    for node in able:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        asked[
            task.options(scheduling_strategy=there).remote(tuple(expected.versions), list(expected.sizes))
        ] = node
    answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=ANSWER_SECONDS)
    problems = []
    for answer in answered:
        try:
            problems += _problems(expected, NodeState(*ray.get(answer)))
        except ray.exceptions.RayError:  # lost since it was listed: nothing will be placed there
            continue
    for answer in silent:
        problems.append(
            f"Node {asked[answer]['NodeManagerHostname']} gave no answer in {ANSWER_SECONDS:.0f} s."
        )
    if problems:
        raise _refusal(problems)
    return sum(resources.fits(node["Resources"]) for node in able)


def _inspector() -> Callable[[tuple[str, ...], list[str]], tuple[str, dict[str, Any], dict[str, Any]]]:
    """A function within a function is sent whole, so that a node without adjudge can also answer."""

    def inspect(packages: tuple[str, ...], paths: list[str]) -> tuple[str, dict[str, Any], dict[str, Any]]:
        import importlib.metadata
        import os
        import socket

        versions: dict[str, str | None] = dict.fromkeys(packages)
        for name in packages:
            try:  # what follows a + tells builds apart, such as those for a CPU and a GPU
                versions[name] = importlib.metadata.version(name).partition("+")[0]
            except importlib.metadata.PackageNotFoundError:
                continue
        sizes: dict[str, int | None] = dict.fromkeys(paths)
        for path in paths:
            if os.path.isdir(path):
                sizes[path] = -1
            elif os.path.isfile(path):
                sizes[path] = os.path.getsize(path)
        return socket.gethostname(), versions, sizes

    return inspect


def _problems(expected: NodeState, state: NodeState) -> list[str]:
    problems = []
    for name, version in expected.versions.items():
        there = state.versions.get(name)
        if there != version:
            has = "does not have" if there is None else f"has {there} of"
            problems.append(
                f"Node {state.node} {has} {name}, of which {version} is here. Install that there."
            )
    for path, size in expected.sizes.items():
        there_size = state.sizes.get(path)
        if there_size != size:
            sees = "does not see" if there_size is None else "sees something else as"
            problems.append(
                f"Node {state.node} {sees} {path}. Put it on storage that all nodes mount under the same name."
            )
    return problems


def _describe_no_room(resources: WorkerResources, nodes: list[dict[str, Any]]) -> str:
    there = [
        f"{node['NodeManagerHostname']}: {node['Resources'].get('CPU', 0):g} CPUs, "
        f"{node['Resources'].get('GPU', 0):g} GPUs"
        for node in nodes
    ]
    return (
        f"No node of the cluster has {resources.cpus} CPUs and {resources.gpus:g} GPUs; there are {'; '.join(there)}.\n"
        "Ask for less, or start such a node; where nodes come on demand, keep at least one running."
    )


def _refusal(problems: list[str]) -> AdjudgeError:
    return ConfigError("The cluster cannot do this work.\n" + "\n".join(f"  {line}" for line in problems))
