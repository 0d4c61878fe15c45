"""A line of JSON for each request, on standard error; texts only where they were asked for."""

from __future__ import annotations

import logging
import sys
import time
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adjudge.serving.server.metrics import Metrics

LOGGER = "adjudge.server"
MAX_BODY = 4096
"""Bytes of a request that are logged where texts are."""


class JsonLines(logging.Formatter):
    """A log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, message, and what else the record carries under ``fields``."""
        values: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            values["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(values, enc_hook=str).decode()


def set_up_logs() -> None:
    """Have the server, uvicorn and other libraries write JSON lines on standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.getLogger().handlers = [handler]
    for name in (LOGGER, "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(logging.INFO if name == LOGGER else logging.WARNING)


class RequestLog:
    """ASGI middleware that logs and times every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log_texts: bool) -> None:
        self.app = app
        self.metrics = metrics
        self.log_texts = log_texts
        self.logger = logging.getLogger(LOGGER)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and write about it when it is answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, size = time.perf_counter(), 0, 0

        async def watch(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        body = bytearray()

        async def read(wanted: int = MAX_BODY) -> Message:
            message = await receive()
            body.extend(message.get("body", b"")[: wanted - len(body)])
            return message

        failure: BaseException | None = None
        try:
            await self.app(scope, read if self.log_texts else receive, watch)
        except BaseException as error:
            failure = error
            raise
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.requests.labels(route, scope["method"], str(status or 499)).observe(seconds)
            fields: dict[str, Any] = {
                "method": scope["method"],
                "route": route,
                "status": status,
                "seconds": round(seconds, 6),
                "bytes": size,
                "client": (scope.get("client") or ("",))[0],
            }
            if self.log_texts:
                fields["path"] = scope["path"]
                fields["query"] = scope["query_string"].decode("latin-1")
                fields["body"] = body.decode("utf-8", "replace")
            if failure is not None:
                fields["failure"] = type(failure).__name__
            level = logging.ERROR if status >= 500 and status != 503 else logging.INFO
            self.logger.log(level, "request", extra={"fields": fields})
