"""Two replicas answer as the verifier does, and nothing is lost when one of them is killed under load."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge import AsyncClient, Client, Verifier
from adjudge.cluster.connection import OBJECT_STORE
from adjudge.cluster.serve import NAME, serve_on
from adjudge.errors import ConfigError
from adjudge.serving.server.settings import ServerSettings
from cluster import parent_of

ray = pytest.importorskip("ray")
pytest.importorskip("ray.serve")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Ray's own
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
CLAIMS = [
    "The Elbe flows through Dresden.",
    "The Rhine flows through Dresden.",
    "Barges carry coal.",
    "Zyzzyva.",
]
REQUESTS = 300


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster of one node with room for two replicas, connected."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # replicas wait no longer than the test does
        patch.setenv("RAY_raylet_start_wait_time_s", "120")
        ray.init(
            "local",
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE,
            log_to_driver=False,
        )
        yield "local"
        ray.shutdown()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def settings_for(verifier: Verifier, documents, tmp_path, **more: Any) -> ServerSettings:
    values = {"verifier": verifier.settings, "corpora": (documents,), "data_dir": tmp_path / "data"}
    return ServerSettings(**values, port=free_port(), **more)


def test_a_replica_killed_under_load_loses_nothing(cluster, river_verifier, river_documents, tmp_path):
    expected = {claim: river_verifier.verify(claim, river_documents) for claim in CLAIMS}
    settings = settings_for(river_verifier, river_documents, tmp_path)
    address = f"http://127.0.0.1:{settings.port}"
    with serve_on(cluster, settings, replicas=2):
        before = replicas()
        assert len(before) == 2

        async def load() -> list[Any]:
            async with AsyncClient(address, retries=20) as client:
                gate = asyncio.Semaphore(16)

                async def ask(number: int) -> Any:
                    async with gate:
                        if number == REQUESTS // 3:
                            os.kill(before[0], signal.SIGKILL)
                        return await client.verify(CLAIMS[number % len(CLAIMS)])

                return await asyncio.gather(*(ask(n) for n in range(REQUESTS)))

        verdicts = asyncio.run(load())
        assert len(verdicts) == REQUESTS
        for number, verdict in enumerate(verdicts):
            other = expected[CLAIMS[number % len(CLAIMS)]]
            assert verdict.label == other.label
            assert verdict.probabilities == pytest.approx(other.probabilities, abs=1e-4)
        deadline = time.monotonic() + 180
        while len(after := replicas()) < 2 and time.monotonic() < deadline:  # Ray starts another one
            time.sleep(0.2)
        assert len(after) == 2 and before[0] not in after
        with Client(address) as client:
            text = "The Elbe flows through Dresden. Barges carry coal."
            states = [sentence.state for sentence in client.check_sentences(text)]
            assert states == [s.state for s in river_verifier.check(text, river_documents).sentences]
            assert [v.id for v in client.verify_many(CLAIMS)] == [0, 1, 2, 3]


def replicas() -> list[int]:
    """The processes of the replicas of this test's cluster."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            title = (entry / "cmdline").read_text()
            if (
                title.startswith(f"ray::ServeReplica:{NAME}")
                and parent_of(parent_of(int(entry.name))) == os.getpid()
            ):
                found.append(int(entry.name))
        except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
            continue
    return found


def test_more_replicas_than_there_is_room_for_are_refused(cluster, river_verifier, river_documents, tmp_path):
    settings = settings_for(river_verifier, river_documents, tmp_path)
    with pytest.raises(ConfigError, match="3 replicas: the cluster has room for 2"):
        with serve_on(cluster, settings, replicas=3):
            pass
