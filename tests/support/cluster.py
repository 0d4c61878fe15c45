"""Ray clusters of one machine for tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
