"""Tools of the Model Context Protocol: over standard input and output, or mounted in ``adjudge serve``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import Field

from adjudge import __version__
from adjudge.errors import AdjudgeError, MissingExtra

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.types import ToolAnnotations

    from adjudge.serving.server.engine import Engine
    from adjudge.serving.server.records import public_evidence, public_sentence, public_verdict
    from adjudge.serving.server.schemas import CheckRecord, SearchRecord, VerdictRecord
except ModuleNotFoundError as error:
    if (error.name or "").startswith("adjudge"):
        raise
    raise MissingExtra("The tools for agents need MCP", "mcp") from None

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from fastapi import FastAPI

PATH = "/mcp"
"""Where ``adjudge serve`` answers."""
INSTRUCTIONS = (
    "Checks statements against the documents of a corpus. Use verify_claim for one statement, check_text for a whole "
    "text or an answer that you wrote, search_evidence to read what the documents say. REFUTES means that the "
    "documents say otherwise; NOT ENOUGH INFO and no label mean that they do not settle it, not that it is wrong. "
    "Quote the evidence."
)
READING = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
Value = TypeVar("Value")
ClaimArgument = Annotated[
    str, Field(description="one statement that can be true or false, with its subject named")
]
CorpusArgument = Annotated[str | None, Field(description="name of the corpus; the first one if left out")]


def mcp_server(engine: Engine, starts: bool = False) -> MCPServer:
    """The tools ``verify_claim``, ``check_text`` and ``search_evidence`` over an engine.

    Args:
        engine: what answers.
        starts: whether the engine is started and closed with the server.
    """

    @asynccontextmanager
    async def lifespan(server: MCPServer) -> AsyncIterator[None]:
        if starts:
            engine.start()
        try:
            yield
        finally:
            if starts:
                await asyncio.to_thread(engine.close)

    server = MCPServer(
        "adjudge", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING", lifespan=lifespan
    )

    @server.tool(title="Verify a claim", annotations=READING)
    async def verify_claim(claim: ClaimArgument, corpus: CorpusArgument = None) -> VerdictRecord:
        """Decide whether the documents support or refute a claim, and show the sentences that decided it."""
        await _loaded(engine)
        verdict = await _answer(engine.verify(claim, corpus))
        return VerdictRecord.model_validate(public_verdict(verdict, engine.library.get(corpus)))

    @server.tool(title="Check a text", annotations=READING)
    async def check_text(
        text: Annotated[str, Field(description="plain text or Markdown")], corpus: CorpusArgument = None
    ) -> CheckRecord:
        """Check every sentence of a text against the documents: state, evidence, and the words that are wrong."""
        await _loaded(engine)
        return await _answer(_check(engine, text, corpus))

    @server.tool(title="Search for evidence", annotations=READING)
    async def search_evidence(
        claim: ClaimArgument,
        corpus: CorpusArgument = None,
        k: Annotated[int, Field(ge=1, le=100, description="sentences to give")] = 10,
    ) -> SearchRecord:
        """The sentences of the documents that may decide a claim, best first; no verdict."""
        await _loaded(engine)
        sentences = await _answer(engine.search(claim, corpus, k))
        source = engine.library.get(corpus)
        evidence = [public_evidence(sentence, source) for sentence in sentences]
        return SearchRecord.model_validate({"claim": claim, "corpus": source.name, "evidence": evidence})

    return server


def mount(app: FastAPI, engine: Engine) -> AbstractAsyncContextManager[None]:
    """Answer at ``/mcp`` of an application (streamable HTTP, no sessions); gives what runs as long as it does."""
    server = mcp_server(engine)
    # Host and Origin are checked by the application's own guard.
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    inner = server.streamable_http_app(
        streamable_http_path=PATH, json_response=True, stateless_http=True, transport_security=unguarded
    )
    app.router.routes.extend(inner.routes)
    return server.session_manager.run()


async def _check(engine: Engine, text: str, corpus: str | None) -> CheckRecord:
    from adjudge.serving.check.export import check_record
    from adjudge.serving.check.records import Check

    record = check_record(Check(text, tuple([sentence async for sentence in engine.check(text, corpus)])))
    for sentence in record["sentences"]:
        public_sentence(sentence, engine.library.get(corpus))
    return CheckRecord.model_validate(record)


async def _loaded(engine: Engine) -> None:
    """Wait for the model and the corpora, so that an agent's first question is answered too."""
    while not engine.is_ready:
        if engine.problem is not None:
            raise ToolError(f"The model could not be loaded: {engine.problem}")
        await asyncio.sleep(0.05)


async def _answer(answer: Awaitable[Value]) -> Value:
    try:
        return await answer
    except AdjudgeError as error:
        raise ToolError(str(error)) from None
