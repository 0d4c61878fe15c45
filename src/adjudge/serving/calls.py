"""What a client sends to a server, and the records it makes of the answers; no network in here."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import msgspec

from adjudge.data.text import expect_text
from adjudge.errors import AdjudgeError, ConfigError, DataError
from adjudge.io.jsonl import BAD_JSON
from adjudge.serving.check.records import (
    Check,
    CheckedPart,
    CheckedSentence,
    EvidenceMark,
    FactCheck,
    State,
)
from adjudge.types import NOT_SUPPORTED, Claim, Evidence, Label, Span, Verdict

Value = TypeVar("Value")
JSON = "application/json"
JSON_LINES = "application/x-ndjson"
RETRIED = frozenset({429, 502, 503})
"""Statuses after which a request is sent again: too much to do, loading, a worker that is being replaced."""
LONGEST_WAIT = 10.0
CHUNK = 1000
"""Claims that are sent with one request."""


class ServerError(AdjudgeError, RuntimeError):
    """A server refused a request or could not answer it.

    Attributes:
        status: HTTP's; 0 where no answer came.
        code: what the server calls it, for programs.
    """

    def __init__(self, message: str, status: int = 0, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Call(Generic[Value]):
    """A request: where it goes, what it carries, and how its answer is read."""

    path: str
    parse: Callable[[bytes], Value]
    body: bytes | None = None
    content_type: str = JSON
    method: str = "POST"

    @property
    def request(self) -> dict[str, Any]:
        """The arguments of an HTTP client's ``request`` or ``stream``."""
        headers = {} if self.body is None else {"content-type": self.content_type}
        return {"method": self.method, "url": self.path, "content": self.body, "headers": headers}


def verify_call(claim: str, corpus: str | None) -> Call[Verdict]:
    """The verdict on a claim."""
    expect_text(claim, "claim")
    return Call("/v1/verify", _verdict, _json(claim=claim, corpus=corpus))


def classify_call(claim: str, evidence: Iterable[str | Evidence]) -> Call[Verdict]:
    """The verdict on given evidence."""
    if isinstance(evidence, (str, bytes, Evidence)) or not isinstance(evidence, Iterable):
        raise ConfigError(
            f"evidence: expected a list of sentences, found {type(evidence).__name__}; pass [sentence]."
        )
    expect_text(claim, "claim")
    given = [Evidence(item) if isinstance(item, str) else item for item in evidence]
    sentences = [_sentence(item) for item in given]

    def parse(content: bytes) -> Verdict:
        verdict = _verdict(content)
        if [sentence.text for sentence in verdict.evidence] != [sentence.text for sentence in given]:
            return verdict
        pairs = zip(given, verdict.evidence, strict=True)  # what was not sent is not in the answer
        return replace(verdict, evidence=tuple(replace(one, weight=e.weight, cut=e.cut) for one, e in pairs))

    return Call("/v1/classify", parse, _json(claim=claim, evidence=sentences))


def search_call(claim: str, corpus: str | None, k: int) -> Call[list[Evidence]]:
    """The sentences for a claim."""

    def parse(content: bytes) -> list[Evidence]:
        return msgspec.convert(_decode(content)["evidence"], list[Evidence])

    expect_text(claim, "claim")
    return Call("/v1/search", parse, _json(claim=claim, corpus=corpus, k=k))


def corpora_call() -> Call[list[dict[str, Any]]]:
    """The corpora of the server."""

    def parse(content: bytes) -> list[dict[str, Any]]:
        corpora: list[dict[str, Any]] = _decode(content)["corpora"]
        return corpora

    return Call("/v1/corpora", parse, method="GET")


def check_call(
    text: str, corpus: str | None, options: Mapping[str, Any], name: str, stream: bool = False
) -> Call[Check]:
    """A text, checked."""

    def parse(content: bytes) -> Check:
        record = _decode(content)
        return Check(text, tuple(sentence_of(sentence) for sentence in record["sentences"]), name)

    expect_text(text, "text")
    return Call("/v1/check", parse, _json(text=text, corpus=corpus, stream=stream, **options))


def batch_calls(claims: Iterable[str | Claim], corpus: str | None) -> Iterator[Call[bytes]]:
    """Requests for many claims, :data:`CHUNK` in each; answers are read line by line with :func:`batch_verdict`."""
    if isinstance(claims, (str, Claim)) or not isinstance(claims, Iterable):
        raise ConfigError(f"claims: expected a list of claims, found {type(claims).__name__}.")
    path = "/v1/batch" if corpus is None else f"/v1/batch?corpus={_quoted(corpus)}"
    lines: list[bytes] = []
    for number, claim in enumerate(claims):
        record = claim if isinstance(claim, Claim) else Claim(number, claim)
        expect_text(record.text, f"claim {record.id!r}")
        lines.append(msgspec.json.encode({"id": record.id, "claim": record.text}) + b"\n")
        if len(lines) == CHUNK:
            yield Call(path, bytes, b"".join(lines), JSON_LINES)
            lines = []
    if lines:
        yield Call(path, bytes, b"".join(lines), JSON_LINES)


def batch_verdict(line: bytes | str) -> Verdict:
    """The verdict of a line of a batch; ``ServerError`` where the claim could not be answered."""
    record = _decode(line)
    if "error" in record:
        raise ServerError(
            f"Claim {record.get('id')!r}: {record['error']['message']}", 200, record["error"]["code"]
        )
    return msgspec.convert(record, Verdict)


class Lines:
    """Cuts an answer into lines as it comes: at line feeds alone, since texts in JSON hold other ends of lines."""

    def __init__(self) -> None:
        self._rest = b""

    def cut(self, piece: bytes) -> list[str]:
        """The lines that a piece of the answer ends."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]

    def rest(self) -> list[str]:
        """The last line, where nothing ends it."""
        return [self._rest.decode("utf-8", "replace")] if self._rest else []


def error_of(status: int, content: bytes, address: str) -> ServerError:
    """What a refusal says."""
    try:
        error = msgspec.json.decode(content)["error"]
        return ServerError(str(error["message"]), status, str(error["code"]))
    except (*BAD_JSON, KeyError, TypeError):
        return ServerError(f"{address}: answered with status {status}; is it an adjudge server?", status)


def unreachable(address: str, reason: object) -> ServerError:
    """No answer came."""
    return ServerError(f"{address}: no answer ({reason}). Is the server running? Start one: adjudge serve")


def is_retried(status: int, content: bytes) -> bool:
    """Whether a request that was answered so is sent again; every request gives the same answer however often sent.

    A failure that is not told in the server's own words is that of a proxy in front of it.
    """
    return status in RETRIED or (status == 500 and not error_of(status, content, "").code)


def wait_seconds(attempt: int, retry_after: str | None) -> float:
    """How long to wait before another attempt: what the server says or longer and longer, with some chance in it."""
    asked = float(retry_after) if retry_after and retry_after.isdigit() else 0.0
    return float(min(LONGEST_WAIT, max(asked, 0.1 * 2**attempt)) * random.uniform(0.5, 1.0))


def sentence_of(record: Mapping[str, Any]) -> CheckedSentence:
    """A checked sentence from its JSON."""
    parts = tuple(_part(part) for part in record.get("parts", ()))
    state = State(record["state"])
    return CheckedSentence(record["text"], record["start"], record["end"], state, parts, record.get("reason"))


def read_event(block: list[str]) -> tuple[str, Any]:
    """(name, value) of the lines of a server-sent event."""
    fields = dict(line.partition(": ")[::2] for line in block)
    return fields.get("event", ""), _decode(fields.get("data", "null"))


def _part(record: Mapping[str, Any]) -> CheckedPart:
    verdict, state = None, State(record["state"])
    if "probabilities" in record:
        probabilities = record["probabilities"]
        label = max(probabilities, key=probabilities.__getitem__)
        weak = state == State.NOT_ENOUGH_INFO and label not in (Label.NOT_ENOUGH_INFO.value, NOT_SUPPORTED)
        evidence = msgspec.convert(record["evidence"], tuple[Evidence, ...])
        abstained, cut = record.get("abstained", weak), record.get("claim_cut", False)
        verdict = Verdict(
            0, record["statement"], label, probabilities, evidence, abstained=abstained, claim_cut=cut
        )
    return CheckedPart(
        record["statement"],
        Span(record["start"], record["end"]),
        state,
        record["reading"],
        verdict,
        tuple(_fact(fact) for fact in record["facts"]),
        tuple(Span(mark["start"], mark["end"]) for mark in record["marks"]),
        tuple(
            EvidenceMark(mark["sentence"], Span(mark["start"], mark["end"]))
            for mark in record.get("evidence_marks", ())
        ),
        record.get("reason"),
    )


def _fact(record: Mapping[str, Any]) -> FactCheck:
    span = Span(record["start"], record["end"]) if "start" in record else None
    other = Span(record["evidence_start"], record["evidence_end"]) if "evidence_start" in record else None
    evidence, sentence = record.get("evidence"), record.get("sentence")
    return FactCheck(record["kind"], record["outcome"], record["text"], span, evidence, other, sentence)


def _sentence(item: Evidence) -> dict[str, Any]:
    if not isinstance(item, Evidence):
        raise ConfigError(f"evidence: expected texts, found {type(item).__name__} among them.")
    texts = ("text", "title", "page", "context", "section")
    for name in texts:
        expect_text(getattr(item, name), f"evidence: {name}")
    return {key: getattr(item, key) for key in (*texts, "line")}


def _verdict(content: bytes) -> Verdict:
    return msgspec.convert(_decode(content), Verdict)


def _decode(content: bytes | str) -> Any:
    try:
        return msgspec.json.decode(content)
    except BAD_JSON as error:
        raise DataError(f"The server's answer is not JSON ({error}).") from None


def _json(**values: Any) -> bytes:
    return msgspec.json.encode({key: value for key, value in values.items() if value is not None})


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")
