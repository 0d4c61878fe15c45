"""Servers for tests: on a tiny random model, asked without a socket; or on a real port."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

HEADERS = {"content-type": "application/json"}
START_SECONDS = 300.0
"""How long a server may take to start: a model is loaded and documents are indexed, on a machine with other work."""
RIVERS = {
    "elbe.txt": "The Elbe flows through Dresden. It is 1,094 kilometres long. The Elbe ends in the North Sea.",
    "rhine.txt": "The Rhine flows through Cologne. The Rhine rises in Switzerland. Barges carry coal on it.",
}


def write_rivers(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, text in RIVERS.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="session")
def river_documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rivers(tmp_path_factory.mktemp("server") / "rivers")


@pytest.fixture(scope="session")
def river_verifier(untrained_run: Path) -> Any:
    """A verifier that is quick: random weights, search by words."""
    from adjudge import Verifier

    return Verifier.load(untrained_run, selector="lexical", k=3, candidates=6)


def wait_until(condition: Any, seconds: float = 30.0) -> None:
    """Wait for what another thread does; fail after a while."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


@contextmanager
def asked(
    verifier: Any, *corpora: Path, data_dir: Path, access: Any = None, **settings: Any
) -> Iterator[Any]:
    """A client of a server that runs in this process, once it is ready."""
    from starlette.testclient import TestClient

    from adjudge.serving.server.app import create_app
    from adjudge.serving.server.settings import ServerSettings

    values = {
        "verifier": verifier.settings,
        "corpora": corpora,
        "data_dir": data_dir,
        "refresh": 0.05,
        **settings,
    }
    app = create_app(ServerSettings(**values), verifier, access)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        wait_until(lambda: app.state.engine.is_ready, START_SECONDS)
        yield client


@contextmanager
def listening(
    verifier: Any, *corpora: Path, data_dir: Path, parts: Any = (), **settings: Any
) -> Iterator[tuple[str, Any]]:
    """(address, application) of a server on a free port of this machine."""
    import uvicorn

    from adjudge.serving.server.app import create_app
    from adjudge.serving.server.settings import ServerSettings

    values = {
        "verifier": verifier.settings,
        "corpora": corpora,
        "data_dir": data_dir,
        "refresh": 0.05,
        **settings,
    }
    app = create_app(ServerSettings(**values), verifier, parts=parts)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started and app.state.engine.is_ready, START_SECONDS)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", app
    finally:
        server.should_exit = True
        thread.join(timeout=30)
