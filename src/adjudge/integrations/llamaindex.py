"""A LlamaIndex evaluator: how much of a response its contexts support, without a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from adjudge.errors import ConfigError, MissingExtra
from adjudge.integrations.faithfulness import Faithfulness, faithfulness, load_verifier
from adjudge.serving.verifier import Verifier

try:
    from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
except ModuleNotFoundError:
    raise MissingExtra("The evaluator needs LlamaIndex", "llamaindex") from None


class AdjudgeFaithfulnessEvaluator(BaseEvaluator):
    """Passes a response if enough of its statements are supported by the contexts.

    ``score`` is the share of supported statements, ``feedback`` names the others with the evidence nearest to them.
    Where the response states nothing, or contexts are missing, the result is invalid and says why.

    Args:
        model: a model's name, or a verifier.
        threshold: the score from which a response passes.
    """

    def __init__(self, model: str | Verifier = "small", threshold: float = 1.0) -> None:
        if not 0 <= threshold <= 1:
            raise ConfigError(f"threshold = {threshold}: expected 0 to 1.")
        self.verifier = load_verifier(model)
        self.threshold = threshold

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: int = 0,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Evaluate a response; ``evaluate`` and ``evaluate_response`` call this."""
        await asyncio.sleep(sleep_time_in_seconds)
        if response is None or contexts is None:
            raise ConfigError("response and contexts: expected both.")
        result = await asyncio.to_thread(faithfulness, self.verifier, response, contexts)
        reason = _invalid_reason(result)
        return EvaluationResult(
            query=query,
            contexts=list(contexts),
            response=response,
            passing=None if reason else (result.score or 0.0) >= self.threshold,
            score=None if reason else result.score,
            feedback=result.feedback,
            invalid_result=reason is not None,
            invalid_reason=reason,
        )

    def _get_prompts(self) -> dict[str, Any]:
        """There are none."""
        return {}

    def _update_prompts(self, prompts_dict: Any) -> None:
        """There are none."""


def _invalid_reason(result: Faithfulness) -> str | None:
    if result.errors:
        return result.errors[0]
    return "the response states nothing that can be checked" if result.score is None else None
