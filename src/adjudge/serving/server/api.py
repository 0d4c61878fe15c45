"""The routes of the API below ``/v1``: claims, texts and searches. Corpora have routes of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from adjudge.errors import AdjudgeError
from adjudge.serving.server.batches import answer_lines, spool
from adjudge.serving.server.engine import Engine
from adjudge.serving.server.faults import fault_record, status_of
from adjudge.serving.server.records import json_response, public_evidence, public_sentence, public_verdict
from adjudge.serving.server.schemas import (
    CheckRecord,
    CheckRequest,
    ClassifyRequest,
    ErrorRecord,
    GivenEvidence,
    SearchRecord,
    SearchRequest,
    VerdictRecord,
    VerifyRequest,
)
from adjudge.types import Evidence, Verdict

JSON_LINES = "application/x-ndjson"
EVENTS = "text/event-stream"
EVENT_SCHEMA = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["start", "sentence", "summary", "error"]},
        "data": {"type": "string", "description": "a JSON object"},
    },
}


def engine_of(request: Request) -> Engine:
    """The engine of the application."""
    engine: Engine = request.app.state.engine
    return engine


EngineParameter = Annotated[Engine, Depends(engine_of)]
_MEANINGS = {
    400: "The request is not HTTP or JSON as it should be",
    401: "A token is needed",
    403: "Another site's page, or another host name",
    408: "The rest of the request did not come in time",
    404: "No such corpus or document",
    409: "The name is taken, or the corpus cannot be changed here",
    413: "More than a limit of the server",
    415: "Another content type than the one expected",
    422: "The request does not say what it should",
    429: "The queue is full; `Retry-After` says when to try again",
    503: "Loading or stopping; `Retry-After` says when to try again",
    504: "No answer in time",
    507: "The server's disk is full",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for its description."""
    always = (400, 401, 403, 408, 413, 415, 422, 503)
    return {
        status: {"model": ErrorRecord, "description": _MEANINGS[status]}
        for status in sorted({*always, *statuses})
    }


router = APIRouter(prefix="/v1")


@router.post(
    "/verify",
    response_model=VerdictRecord,
    responses=errors(404, 429, 504),
    tags=["claims"],
    summary="Verify a claim",
)
async def verify(body: VerifyRequest, engine: EngineParameter) -> Response:
    """Find evidence for a claim in a corpus and weigh it."""
    verdict = await engine.verify(body.claim, body.corpus, body.id)
    return json_response(public_verdict(verdict, engine.library.get(body.corpus)))


@router.post(
    "/classify",
    response_model=VerdictRecord,
    responses=errors(429, 504),
    tags=["claims"],
    summary="Judge a claim by given evidence",
)
async def classify(body: ClassifyRequest, engine: EngineParameter) -> Response:
    """Weigh the evidence that comes with a claim; no corpus is searched."""
    evidence = [_evidence(item) for item in body.evidence]
    if not body.leave_one_out:
        return json_response(public_verdict(await engine.classify(body.claim, evidence, body.id), None))
    result = await engine.leave_one_out(body.claim, evidence)
    record = public_verdict(result.verdict, None) | {"id": body.id}
    return json_response(record | {"without": [_short(verdict) for verdict in result.without]})


@router.post(
    "/search",
    response_model=SearchRecord,
    responses=errors(404, 429, 504),
    tags=["claims"],
    summary="Find sentences for a claim",
)
async def search(body: SearchRequest, engine: EngineParameter) -> Response:
    """The sentences of a corpus that may decide a claim, best first."""
    evidence = await engine.search(body.claim, body.corpus, body.k)
    corpus = engine.library.get(body.corpus)
    sentences = [public_evidence(sentence, corpus) for sentence in evidence]
    return json_response({"claim": body.claim, "corpus": corpus.name, "evidence": sentences})


@router.post(
    "/check",
    response_model=CheckRecord,
    responses={
        **errors(404, 429, 504),
        200: {
            "description": "Events `start` (how many characters), `sentence` (one each), `summary` or `error`; "
            "with `stream: false` one document",
            "content": {EVENTS: {"schema": EVENT_SCHEMA}},
        },
    },
    tags=["texts"],
    summary="Check a text sentence by sentence",
)
async def check(body: CheckRequest, engine: EngineParameter) -> Response:
    """Check a whole text: one server-sent event for each sentence, then a summary."""
    from adjudge.data.clauses import split_by_rules
    from adjudge.serving.check.check import CheckOptions
    from adjudge.serving.check.export import check_record, sentence_record
    from adjudge.serving.check.records import Check, CheckedSentence

    least = engine.verifier.settings.min_confidence if body.min_confidence is None else body.min_confidence
    options = CheckOptions(
        markdown=body.markdown,
        splitter=split_by_rules if body.parts else None,
        marks=body.marks,
        max_sentences=body.max_sentences,
        min_confidence=least,
    )
    corpus = engine.library.get(body.corpus)
    sentences = engine.check(body.text, corpus.name, options)
    # What can be refused is refused with a status, before the first event.
    first = await anext(sentences, None)
    checked: list[CheckedSentence] = [] if first is None else [first]

    async def events() -> AsyncIterator[bytes]:
        text = Check(body.text, ())
        yield _event("start", {"characters": len(body.text), "corpus": corpus.name})
        try:
            for sentence in list(checked):
                yield _event("sentence", public_sentence(sentence_record(text, sentence), corpus))
            async for sentence in sentences:
                checked.append(sentence)
                yield _event("sentence", public_sentence(sentence_record(text, sentence), corpus))
        except AdjudgeError as error:
            _, code, _ = status_of(error)
            yield _event("error", fault_record(code, str(error)))
            return
        done = check_record(Check(body.text, tuple(checked)))
        yield _event("summary", {"summary": done["summary"], "counts": done["counts"]})

    if body.stream:
        return StreamingResponse(events(), media_type=EVENTS)
    checked += [sentence async for sentence in sentences]
    record = check_record(Check(body.text, tuple(checked)))
    for sentence in record["sentences"]:
        public_sentence(sentence, corpus)
    return json_response(record)


@router.post(
    "/batch",
    responses={
        **errors(404),
        200: {
            "description": "A line for each line, in order: a verdict, or `id` and `error`",
            "content": {JSON_LINES: {"schema": {"type": "string"}}},
        },
    },
    response_class=StreamingResponse,
    tags=["claims"],
    summary="Verify many claims",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                JSON_LINES: {
                    "schema": {"type": "string"},
                    "example": '{"id": 1, "claim": "The Ellery Bridge was opened in 1932."}\n'
                    '{"id": 2, "claim": "It is red.", "evidence": ["The bridge is painted green."]}\n',
                }
            },
        }
    },
)
async def batch(request: Request, engine: EngineParameter, corpus: str | None = None) -> Response:
    """Claims as JSON lines (`id`, `claim`, perhaps `evidence`) in, verdicts as JSON lines out, as they are ready."""
    lines = await spool(request, engine, JSON_LINES)
    return StreamingResponse(answer_lines(lines, engine, corpus), media_type=JSON_LINES)


def _evidence(item: str | GivenEvidence) -> Evidence:
    if isinstance(item, str):
        return Evidence(item)
    return item.record()


def _short(verdict: Verdict) -> dict[str, Any]:
    probabilities = {label: round(p, 6) for label, p in verdict.probabilities.items()}
    return {"label": verdict.label, "probabilities": probabilities}


def _event(name: str, value: Any) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(value) + b"\n\n"
