"""A server of the application in a thread of this process, on a free port, for tests that need a real address."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

START_SECONDS = 120.0


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The address of the application, ready, for as long as the block lasts."""
    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=5))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        _wait_until_ready(address)
        yield address
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()


def _wait_until_ready(address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with urlopen(f"{address}/readyz", timeout=5):
                return
        except (URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
