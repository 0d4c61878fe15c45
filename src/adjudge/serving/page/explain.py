"""What a verdict rests on: each sentence of the evidence judged alone, and all of them without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from adjudge.io.jsonl import BAD_JSON
from adjudge.serving.check.records import CheckedSentence, State
from adjudge.serving.page.views import LABEL_STATES, Badge, badge_of, percent
from adjudge.serving.server.faults import Fault
from adjudge.types import Evidence, Example, Verdict

if TYPE_CHECKING:
    from adjudge.serving.server.engine import Engine


class SentBack(msgspec.Struct):
    """A sentence of the evidence as the page sends it back."""

    text: str
    page: str = ""
    line: int = -1
    title: str = ""
    context: str = ""
    section: str = ""


@dataclass(frozen=True)
class WithoutView:
    """What the verdict were without the sentence of a rank."""

    rank: int
    badge: Badge
    percent: str
    change: str


@dataclass(frozen=True)
class LeaveOneOutView:
    """The verdict on all sentences, without each, and what follows in words."""

    whole: Badge
    lines: tuple[WithoutView, ...]
    conclusion: str


async def judge_alone(engine: Engine, sentence: CheckedSentence) -> list[list[Verdict]]:
    """For each part of a sentence a verdict for each sentence of its evidence, read alone."""
    examples = [
        Example(0, part.statement, (replace(evidence, weight=None),))
        for part in sentence.parts
        for evidence in part.evidence
    ]
    verdicts = iter(await engine.weigh(examples, admitted=True) if examples else ())
    return [[next(verdicts) for _ in part.evidence] for part in sentence.parts]


def read_evidence(text: str) -> list[Evidence]:
    """The evidence that the page sent back."""
    try:
        sentences = msgspec.json.decode(text, type=list[SentBack])
    except BAD_JSON as error:
        raise Fault(f"evidence: not as the page sends it ({error}).") from None
    return [Evidence(**msgspec.structs.asdict(s)) for s in sentences]


async def leave_one_out(engine: Engine, statement: str, evidence: Sequence[Evidence]) -> LeaveOneOutView:
    """The verdict on a statement without each sentence of its evidence in turn."""
    example = engine.verifier.example(statement, evidence)
    sentences = example.evidence
    others = [replace(example, evidence=sentences[:n] + sentences[n + 1 :]) for n in range(len(sentences))]
    whole, *without = await engine.weigh([example, *others])
    label = whole.label or ""
    lines = tuple(
        WithoutView(
            rank,
            badge_of(_state(verdict)),
            percent(verdict.probabilities.get(label, 0.0)),
            _points(verdict.probabilities.get(label, 0.0) - whole.confidence),
        )
        for rank, verdict in enumerate(without, start=1)
    )
    needed = [rank for rank, verdict in enumerate(without, start=1) if verdict.label != whole.label]
    return LeaveOneOutView(badge_of(_state(whole)), lines, _conclusion(needed))


def _state(verdict: Verdict) -> State:
    return LABEL_STATES.get(verdict.label or "", State.NO_EVIDENCE)


def _points(change: float) -> str:
    points = round(100 * change)
    sign = "+" if points > 0 else "−"
    return f"{sign}{abs(points)} points" if points else "no change"


def _conclusion(needed: Sequence[int]) -> str:
    if not needed:
        return "No single sentence decides: the verdict stays the same without any one of them."
    if len(needed) == 1:
        return f"Without sentence {needed[0]} the verdict would be another."
    return f"Without any one of the sentences {', '.join(map(str, needed))} the verdict would be another."
