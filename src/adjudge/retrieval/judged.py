"""A judge as a scorer of sentences: how surely a sentence alone decides the claim (BEVERS' three-way scorer)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adjudge.errors import ConfigError
from adjudge.judges.protocol import Judge
from adjudge.types import Evidence, Example


@dataclass(frozen=True)
class JudgeScorer:
    """Scores a sentence by 1 − P(NOT ENOUGH INFO | claim, this sentence alone)."""

    judge: Judge

    def __post_init__(self) -> None:
        if self.judge.labels.neutral is None:
            raise ConfigError(
                f"A judge of the labels {', '.join(self.judge.labels)} cannot select: none of them says that a "
                "sentence does not suffice."
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """The judge's."""
        return {"kind": "judge", "judge": dict(self.judge.identity)}

    def score_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]]
    ) -> list[list[float]]:
        """One score per sentence, between 0 and 1."""
        neutral = self.judge.labels.neutral or ""
        examples = (
            Example(0, claim, (replace(sentence, weight=None),))
            for claim, sentences in zip(claims, candidates, strict=True)
            for sentence in sentences
        )
        verdicts = self.judge.judge(examples)
        return [[1.0 - next(verdicts).probabilities[neutral] for _ in sentences] for sentences in candidates]
