"""A deepeval metric: how much of an actual output its retrieval context supports, without a language model."""

from __future__ import annotations

import asyncio
from typing import Any

from adjudge.errors import ConfigError, MissingExtra
from adjudge.integrations.faithfulness import faithfulness, load_verifier
from adjudge.serving.verifier import Verifier

try:
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase
except ModuleNotFoundError:
    raise MissingExtra("The metric needs deepeval", "deepeval") from None


class AdjudgeFaithfulnessMetric(BaseMetric):
    """The share of an output's statements that the retrieval context supports; 1 where nothing is stated.

    Args:
        threshold: the score from which a test case passes.
        model: a model's name, or a verifier.
        include_reason: whether ``reason`` names the statements that are not supported.
        strict_mode: whether only a score of 1 passes.
    """

    def __init__(
        self,
        threshold: float = 0.5,
        model: str | Verifier = "small",
        include_reason: bool = True,
        strict_mode: bool = False,
    ) -> None:
        self.threshold = 1.0 if strict_mode else threshold
        self.verifier = load_verifier(model)
        self.include_reason = include_reason
        self.strict_mode = strict_mode
        self.async_mode = True
        self.evaluation_model = f"adjudge {model}" if isinstance(model, str) else "adjudge"
        self.score: float | None = None
        self.reason: str | None = None
        self.success: bool | None = None
        self.error: str | None = None

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """Score a test case by its ``actual_output`` and ``retrieval_context``."""
        if test_case.actual_output is None or test_case.retrieval_context is None:
            raise ConfigError("The test case needs actual_output and retrieval_context.")
        context = [getattr(item, "context", item) for item in test_case.retrieval_context]
        result = faithfulness(self.verifier, test_case.actual_output, context)
        if result.errors:
            raise ConfigError(f"The output could not be checked: {result.errors[0]}")
        score = 1.0 if result.score is None else result.score
        self.score = score if not self.strict_mode or score >= self.threshold else 0.0
        self.reason = result.feedback if self.include_reason else None
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """As ``measure``, in a thread."""
        return await asyncio.to_thread(self.measure, test_case)

    def is_successful(self) -> bool:
        """Whether the last test case passed."""
        return self.error is None and bool(self.success)

    @property
    def __name__(self) -> str:
        return "Faithfulness (adjudge)"
