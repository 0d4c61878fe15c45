"""Many claims in one request: JSON lines in, JSON lines out, in order, a bounded number under way."""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable, Iterator
from contextlib import aclosing
from typing import IO, Any, TypeVar

import msgspec
from pydantic import ValidationError
from starlette.requests import Request

from adjudge.config import problems_in
from adjudge.errors import AdjudgeError
from adjudge.io.jsonl import BAD_JSON
from adjudge.serving.server.engine import Engine
from adjudge.serving.server.faults import Fault, Overloaded, TooLarge, WrongType, fault_record, status_of
from adjudge.serving.server.records import public_verdict
from adjudge.serving.server.schemas import BatchLine
from adjudge.types import ClaimId, Evidence

Value = TypeVar("Value")
UNDER_WAY = 64
"""Claims of one batch that are in the queue at the same time; half of it at most."""
IN_MEMORY = 1 << 20
RETRY_SECONDS = 0.02


async def spool(request: Request, engine: Engine, content_type: str) -> IO[bytes]:
    """The whole body of a request: a client that sends before it reads would wait for ever otherwise."""
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent not in (content_type, "application/jsonl", "application/json-lines", "text/plain"):
        raise WrongType(f"Content-Type {sent or 'none'}: expected {content_type}.")
    engine.verifier  # noqa: B018  # raises while it is being loaded
    body = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
    lines = 0
    try:
        async for chunk in request.stream():
            body.write(chunk)
            lines += chunk.count(b"\n")
            if lines > engine.settings.max_batch:
                raise TooLarge(
                    f"More than {engine.settings.max_batch:,} lines; send the rest in another batch."
                )
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body


async def answer_lines(body: IO[bytes], engine: Engine, corpus: str | None) -> AsyncIterator[bytes]:
    """A line for each line of the body, in order."""
    most = max(1, min(UNDER_WAY, engine.settings.queue_size // 2))
    with body:
        answers = (_answer(number, line, engine, corpus) for number, line in _lines(body))
        async with aclosing(results_in_order(answers, most)) as results:
            async for result in results:
                yield result


async def results_in_order(
    coroutines: Iterable[Coroutine[Any, Any, Value]], most: int
) -> AsyncGenerator[Value, None]:
    """What coroutines give, in their order, at most ``most`` of them under way; who stops early cancels the others."""
    tasks: deque[asyncio.Task[Value]] = deque()
    try:
        for coroutine in coroutines:
            tasks.append(asyncio.create_task(coroutine))
            if len(tasks) >= most:
                yield await tasks.popleft()
        while tasks:
            yield await tasks.popleft()
    finally:
        for task in tasks:
            task.cancel()


def _lines(body: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(body, start=1):
        if line.strip():
            yield number, line


async def _answer(number: int, line: bytes, engine: Engine, corpus: str | None) -> bytes:
    claim_id: ClaimId | None = None
    try:
        values = _decode(line)
        claim_id = values.get("id") if isinstance(values.get("id"), (int, str)) else None
        record = _parse(values)
        claim_id = number if claim_id is None else claim_id
        while True:
            try:
                value = await _verdict(record, claim_id, engine, corpus)
                break
            except Overloaded:  # single claims come first; this one waits its turn
                await asyncio.sleep(RETRY_SECONDS)
    except AdjudgeError as error:
        _, code, _ = status_of(error)
        value = {"line": number, "id": claim_id, **fault_record(code, str(error))}
    return msgspec.json.encode(value) + b"\n"


async def _verdict(
    record: BatchLine, claim_id: ClaimId, engine: Engine, corpus: str | None
) -> dict[str, Any]:
    if record.evidence is not None:
        evidence = [Evidence(item) if isinstance(item, str) else item.record() for item in record.evidence]
        return public_verdict(await engine.classify(record.claim, evidence, claim_id), None)
    name = record.corpus or corpus
    return public_verdict(await engine.verify(record.claim, name, claim_id), engine.library.get(name))


def _decode(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except BAD_JSON as error:
        raise Fault(f"not a JSON object ({error}).") from None


def _parse(values: dict[str, Any]) -> BatchLine:
    try:
        return BatchLine.model_validate(values)
    except ValidationError as error:
        raise Fault("; ".join(problems_in(error)) + ".") from None
