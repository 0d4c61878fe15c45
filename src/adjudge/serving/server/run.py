"""A server in this process: uvicorn, until it is interrupted or terminated."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable, Sequence

import uvicorn

from adjudge.errors import ConfigError
from adjudge.serving.server.app import Part, create_app
from adjudge.serving.server.connections import bounded_connections
from adjudge.serving.server.logs import set_up_logs
from adjudge.serving.server.security import TOKEN_PARAMETER, Access
from adjudge.serving.server.settings import ServerSettings

STOP_SECONDS = 30
CONNECTIONS = 1024
"""Connections at the same time; further ones get 503."""


def serve(settings: ServerSettings, announce: Callable[[str], None], parts: Sequence[Part] = ()) -> None:
    """Serve until interrupted; what is under way is finished then.

    Args:
        settings: of the server.
        announce: gets the address to open, once the server listens.
        parts: what other rooms add to the application.
    """
    set_up_logs()
    access = Access.of(settings)
    listener = _listen(settings.host, settings.port)
    app = create_app(settings, access=access, parts=parts)
    config = uvicorn.Config(
        app,
        http=bounded_connections(settings.read_timeout),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_keep_alive=15,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=32 << 10,
    )
    announce(link(settings.host, listener.getsockname()[1], access))
    with contextlib.suppress(KeyboardInterrupt), listener:
        server = uvicorn.Server(config)

        def stop() -> None:
            server.should_exit = True

        app.state.engine.on_failure = stop
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # uvicorn passes it on when it has stopped
        try:
            server.run(sockets=[listener])
        finally:
            signal.signal(signal.SIGTERM, before)
    if app.state.engine.problem is not None:
        raise ConfigError(app.state.engine.problem)


def link(host: str, port: int, access: Access) -> str:
    """The address to open in a browser, with the token where one is needed."""
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    name = f"[{name}]" if ":" in name else name
    query = f"?{TOKEN_PARAMETER}={access.token}" if access.token else ""
    return f"http://{name}:{port}/{query}"


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens, so that a port that is taken is said before anything is loaded."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise ConfigError(
            f"{host}:{port}: cannot listen there ({error.strerror or error}). Choose another --host or --port."
        ) from None
