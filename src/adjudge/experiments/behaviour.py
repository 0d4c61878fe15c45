"""The behaviour suite run against a model: the share of expected answers, phenomenon by phenomenon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from adjudge.data.behaviour import EXPECTED, Case
from adjudge.types import Example, Verdict


@dataclass(frozen=True)
class Behaviour:
    """How often the claims of a phenomenon got the answer expected, and what they got."""

    phenomenon: str
    claims: int
    right: int
    answers: dict[str, int]

    @property
    def share(self) -> float:
        """Right answers among the claims."""
        return self.right / self.claims


def with_evidence(cases: Iterable[Case]) -> list[Example]:
    """The cases as examples: three sentences of the claim's page, the deciding one among them."""
    return [Example(case.claim.id, case.claim.text, case.evidence(), case.claim.label) for case in cases]


def behaviour(cases: Sequence[Case], judge: Callable[[Sequence[Case]], Iterable[Verdict]]) -> list[Behaviour]:
    """Judge the cases and count by phenomenon, in the suite's order."""
    answers = {phenomenon: Counter[str]() for phenomenon in EXPECTED}
    for case, verdict in zip(cases, judge(cases), strict=True):
        answers[case.phenomenon][verdict.answer] += 1
    return [
        Behaviour(phenomenon, counts.total(), counts[EXPECTED[phenomenon]], dict(counts))
        for phenomenon, counts in answers.items()
        if counts
    ]
