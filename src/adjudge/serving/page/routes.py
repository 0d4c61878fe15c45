"""The routes of the page: the text and its verdicts, documents, exports, and many claims."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import parse_qsl

import anyio.to_thread
import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from adjudge.data.documents import SUFFIXES
from adjudge.errors import AdjudgeError
from adjudge.serving.page.claims import claim_records, read_claims
from adjudge.serving.page.documents import AROUND, document_view, read_mark
from adjudge.serving.page.explain import leave_one_out, read_evidence
from adjudge.serving.page.exports import EXPORTS
from adjudge.serving.page.render import ModelView, render
from adjudge.serving.page.samples import NAME as SAMPLES
from adjudge.serving.page.samples import examples_for, sample_documents
from adjudge.serving.page.session import MOST_LINK, PageChecks, permalink
from adjudge.serving.server.corpora import Corpora
from adjudge.serving.server.corpus import Corpus
from adjudge.serving.server.engine import Engine
from adjudge.serving.server.faults import Fault, fault_record, status_of

router = APIRouter(include_in_schema=False)
LINES = "application/x-ndjson"
MOST_DOCUMENTS = 5000
"""Files of a corpus that are looked at for examples."""
INDEX_SECONDS = 20.0
"""How long the page waits for the sample documents to be indexed."""
TITLES = {
    "loading": "Not ready yet.",
    "stopping": "The server is stopping.",
    "overloaded": "The server is busy.",
    "timeout": "That took too long.",
    "not_found": "Not found.",
    "too_large": "Too long.",
}
OTHER_TITLE = "This cannot be checked."


@router.get("/")
async def show(request: Request, text: str = "", corpus: str = "") -> Response:
    """The page; with a text its result."""
    return await _page(request, text, corpus)


@router.post("/")
async def submit(request: Request) -> Response:
    """The form without scripts: on to the permalink, or the result itself where the text is long."""
    fields = await _form(request)
    text, corpus = fields.get("text", ""), fields.get("corpus", "")
    link = permalink(text, corpus)
    if text.strip() and len(link) <= MOST_LINK and "#" not in link:
        return RedirectResponse(link, 303)
    return await _page(request, text, corpus)


@router.post("/page/check")
async def check(request: Request) -> Response:
    """A text checked: a line of JSON for each event."""
    fields = await _form(request)
    checks, text = _checks(request), _text(fields.get("text", ""))
    checks.engine.verifier  # noqa: B018  # raises while it is being loaded
    corpus, _ = checks.engine.library.pipeline(fields.get("corpus") or None)
    return StreamingResponse(_lines(checks.events(text, corpus)), media_type=LINES)


@router.post("/page/claims")
async def check_claims(request: Request, corpus: str = "") -> Response:
    """Many claims checked: a line of JSON in, a line of JSON out."""
    engine = _engine(request)
    engine.verifier  # noqa: B018  # raises while it is being loaded
    target, _ = engine.library.pipeline(corpus or None)
    claims = read_claims(await request.body(), engine)
    return StreamingResponse(_lines(claim_records(engine, target, claims)), media_type=LINES)


@router.post("/page/leave-one-out")
async def without_each(request: Request) -> Response:
    """What the verdict were without each sentence of the evidence."""
    fields = await _form(request)
    view = await leave_one_out(
        _engine(request), fields.get("statement", ""), read_evidence(fields.get("evidence", ""))
    )
    return HTMLResponse(
        render("leave_one_out.html", whole=view.whole, lines=view.lines, conclusion=view.conclusion)
    )


@router.get("/document")
async def show_document(
    request: Request,
    page: Annotated[str, Query(max_length=1000)],
    corpus: str = "",
    line: int | None = None,
    also: Annotated[list[int] | None, Query(max_length=100)] = None,
    mark: Annotated[list[str] | None, Query(max_length=100)] = None,
    fragment: bool = False,
) -> Response:
    """A document with its evidence lit; as a fragment, the stretch of it that stands beside a verdict."""
    engine = _engine(request)
    try:
        target, _ = engine.library.pipeline(corpus or None)
        sentences = await engine.document(target.name, page)
        marks = [read_mark(text) for text in mark or ()]
    except AdjudgeError as error:
        if fragment:
            raise
        return _error_page(request, error)
    href = str(request.url.remove_query_params("fragment").replace(scheme="", netloc="")) + f"#line-{line}"
    view = document_view(
        sentences, target, line, also or (), marks, AROUND if fragment else None, href if fragment else ""
    )
    if fragment:
        return HTMLResponse(render("document_body.html", document=view))
    return HTMLResponse(
        render("document.html", document=view, corpus=target.name, view="document", model=ModelView(engine))
    )


@router.post("/export")
async def export(request: Request) -> Response:
    """The result of a text as a file."""
    fields = await _form(request)
    name = fields.get("format", "json")
    try:
        if name not in EXPORTS:
            raise Fault(f"format {name[:40]!r}: expected one of {', '.join(EXPORTS)}.")
        checks = _checks(request)
        corpus, _ = checks.engine.library.pipeline(fields.get("corpus") or None)
        result = await checks.result(_text(fields.get("text", "")), corpus)
    except AdjudgeError as error:
        return _error_page(request, error)
    content = await anyio.to_thread.run_sync(EXPORTS[name].write, result, corpus)
    disposition = {"content-disposition": f'attachment; filename="check.{name}"'}
    return Response(content, media_type=EXPORTS[name].media_type, headers=disposition)


@router.get("/claims")
async def show_claims(request: Request, corpus: str = "") -> Response:
    """The page for many claims."""
    engine = _engine(request)
    return HTMLResponse(
        render(
            "claims.html",
            view="claims",
            corpora=_corpora(engine.library),
            corpus=corpus,
            max_claims=engine.settings.max_batch,
            model=ModelView(engine),
        )
    )


@router.post("/page/samples")
async def add_samples(request: Request) -> Response:
    """A corpus of the package's sample documents, where there is none."""
    library = _engine(request).library
    if SAMPLES not in {corpus.name for corpus in library}:
        library.create(SAMPLES)
        for file in sample_documents():
            content = io.BytesIO(file.read_bytes())
            await anyio.to_thread.run_sync(library.add_document, SAMPLES, file.name, content, 1 << 20)
    with anyio.move_on_after(INDEX_SECONDS):
        while len(library.get(SAMPLES).documents()) < len(sample_documents()):
            await anyio.sleep(0.1)
    return RedirectResponse(f"/?corpus={SAMPLES}", 303)


async def _page(request: Request, text: str, corpus: str) -> Response:
    engine, checks = _engine(request), _checks(request)
    text = text.replace("\r\n", "\n")
    values: dict[str, Any] = {"result": None, "error": None}
    status = 200
    try:
        target = engine.library.get(corpus or None) if corpus or any(engine.library) else None
        if text.strip():
            engine.verifier  # noqa: B018  # raises while it is being loaded
            target, _ = engine.library.pipeline(corpus or None)
            result = await checks.result(_text(text), target)
            values |= {"result": result, **checks.values(result, target.name)}
            values["document"] = await _first_document(engine, target, values["cards"])
    except AdjudgeError as error:
        target, status = None, status_of(error)[0]
        values |= {"result": None, "error": _error_view(error)}
    name = target.name if target else ""
    values |= {
        "view": "check",
        "title": f"{_shortened(text)} · adjudge"
        if text.strip()
        else "adjudge: check a text against documents",
        "text": text,
        "corpus": name,
        "corpora": _corpora(engine.library),
        "examples": await anyio.to_thread.run_sync(_examples, target) if target else [],
        "indexing": target is not None and target.index is None and target.state != "failed",
        "problem": target.problem if target else None,
        "suffixes": ",".join(SUFFIXES),
        "max_text": engine.settings.max_text,
        "model": ModelView(engine),
    }
    return HTMLResponse(render("check.html", **values), status)


async def _first_document(engine: Engine, corpus: Corpus, cards: list[Any]) -> Any:
    """The document beside the first card, for readers without scripts; only where there is a single card."""
    sentences = [item for card in cards for view in card.parts for item in view.evidence if item.href]
    if len(cards) != 1 or not sentences:
        return None
    query = parse_qsl(sentences[0].href.partition("?")[2])
    fields = dict(query)
    also = [int(value) for name, value in query if name == "also"]
    marks = [read_mark(value) for name, value in query if name == "mark"]
    document = await engine.document(corpus.name, fields["page"])
    return document_view(document, corpus, int(fields["line"]), also, marks, AROUND, sentences[0].href)


def _examples(corpus: Corpus) -> list[dict[str, str]]:
    files = corpus.documents()
    hashes = {file.sha256 for file in files[:MOST_DOCUMENTS]}
    return [
        {"href": permalink(e.text, corpus.name), "text": e.text, "shown": e.shown, "hint": e.hint}
        for e in examples_for(hashes)
    ]


def _corpora(library: Corpora) -> list[dict[str, str]]:
    """The corpora to choose from, each with what it holds or why it cannot be used."""
    items = []
    for corpus in library:
        if (index := corpus.index) is None:
            label = f"{corpus.name} ({'cannot be read' if corpus.state == 'failed' else 'being indexed'})"
        else:
            pages = index.manifest.pages
            label = f"{corpus.name} ({pages:,} document{'' if pages == 1 else 's'})"
        items.append({"name": corpus.name, "label": label})
    return items


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _checks(request: Request) -> PageChecks:
    """The checks of the application; made when the page is first used."""
    state = request.app.state
    if not hasattr(state, "page_checks"):
        state.page_checks = PageChecks(state.engine)
    checks: PageChecks = state.page_checks
    return checks


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; of one given twice the last."""
    body = (await request.body()).decode("utf-8", "replace")
    return dict(parse_qsl(body, keep_blank_values=True))


def _text(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if not text.strip():
        raise Fault("There is no text. Type a claim, or paste the text to check.")
    return text


async def _lines(events: AsyncIterator[dict[str, Any]]) -> AsyncIterator[bytes]:
    """Events as lines; an error that comes after the first line is the last."""
    try:
        async for event in events:
            yield msgspec.json.encode(event) + b"\n"
    except AdjudgeError as error:
        _, code, _ = status_of(error)
        yield msgspec.json.encode({"kind": "error", **fault_record(code, str(error))}) + b"\n"


def _error_view(error: AdjudgeError) -> dict[str, str]:
    _, code, _ = status_of(error)
    return {"title": TITLES.get(code, OTHER_TITLE), "text": str(error)}


def _error_page(request: Request, error: AdjudgeError) -> Response:
    values = {"error": _error_view(error), "view": "error", "model": ModelView(_engine(request))}
    return HTMLResponse(render("error.html", **values), status_of(error)[0])


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:59]}…"
