"""Ray clusters of one machine for tests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SMALL = {"object_store_memory": 80 << 20}


@contextmanager
def small_cluster(nodes: int) -> Iterator[Any]:
    """A head that takes no work, and nodes of one CPU each; all processes are gone afterwards."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    from ray.cluster_utils import Cluster

    # A killed node refuses connections at once; one that is merely slow has ten seconds for each answer.
    health = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500}
    head = {**SMALL, "num_cpus": 0, "include_dashboard": False, "_system_config": health}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(nodes):
            cluster.add_node(num_cpus=1, **SMALL)
        yield cluster
    finally:
        cluster.shutdown()


def parent_of(process: int) -> int:
    """The process that started another."""
    (parent,) = re.findall(r"^PPid:\t(\d+)$", Path(f"/proc/{process}/status").read_text(), re.M)
    return int(parent)


def raylet_of(node: Any) -> int:
    """The process that starts a node's workers."""
    return int(node.all_processes["raylet"][0].process.pid)


def workers_named(cluster: Any, name: str) -> list[int]:
    """The processes of a cluster that work on something of this name."""
    raylets = {raylet_of(node) for node in cluster.list_all_nodes()}
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            title = (entry / "cmdline").read_text()
            if title.startswith("ray::") and name in title and parent_of(int(entry.name)) in raylets:
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
            continue
    return found
