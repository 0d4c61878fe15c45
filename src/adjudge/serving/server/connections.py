"""Connections whose requests do not come: uvicorn bounds neither the time nor, with httptools, the size of headers."""

from __future__ import annotations

import asyncio
from typing import Any, cast

MAX_HEADERS = 64 << 10
"""Bytes of a request line with its headers."""
_REFUSAL = b"HTTP/1.1 %s\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Connection(asyncio.Protocol):
    """uvicorn's protocol, for clients that send a request's headers in time and within bounds; others are hung up.

    Args:
        inner: uvicorn's; its ``cycle`` is the last request whose headers are complete.
        seconds: for the headers, from the connection or their first byte on; also for the rest of a body after its
            request was answered.
    """

    def __init__(self, inner: Any, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._transport: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self._transport = transport
        self._inner.connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Pass data on; what does not complete the headers of a request is counted."""
        before = self._inner.cycle
        self._inner.data_received(data)
        if self._inner.cycle is not before:  # a request: from here on the application minds the time
            self._stop_waiting()
        if not self._is_idle:
            return
        if self._timer is None:
            self._wait()
        if before is self._inner.cycle and not getattr(before, "more_body", False):
            self._bytes += len(data)
            if self._bytes > MAX_HEADERS:
                self._hang_up(b"431 Request Header Fields Too Large")

    def eof_received(self) -> bool | None:
        """Pass it on."""
        result: bool | None = self._inner.eof_received()
        return result

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass it on."""
        self._stop_waiting()
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass it on."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._inner.resume_writing()

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle = self._inner.cycle
        return cycle is None or bool(cycle.response_complete)

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._seconds, self._out_of_time, self._inner.cycle)

    def _stop_waiting(self) -> None:
        self._bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _out_of_time(self, cycle: object) -> None:
        self._timer = None
        if cycle is self._inner.cycle and self._is_idle:
            self._hang_up(b"408 Request Timeout")

    def _hang_up(self, status: bytes) -> None:
        if self._transport.is_closing():
            return
        if self._bytes:  # of a request without an answer
            self._transport.write(_REFUSAL % status)
        self._stop_waiting()
        self._transport.close()


def bounded_connections(seconds: float) -> type[asyncio.Protocol]:
    """What uvicorn makes its connections of."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    def connect(**settings: Any) -> Connection:
        return Connection(AutoHTTPProtocol(**settings), seconds)

    return cast(type[asyncio.Protocol], connect)
