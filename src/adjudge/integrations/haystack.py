"""A Haystack component with the inputs and outputs of its ``FaithfulnessEvaluator``, without a language model."""

from __future__ import annotations

import asyncio
import math
from statistics import fmean
from typing import Any

from adjudge.errors import AdjudgeError, ConfigError, MissingExtra
from adjudge.integrations.faithfulness import faithfulness, load_verifier
from adjudge.serving.verifier import Verifier

try:
    from haystack import component, default_from_dict, default_to_dict
except ModuleNotFoundError:
    raise MissingExtra("The component needs Haystack", "haystack") from None


@component
class AdjudgeFaithfulnessEvaluator:
    """Scores answers by the share of their statements that the contexts support.

    Args:
        model: ``small``, ``large``, ``fever``, ``rules``, a run's folder, ``hf:ID``.
        raise_on_failure: whether an answer that cannot be checked is an error; otherwise its score is NaN and its
            status ``error``.
    """

    def __init__(self, model: str = "small", raise_on_failure: bool = True) -> None:
        self.model = model
        self.raise_on_failure = raise_on_failure
        self._verifier: Verifier | None = None

    def warm_up(self) -> None:
        """Load the model; ``run`` does so by itself."""
        self._verifier = self._verifier or load_verifier(self.model)

    @component.output_types(individual_scores=list[float], score=float, results=list[dict[str, Any]])
    def run(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]
    ) -> dict[str, Any]:
        """Score answers.

        Args:
            questions: one for each answer.
            contexts: for each answer the texts that it was written from.
            predicted_answers: what was answered.

        Returns:
            ``score``, the mean; ``individual_scores``, one per answer; ``results``, for each answer its
            ``statements``, ``statement_scores``, ``score`` and ``status``, and the ``feedback``.
        """
        if not len(questions) == len(contexts) == len(predicted_answers):
            raise ConfigError(
                f"{len(questions)} questions, {len(contexts)} contexts and {len(predicted_answers)} answers: "
                "expected as many of each."
            )
        self.warm_up()
        results = [self._result(*pair) for pair in zip(predicted_answers, contexts, strict=True)]
        scores = [result["score"] for result in results]
        valid = [score for score in scores if not math.isnan(score)]
        return {
            "score": fmean(valid) if valid else math.nan,
            "individual_scores": scores,
            "results": results,
        }

    @component.output_types(individual_scores=list[float], score=float, results=list[dict[str, Any]])
    async def run_async(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]
    ) -> dict[str, Any]:
        """As ``run``, in a thread."""
        return await asyncio.to_thread(self.run, questions, contexts, predicted_answers)

    def to_dict(self) -> dict[str, Any]:
        """The component as a pipeline's file holds it."""
        data: dict[str, Any] = default_to_dict(self, model=self.model, raise_on_failure=self.raise_on_failure)
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> AdjudgeFaithfulnessEvaluator:
        """The component of a pipeline's file."""
        made: AdjudgeFaithfulnessEvaluator = default_from_dict(cls, data)
        return made

    def _result(self, answer: str, contexts: list[str]) -> dict[str, Any]:
        result = faithfulness(load_verifier(self._verifier or self.model), answer, contexts)
        if result.errors and self.raise_on_failure:
            raise AdjudgeError(f"An answer could not be checked: {result.errors[0]}")
        status = "error" if result.errors else "evaluated"
        score = math.nan if result.errors else result.score or 0.0  # nothing stated: 0, as in Haystack's own
        return {
            "statements": result.statements,
            "statement_scores": result.scores,
            "score": score,
            "status": status,
            "feedback": result.feedback,
        }
