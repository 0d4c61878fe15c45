"""What can go wrong with a request, as status and code; every error has one shape."""

from __future__ import annotations

from typing import Any

from adjudge.errors import AdjudgeError


class Fault(AdjudgeError):
    """A request that cannot be answered; ``status`` is HTTP's, ``code`` is for programs."""

    status = 422
    code = "invalid"
    retry_after: int | None = None


class NotReady(Fault):
    """The model or the corpus is still being loaded."""

    status, code, retry_after = 503, "loading", 2


class Stopping(Fault):
    """The server takes no more requests."""

    status, code, retry_after = 503, "stopping", 5


class Overloaded(Fault):
    """The queue is full."""

    status, code, retry_after = 429, "overloaded", 1


class TimedOut(Fault):
    """The answer took too long."""

    status, code = 504, "timeout"


class NotFound(Fault):
    """No such corpus or document."""

    status, code = 404, "not_found"


class Conflict(Fault):
    """The name is taken, or the corpus cannot be changed."""

    status, code = 409, "conflict"


class TooLarge(Fault):
    """More than a limit of the server."""

    status, code = 413, "too_large"


class NoRoom(Fault):
    """The server's disk is full."""

    status, code = 507, "no_room"


class WrongType(Fault):
    """Another content type than the one expected."""

    status, code = 415, "unsupported_media_type"


class Failed(Fault):
    """What the server cannot do through no fault of the request."""

    status, code = 500, "internal"


def fault_record(code: str, message: str) -> dict[str, Any]:
    """An error as JSON shows it."""
    return {"error": {"code": code, "message": message}}


def status_of(error: AdjudgeError) -> tuple[int, str, int | None]:
    """(status, code, seconds to wait) of any error of the library; those without an own status are the caller's."""
    if isinstance(error, Fault):
        return error.status, error.code, error.retry_after
    return Fault.status, Fault.code, None
