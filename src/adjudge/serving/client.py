"""Clients of a server, with the methods of ``Verifier``: one that waits, one for event loops (extra ``serve``)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
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
        self.address = address.rstrip("/")
        self.corpus = corpus
        self._retries = retries
        self._errors = _library().HTTPError
        self._http = _library().Client(
            base_url=self.address, headers=_authorization(token), timeout=timeout, trust_env=False
        )

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
            if line:
                block.append(line)
            elif (sentence := _event_sentence(block)) is not None:
                yield sentence
            block = block if line else []

    def search(self, claim: str, corpus: str | None = None, k: int = 10) -> list[Evidence]:
        """The sentences of a corpus that may decide a claim, best first."""
        return self._send(calls.search_call(claim, corpus or self.corpus, k))

    def corpora(self) -> list[dict[str, Any]]:
        """The corpora of the server, as it describes them."""
        return self._send(calls.corpora_call())

    def _send(self, call: Call[Value]) -> Value:
        for attempt in range(self._retries + 1):
            try:
                answer = self._http.request(call.method, call.path, content=call.body, headers=call.headers)
            except self._errors as error:
                raise calls.unreachable(self.address, error) from None
            if answer.status_code in calls.RETRIED and attempt < self._retries:
                time.sleep(calls.wait_seconds(attempt, answer.headers.get("retry-after")))
                continue
            break
        if answer.status_code >= 400:
            raise calls.error_of(answer.status_code, answer.content, self.address)
        return call.parse(answer.content)

    def _lines(self, call: Call[Any]) -> Iterator[str]:
        """The lines of an answer as they come."""
        for attempt in range(self._retries + 1):
            try:
                with self._http.stream(
                    call.method, call.path, content=call.body, headers=call.headers
                ) as answer:
                    if answer.status_code < 400:
                        yield from answer.iter_lines()
                        return
                    content = answer.read()
            except self._errors as error:
                raise calls.unreachable(self.address, error) from None
            if answer.status_code not in calls.RETRIED or attempt == self._retries:
                raise calls.error_of(answer.status_code, content, self.address)
            time.sleep(calls.wait_seconds(attempt, answer.headers.get("retry-after")))


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
        self.address = address.rstrip("/")
        self.corpus = corpus
        self._retries = retries
        self._errors = _library().HTTPError
        self._http = _library().AsyncClient(
            base_url=self.address, headers=_authorization(token), timeout=timeout, trust_env=False
        )

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
            if line:
                block.append(line)
            elif (sentence := _event_sentence(block)) is not None:
                yield sentence
            block = block if line else []

    async def search(self, claim: str, corpus: str | None = None, k: int = 10) -> list[Evidence]:
        """The sentences of a corpus that may decide a claim, best first."""
        return await self._send(calls.search_call(claim, corpus or self.corpus, k))

    async def corpora(self) -> list[dict[str, Any]]:
        """The corpora of the server, as it describes them."""
        return await self._send(calls.corpora_call())

    async def _send(self, call: Call[Value]) -> Value:
        for attempt in range(self._retries + 1):
            try:
                answer = await self._http.request(
                    call.method, call.path, content=call.body, headers=call.headers
                )
            except self._errors as error:
                raise calls.unreachable(self.address, error) from None
            if answer.status_code in calls.RETRIED and attempt < self._retries:
                await asyncio.sleep(calls.wait_seconds(attempt, answer.headers.get("retry-after")))
                continue
            break
        if answer.status_code >= 400:
            raise calls.error_of(answer.status_code, answer.content, self.address)
        return call.parse(answer.content)

    async def _lines(self, call: Call[Any]) -> AsyncIterator[str]:
        """The lines of an answer as they come."""
        for attempt in range(self._retries + 1):
            try:
                async with self._http.stream(
                    call.method, call.path, content=call.body, headers=call.headers
                ) as answer:
                    if answer.status_code < 400:
                        async for line in answer.aiter_lines():
                            yield line
                        return
                    content = await answer.aread()
            except self._errors as error:
                raise calls.unreachable(self.address, error) from None
            if answer.status_code not in calls.RETRIED or attempt == self._retries:
                raise calls.error_of(answer.status_code, content, self.address)
            await asyncio.sleep(calls.wait_seconds(attempt, answer.headers.get("retry-after")))


def _library() -> Any:
    try:
        import httpx2
    except ImportError:
        raise MissingExtra("The client needs httpx2", "serve") from None
    return httpx2


def _authorization(token: str | None) -> dict[str, str]:
    return {} if token is None else {"authorization": f"Bearer {token}"}


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


def _event_sentence(block: list[str]) -> CheckedSentence | None:
    """The sentence of an event, None of another event; ``ServerError`` of an error."""
    name, value = calls.read_event(block)
    if name == "error":
        raise calls.ServerError(value["error"]["message"], 200, value["error"]["code"])
    return calls.sentence_of(value) if name == "sentence" else None
