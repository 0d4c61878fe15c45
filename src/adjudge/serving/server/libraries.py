"""The routes of the corpora: list and create them, add and remove documents, watch them being indexed."""

from __future__ import annotations

import tempfile
from typing import Annotated, BinaryIO, cast

import anyio.to_thread
from fastapi import APIRouter, File, Query, Request, UploadFile
from fastapi import Path as PathParameter
from starlette.responses import Response

from adjudge.serving.server.api import EngineParameter, errors
from adjudge.serving.server.batches import IN_MEMORY
from adjudge.serving.server.records import corpus_record, json_response
from adjudge.serving.server.schemas import (
    CorporaRecord,
    CorpusRecord,
    CorpusRequest,
    DocumentsRecord,
    PageRecord,
)

router = APIRouter(prefix="/v1/corpora", tags=["corpora"])
Name = Annotated[str, PathParameter(max_length=64, description="of the corpus")]
DocumentName = Annotated[str, PathParameter(max_length=200, description="of the file")]


@router.get("", response_model=CorporaRecord, responses=errors(), summary="List the corpora")
async def list_corpora(engine: EngineParameter) -> Response:
    """All corpora of the server, the default one first."""
    return json_response({"corpora": [corpus_record(corpus) for corpus in await engine.corpora()]})


@router.post(
    "", status_code=201, response_model=CorpusRecord, responses=errors(409, 507), summary="Create a corpus"
)
async def create_corpus(body: CorpusRequest, engine: EngineParameter) -> Response:
    """A new, empty corpus, to which documents can be added."""
    return json_response(corpus_record(engine.library.create(body.name)), 201)


@router.get("/{name}", response_model=CorpusRecord, responses=errors(404), summary="Show a corpus")
async def show_corpus(name: Name, engine: EngineParameter) -> Response:
    """Its state and, while it is being indexed, how far that has come."""
    return json_response(corpus_record(engine.library.get(name)))


@router.delete(
    "/{name}", status_code=204, responses=errors(404, 409, 507), summary="Delete an uploaded corpus"
)
async def delete_corpus(name: Name, engine: EngineParameter) -> Response:
    """Remove a corpus that was created here, with its documents."""
    await anyio.to_thread.run_sync(engine.library.delete, name)
    return Response(status_code=204)


@router.get(
    "/{name}/documents", response_model=DocumentsRecord, responses=errors(404), summary="List documents"
)
async def list_documents(
    name: Name,
    engine: EngineParameter,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """The files of a corpus by name."""
    corpus = engine.library.get(name)
    files = await anyio.to_thread.run_sync(corpus.documents)
    documents = [
        {
            "name": corpus.relative(file.source),
            "bytes": file.size,
            "pages": file.pages,
            "sentences": file.sentences,
        }
        for file in files[offset : offset + limit]
    ]
    return json_response({"corpus": corpus.name, "total": len(files), "documents": documents})


@router.post(
    "/{name}/documents",
    status_code=202,
    response_model=CorpusRecord,
    responses=errors(404, 409, 507),
    summary="Add documents by a form",
)
async def add_documents(
    name: Name,
    engine: EngineParameter,
    files: Annotated[list[UploadFile], File(min_length=1, max_length=100)],
) -> Response:
    """Add files to an uploaded corpus; they are indexed in the background, which the corpus's state shows."""
    engine.library.expect_documents(name, [file.filename or "" for file in files])  # all or none
    for file in files:
        await anyio.to_thread.run_sync(
            engine.library.add_document, name, file.filename or "", file.file, engine.settings.max_upload
        )
    return json_response(corpus_record(engine.library.get(name)), 202)


@router.put(
    "/{name}/documents/{document}",
    status_code=202,
    response_model=CorpusRecord,
    responses=errors(404, 409, 507),
    summary="Add or replace a document",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def put_document(
    name: Name, document: DocumentName, request: Request, engine: EngineParameter
) -> Response:
    """Add one file, as it is, to an uploaded corpus; it is indexed in the background."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as body:
        async for chunk in request.stream():
            body.write(chunk)
        body.seek(0)
        corpus = await anyio.to_thread.run_sync(
            engine.library.add_document, name, document, cast(BinaryIO, body), engine.settings.max_upload
        )
    return json_response(corpus_record(corpus), 202)


@router.delete(
    "/{name}/documents/{document}",
    status_code=202,
    response_model=CorpusRecord,
    responses=errors(404, 409),
    summary="Remove a document",
)
async def remove_document(name: Name, document: DocumentName, engine: EngineParameter) -> Response:
    """Remove one file of an uploaded corpus; the index follows in the background."""
    corpus = await anyio.to_thread.run_sync(engine.library.remove_document, name, document)
    return json_response(corpus_record(corpus), 202)


@router.get(
    "/{name}/pages", response_model=PageRecord, responses=errors(404), summary="Show a document's sentences"
)
async def show_page(
    name: Name, engine: EngineParameter, page: Annotated[str, Query(min_length=1, max_length=1000)]
) -> Response:
    """All sentences of a document, as evidence names it (`page`)."""
    sentences = await engine.document(name, page)
    shown = [
        {
            key: value
            for key, value in (
                ("line", sentence.line),
                ("text", sentence.text),
                ("start", sentence.start),
                ("end", sentence.end),
                ("location", sentence.location),
            )
            if value is not None
        }
        for sentence in sentences
    ]
    return json_response({"corpus": name, "page": page, "title": sentences[0].title, "sentences": shown})
