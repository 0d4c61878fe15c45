"""Many claims for the page: a record for each as it is decided, the same as the page shows for it alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.errors import AdjudgeError
from adjudge.io.jsonl import BAD_JSON
from adjudge.serving.check.check import CheckOptions
from adjudge.serving.check.export import weightiest
from adjudge.serving.check.records import CheckedSentence, State, state_of_parts
from adjudge.serving.server.batches import results_in_order
from adjudge.serving.server.faults import Fault, Overloaded, TooLarge

if TYPE_CHECKING:
    from adjudge.serving.server.corpus import Corpus
    from adjudge.serving.server.engine import Engine

UNDER_WAY = 8
"""Claims of one table that are checked at the same time."""
RETRY_SECONDS = 0.05


class ClaimLine(msgspec.Struct):
    """A claim of the table."""

    claim: str
    id: int | str = 0


def read_claims(body: bytes, engine: Engine) -> list[ClaimLine]:
    """The claims of a request: one JSON object on each line."""
    lines = [line for line in body.splitlines() if line.strip()]
    if len(lines) > engine.settings.max_batch:
        raise TooLarge(f"{len(lines):,} claims; at most {engine.settings.max_batch:,} are checked at once.")
    try:
        return [msgspec.json.decode(line, type=ClaimLine) for line in lines]
    except BAD_JSON as error:
        raise Fault(f"A line is not a claim ({error}).") from None


def claim_records(
    engine: Engine, corpus: Corpus, claims: Sequence[ClaimLine]
) -> AsyncGenerator[dict[str, Any], None]:
    """A record for each claim, in order."""
    return results_in_order((_record(engine, corpus, claim) for claim in claims), UNDER_WAY)


async def _record(engine: Engine, corpus: Corpus, line: ClaimLine) -> dict[str, Any]:
    shared = {"id": line.id, "claim": line.claim}
    if len(line.claim) > engine.settings.max_claim:
        reason = f"{len(line.claim):,} characters; a claim has at most {engine.settings.max_claim:,}"
        return shared | {"state": State.ERROR.value, "reason": reason}
    while True:
        try:
            options = CheckOptions(marks=False, min_confidence=engine.verifier.settings.min_confidence)
            sentences = [s async for s in engine.check(line.claim, corpus.name, options)]
            return shared | _answer(sentences, corpus)
        except Overloaded:
            await asyncio.sleep(RETRY_SECONDS)
        except AdjudgeError as error:
            return shared | {"state": State.ERROR.value, "reason": str(error)}


def _answer(sentences: Sequence[CheckedSentence], corpus: Corpus) -> dict[str, Any]:
    """State, probabilities and weightiest evidence of a claim by its statements."""
    parts = [part for sentence in sentences for part in sentence.parts]
    if not parts:
        reason = next((sentence.reason for sentence in sentences if sentence.reason), "it is empty")
        return {"state": State.NOT_CHECKED.value, "reason": reason}
    state = state_of_parts([part.state for part in parts])
    part = next((part for part in parts if part.state is state), parts[0])
    record: dict[str, Any] = {"state": state.value}
    if part.reason:
        record["reason"] = part.reason
    if part.verdict is not None:
        record["probability"] = round(part.confidence, 6)
        record["probabilities"] = {label: round(p, 6) for label, p in part.verdict.probabilities.items()}
    if (evidence := weightiest(part)) is not None:
        document = corpus.relative(evidence.source) if evidence.source else evidence.page
        record["evidence"] = {"text": evidence.text, "document": document, "line": evidence.line}
    return record
