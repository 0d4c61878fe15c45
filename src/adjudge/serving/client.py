"""Clients of a server, with the methods of ``Verifier``: one that waits, one for event loops (extra ``serve``)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Self, TypeVar

from adjudge.errors import ConfigError, MissingExtra
from adjudge.serving import calls
from adjudge.serving.calls import Call
from adjudge.serving.check.records import Check, CheckedSentence
from adjudge.types import Claim, Evidence, Verdict

if TYPE_CHECKING:
    from adjudge.serving.check.check import CheckOptions

ADDRESS = "http://127.0.0.1:8080"
Value = TypeVar("Value")


class Client:
    """Asks a server what ``Verifier`` would be asked.

    Where the server has too much to do or is still loading, the request is sent again after a while.

    Args:
        address: of the server.
        token: that a server on another machine demands.
        corpus: the name of the corpus when a call names none; the server's first one by default.
        timeout: seconds for an answer.
        retries: how often a request is sent again.
    """

    def __init__(
        self,
        address: str = ADDRESS,
        token: str | None = None,
        corpus: str | None = None,
        timeout: float = 120.0,
        retries: int = 8,
    ) -> None:
        self.address, self.corpus = address.rstrip("/"), corpus
        self._retries = _Retries.of(self.address, retries)
        self._http = _library().Client(**_http_options(self.address, token, timeout))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def verify(self, claim: str, corpus: str | None = None) -> Verdict:
        """The verdict on a claim by what the corpus says about it."""
        return self._send(calls.verify_call(claim, corpus or self.corpus))

    def verify_many(self, claims: Iterable[str | Claim], corpus: str | None = None) -> Iterator[Verdict]:
        """A verdict for each claim, in order, as they come from the server; texts are numbered from 0."""
        for call in calls.batch_calls(claims, corpus or self.corpus):
            yield from map(calls.batch_verdict, self._lines(call))

    def classify(self, claim: str, evidence: Iterable[str | Evidence]) -> Verdict:
        """A verdict on evidence given by the caller: texts, or records."""
        return self._send(calls.classify_call(claim, evidence))

    def check(
        self,
        text: str,
        corpus: str | None = None,
        *,
        options: CheckOptions | None = None,
        name: str = "text",
    ) -> Check:
        """Check a whole text, sentence by sentence."""
        return self._send(calls.check_call(text, corpus or self.corpus, _options(options), name))

    def check_sentences(
        self, text: str, corpus: str | None = None, *, options: CheckOptions | None = None
    ) -> Iterator[CheckedSentence]:
        """The sentences of a text as they are checked."""
        block: list[str] = []
        for line in self._lines(calls.check_call(text, corpus or self.corpus, _options(options), "", True)):
            if (sentence := _add_line(block, line)) is not None:
                yield sentence

    def search(self, claim: str, corpus: str | None = None, k: int = 10) -> list[Evidence]:
        """The sentences of a corpus that may decide a claim, best first."""
        return self._send(calls.search_call(claim, corpus or self.corpus, k))

    def corpora(self) -> list[dict[str, Any]]:
        """The corpora of the server, as it describes them."""
        return self._send(calls.corpora_call())

    def _send(self, call: Call[Value]) -> Value:
        attempt = 0
        while True:
            try:
                answer = self._http.request(**call.request)
                if answer.status_code < 400:
                    return call.parse(answer.content)
                seconds = self._retries.wait_after_refusal(attempt, answer)
            except self._retries.errors as error:
                seconds = self._retries.wait_after_error(attempt, error)
            time.sleep(seconds)
            attempt += 1

    def _lines(self, call: Call[Any]) -> Iterator[str]:
        """The lines of an answer as they come."""
        for attempt in count():
            try:
                with self._http.stream(**call.request) as answer:
                    if answer.status_code < 400:
                        lines = calls.Lines()
                        for piece in answer.iter_bytes():
                            yield from lines.cut(piece)
                        yield from lines.rest()
                        return
                    answer.read()
            except self._retries.errors as error:
                raise calls.unreachable(self.address, error) from None
            time.sleep(self._retries.wait_after_refusal(attempt, answer))


class AsyncClient:
    """:class:`Client` for event loops: the same methods, to be awaited."""

    def __init__(
        self,
        address: str = ADDRESS,
        token: str | None = None,
        corpus: str | None = None,
        timeout: float = 120.0,
        retries: int = 8,
    ) -> None:
        self.address, self.corpus = address.rstrip("/"), corpus
        self._retries = _Retries.of(self.address, retries)
        self._http = _library().AsyncClient(**_http_options(self.address, token, timeout))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def verify(self, claim: str, corpus: str | None = None) -> Verdict:
        """The verdict on a claim by what the corpus says about it."""
        return await self._send(calls.verify_call(claim, corpus or self.corpus))

    async def verify_many(
        self, claims: Iterable[str | Claim], corpus: str | None = None
    ) -> AsyncIterator[Verdict]:
        """A verdict for each claim, in order, as they come from the server; texts are numbered from 0."""
        for call in calls.batch_calls(claims, corpus or self.corpus):
            async for line in self._lines(call):
                yield calls.batch_verdict(line)

    async def classify(self, claim: str, evidence: Iterable[str | Evidence]) -> Verdict:
        """A verdict on evidence given by the caller: texts, or records."""
        return await self._send(calls.classify_call(claim, evidence))

    async def check(
        self,
        text: str,
        corpus: str | None = None,
        *,
        options: CheckOptions | None = None,
        name: str = "text",
    ) -> Check:
        """Check a whole text, sentence by sentence."""
        return await self._send(calls.check_call(text, corpus or self.corpus, _options(options), name))

    async def check_sentences(
        self, text: str, corpus: str | None = None, *, options: CheckOptions | None = None
    ) -> AsyncIterator[CheckedSentence]:
        """The sentences of a text as they are checked."""
        block: list[str] = []
        call = calls.check_call(text, corpus or self.corpus, _options(options), "", True)
        async for line in self._lines(call):
            if (sentence := _add_line(block, line)) is not None:
                yield sentence

    async def search(self, claim: str, corpus: str | None = None, k: int = 10) -> list[Evidence]:
        """The sentences of a corpus that may decide a claim, best first."""
        return await self._send(calls.search_call(claim, corpus or self.corpus, k))

    async def corpora(self) -> list[dict[str, Any]]:
        """The corpora of the server, as it describes them."""
        return await self._send(calls.corpora_call())

    async def _send(self, call: Call[Value]) -> Value:
        attempt = 0
        while True:
            try:
                answer = await self._http.request(**call.request)
                if answer.status_code < 400:
                    return call.parse(answer.content)
                seconds = self._retries.wait_after_refusal(attempt, answer)
            except self._retries.errors as error:
                seconds = self._retries.wait_after_error(attempt, error)
            await asyncio.sleep(seconds)
            attempt += 1

    async def _lines(self, call: Call[Any]) -> AsyncIterator[str]:
        """The lines of an answer as they come."""
        for attempt in count():
            try:
                async with self._http.stream(**call.request) as answer:
                    if answer.status_code < 400:
                        lines = calls.Lines()
                        async for piece in answer.aiter_bytes():
                            for line in lines.cut(piece):
                                yield line
                        for line in lines.rest():
                            yield line
                        return
                    await answer.aread()
            except self._retries.errors as error:
                raise calls.unreachable(self.address, error) from None
            await asyncio.sleep(self._retries.wait_after_refusal(attempt, answer))


def _library() -> Any:
    try:
        import httpx2
    except ImportError:
        raise MissingExtra("The client needs httpx2", "serve") from None
    return httpx2


def _http_options(address: str, token: str | None, timeout: float) -> dict[str, Any]:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return {"base_url": address, "headers": headers, "timeout": timeout, "trust_env": False}


@dataclass(frozen=True)
class _Retries:
    """When a request is sent again: attempts are counted from 0, ``most`` is the last.

    Attributes:
        errors: what the library raises when no answer comes.
        lost: what it raises when a connection was lost on the way.
    """

    address: str
    most: int
    errors: Any
    lost: tuple[Any, ...]

    @classmethod
    def of(cls, address: str, most: int) -> _Retries:
        library = _library()
        lost = (library.RemoteProtocolError, library.ReadError, library.WriteError)
        return cls(address, most, library.HTTPError, lost)

    def wait_after_error(self, attempt: int, error: Exception) -> float:
        """Seconds to wait when no answer came; ``ServerError`` where the request is not sent again."""
        if attempt >= self.most or not isinstance(error, self.lost):
            raise calls.unreachable(self.address, error) from None
        return calls.wait_seconds(attempt, None)

    def wait_after_refusal(self, attempt: int, answer: Any) -> float:
        """Seconds to wait after a refusal; ``ServerError`` where the request is not sent again."""
        if attempt >= self.most or not calls.is_retried(answer.status_code, answer.content):
            raise calls.error_of(answer.status_code, answer.content, self.address)
        return calls.wait_seconds(attempt, answer.headers.get("retry-after"))


def _options(options: CheckOptions | None) -> dict[str, Any]:
    """The options of a check that can be sent."""
    from adjudge.data.clauses import split_by_rules

    if options is None:
        return {}
    if options.splitter not in (None, split_by_rules):
        raise ConfigError("options.splitter: a server splits by its own rules; leave it, or pass None.")
    return {
        "markdown": options.markdown,
        "marks": options.marks,
        "parts": options.splitter is not None,
        "max_sentences": options.max_sentences,
        "min_confidence": options.min_confidence,
    }


def _add_line(block: list[str], line: str) -> CheckedSentence | None:
    """The sentence of the event that a line ends, None where it ends none; ``ServerError`` of an error."""
    if line:
        block.append(line)
        return None
    name, value = calls.read_event(block)
    block.clear()
    if name == "error":
        raise calls.ServerError(value["error"]["message"], 200, value["error"]["code"])
    return calls.sentence_of(value) if name == "sentence" else None
