"""Clients that send the headers of a request slowly, without end, or not at all; uvicorn itself would wait for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
import uvicorn

from adjudge.serving.server.connections import MAX_HEADERS, bounded_connections

SECONDS = 0.4
ANSWER_SECONDS = 1.0
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]


async def answer(scope, receive, send) -> None:
    """An application that takes longer to answer /slow than a client has for its headers; it reads no bodies."""
    if scope["path"] == "/slow":
        await asyncio.sleep(ANSWER_SECONDS)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def ask(client: Client) -> tuple[bytes, float]:
    """What a client gets of a server, and after how many seconds."""

    async def run() -> tuple[bytes, float]:
        config = uvicorn.Config(answer, http=bounded_connections(SECONDS), log_config=None, lifespan="off")
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        address = server.servers[0].sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(*address[:2])
        began = time.monotonic()
        try:
            return await asyncio.wait_for(client(reader, writer), 30), time.monotonic() - began
        finally:
            writer.close()
            server.should_exit = True
            await server.shutdown()

    return asyncio.run(run())


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    return await reader.read()


async def trickling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    async def trickle() -> None:
        for byte in b"GET / HTTP/1.1\r\nX: " + b"a" * 300:  # 30 seconds, if it were let
            writer.write(bytes([byte]))
            await asyncio.sleep(0.1)

    trickler = asyncio.create_task(trickle())
    try:
        return await reader.read()
    except ConnectionError:  # what was written after the end
        return b"HTTP/1.1 408, or so"
    finally:
        trickler.cancel()


async def after_an_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(REQUEST)
    assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
    writer.write(b"GET / HT")
    return await reader.read()


async def body_that_stops(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc")
    assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
    writer.write(b"def")
    return await reader.read()


async def large(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(b"GET / HTTP/1.1\r\n")
    for number in range(2 * MAX_HEADERS // 1000):
        writer.write(b"X-%d: " % number + b"a" * 1000 + b"\r\n")
        await asyncio.sleep(0)
    try:
        return await reader.read()
    except ConnectionError:
        return b"HTTP/1.1 431, or so"


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (silent, b""),
        (trickling, b"HTTP/1.1 408"),
        (after_an_answer, b"HTTP/1.1 408"),
        (body_that_stops, b""),
    ],
)
def test_a_client_that_says_no_more_is_hung_up(client: Client, expected: bytes) -> None:
    content, seconds = ask(client)
    assert content.startswith(expected) and bool(content) == bool(expected)
    assert SECONDS * 0.9 < seconds < 20


def test_endless_headers_end_with_the_connection() -> None:
    content, _ = ask(large)
    assert content.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))  # the latter where h11 reads them


def test_an_answer_may_take_longer_than_headers() -> None:
    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(REQUEST.replace(b"/ ", b"/slow ", 1))
        first = await reader.readuntil(b"ok")
        writer.write(REQUEST)
        return first + await reader.readuntil(b"ok")

    content, seconds = ask(client)
    assert content.count(b"HTTP/1.1 200") == 2 and seconds > ANSWER_SECONDS * 0.9
