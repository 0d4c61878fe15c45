"""The application: routes, middleware, and the engine's life."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from adjudge import __version__
from adjudge.errors import AdjudgeError
from adjudge.serving.server import api, experiments, libraries, reference
from adjudge.serving.server.engine import Engine, MakeQueue
from adjudge.serving.server.faults import Failed, fault_record, status_of
from adjudge.serving.server.logs import RequestLog
from adjudge.serving.server.records import json_response
from adjudge.serving.server.schemas import NOT_BLANK
from adjudge.serving.server.security import Access, Guard
from adjudge.serving.server.settings import ServerSettings
from adjudge.serving.server.work import WorkQueue

if TYPE_CHECKING:
    from adjudge.serving.verifier import Verifier

PAGE = "adjudge.serving.page"
"""A package with ``router``, the routes of the page; its folder ``static`` is served at ``/static``."""
Part = Callable[[FastAPI, Engine], AbstractAsyncContextManager[None]]
"""What another room adds to the application: it adds its routes, and gives what is open as long as the server runs."""
_CODES = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
}
FASTAPI_UNREADABLE = "There was an error parsing the body"
_UNREADABLE = (
    "The body cannot be read: expected JSON in UTF-8, not nested deeply, with numbers of ordinary length."
)
_SILENCE = TelemetryConfig(
    tracing=False, metrics=False, logs=False, operation_spans=False, auto_configure=False
)
"""FastAPI's own telemetry stays off, whatever the environment says."""


def create_app(
    settings: ServerSettings | None = None,
    verifier: Verifier | None = None,
    access: Access | None = None,
    make_queue: MakeQueue = WorkQueue,
    wait: bool = False,
    parts: Sequence[Part] = (),
) -> FastAPI:
    """The application of a server.

    ``app.state.engine`` is its :class:`Engine`, ``app.state.settings`` its settings, ``app.state.access`` its rules.

    Args:
        settings: of the server.
        verifier: to use instead of the one that the settings make.
        access: who may ask, instead of what follows from the settings.
        make_queue: gives the engine's queue.
        wait: whether it starts to answer only when model and corpora are loaded.
        parts: what other rooms add, such as MCP.
    """
    settings = settings or ServerSettings()
    engine = Engine(settings, verifier, make_queue)
    access = access or Access.of(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine.start()
        if wait:
            await anyio.to_thread.run_sync(engine.wait_until_ready)
        async with AsyncExitStack() as stack:
            for part in opened_parts:
                await stack.enter_async_context(part)
            yield
        await anyio.to_thread.run_sync(engine.close)

    app = FastAPI(
        title="adjudge",
        version=__version__,
        summary="Fact verification: find the evidence, weigh it, decide.",
        docs_url=None,  # they load scripts from elsewhere; see adjudge.serving.server.reference
        redoc_url=None,
        telemetry=_SILENCE,
        openapi_url="/openapi.json",
        lifespan=lifespan,
    )
    app.state.engine, app.state.settings, app.state.access = engine, settings, access
    app.include_router(api.router)
    app.include_router(libraries.router)
    app.include_router(experiments.router)
    app.include_router(reference.router)
    _add_probes(app, engine)
    _add_page(app)
    opened_parts = [part(app, engine) for part in parts]
    _add_handlers(app)
    app.add_middleware(Guard, access=access, settings=settings)
    app.add_middleware(RequestLog, metrics=engine.metrics, log_texts=settings.log_texts)
    return app


def _add_page(app: FastAPI) -> None:
    """The page and its static files, where the package has them."""
    if importlib.util.find_spec(PAGE) is None:
        return
    app.include_router(import_module(PAGE).router)
    static = resources.files(PAGE) / "static"
    app.mount("/static", StaticFiles(directory=str(static)), name="static")


def _add_probes(app: FastAPI, engine: Engine) -> None:
    @app.get("/healthz", tags=["server"], summary="Whether the process lives")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get(
        "/readyz", tags=["server"], summary="Whether model and corpora are loaded", responses=api.errors()
    )
    async def readiness() -> Response:
        if engine.is_ready:
            return json_response({"status": "ready"})
        message = engine.problem or "The model or a corpus is being loaded."
        response = json_response(fault_record("loading", message), 503)
        response.headers["retry-after"] = "1"
        return response

    @app.get("/metrics", tags=["server"], summary="Metrics for Prometheus", response_class=Response)
    async def metrics() -> Response:
        return Response(engine.metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _problem(problem: Any) -> tuple[str, str]:
    """Where pydantic found what, in the names of fields; those of its own types say nothing to a client."""
    context = problem.get("ctx", {})
    if problem["type"] == "json_invalid":
        return "body", f"is not JSON, at character {problem['loc'][-1] + 1} ({context.get('error', '')})"
    names = [str(part) for part in problem["loc"]]
    fields = [n for n in names if n.isdecimal() or (n.isidentifier() and n.islower())]
    location = ".".join(n for n in fields if n not in ("body", "int", "str"))
    return location or "body", "is empty" if context.get("pattern") == NOT_BLANK else problem["msg"]


def _add_handlers(app: FastAPI) -> None:
    """Every error in one shape."""

    @app.exception_handler(AdjudgeError)
    async def fault(request: Request, error: AdjudgeError) -> Response:
        status, code, retry_after = status_of(error)
        response = json_response(fault_record(code, str(error)), status)
        if retry_after is not None:
            response.headers["retry-after"] = str(retry_after)
        return response

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        problems: dict[str, list[str]] = {}
        for problem in error.errors():
            location, message = _problem(problem)
            problems.setdefault(location, []).append(message)
        lines = [f"{location}: {' or '.join(messages)}" for location, messages in problems.items()]
        return json_response(fault_record("invalid", "; ".join(lines[:10]) + "."), 422)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        detail = _UNREADABLE if error.detail == FASTAPI_UNREADABLE else str(error.detail)
        record = fault_record(_CODES.get(error.status_code, "refused"), detail)
        response = json_response(record, error.status_code)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def failure(request: Request, error: Exception) -> Response:
        return json_response(fault_record(Failed.code, "The server failed; its log says how."), Failed.status)
