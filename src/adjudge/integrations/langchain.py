"""For LangChain: a runnable that checks an answer against its context, and a tool that verifies claims."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from adjudge.errors import ConfigError, MissingExtra
from adjudge.integrations.faithfulness import faithfulness, load_verifier
from adjudge.serving.verifier import Verifier
from adjudge.types import Verdict

try:
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.tools import StructuredTool
except ModuleNotFoundError:
    raise MissingExtra("The runnable needs LangChain", "langchain") from None


class FaithfulnessCheck(Runnable[Mapping[str, Any], dict[str, Any]]):
    """Checks ``{"answer": text or message, "context": documents or texts}``; other keys are passed on.

    Its output is the input with ``faithfulness``: ``score`` (the share of statements that the context supports, None
    where nothing is stated), ``statements``, ``states`` and ``feedback``. So it stands at the end of a chain that
    answers from retrieved documents.

    Args:
        model: a model's name, or a verifier.
    """

    def __init__(self, model: str | Verifier = "small") -> None:
        self.verifier = load_verifier(model)

    def invoke(
        self, input: Mapping[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Check one answer."""
        output: dict[str, Any] = self._call_with_config(self._check, input, config)
        return output

    async def ainvoke(
        self, input: Mapping[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """As ``invoke``, in a thread."""
        return await asyncio.to_thread(self.invoke, input, config)

    def _check(self, value: Mapping[str, Any]) -> dict[str, Any]:
        missing = [key for key in ("answer", "context") if key not in value]
        if missing:
            raise ConfigError(
                f"{', '.join(missing)}: missing; expected answer and context, found {', '.join(value)}."
            )
        result = faithfulness(self.verifier, _text(value["answer"]), _texts(value["context"]))
        return {
            **value,
            "faithfulness": {
                "score": result.score,
                "statements": result.statements,
                "states": [part.state.value for part in result.parts],
                "feedback": result.feedback,
            },
        }


def verify_tool(verifier: Verifier, name: str = "verify_claim") -> StructuredTool:
    """A tool for agents: whether the verifier's corpus supports or refutes a claim.

    The agent reads a short text; the tool message's ``artifact`` is the :class:`~adjudge.Verdict`.
    """

    def verify_claim(claim: str) -> tuple[str, Verdict]:
        """Decide whether the documents support or refute one statement, and quote the sentences that decided it."""
        verdict = verifier.verify(claim)
        return _report(verdict), verdict

    tool: StructuredTool = StructuredTool.from_function(
        verify_claim, name=name, response_format="content_and_artifact"
    )
    return tool


def _report(verdict: Verdict) -> str:
    if verdict.label is None:
        return f"No verdict: {verdict.reason}."
    heading = f"{verdict.answer} ({verdict.confidence:.2f})"
    return "\n".join([heading, *(f"- {sentence.text} [{sentence.page}]" for sentence in verdict.evidence)])


def _texts(context: Any) -> list[str]:
    if isinstance(context, str) or not isinstance(context, Iterable):
        return [_text(context)]
    return [_text(item) for item in context]


def _text(value: Any) -> str:
    """The text of a string, a document or a message."""
    for text in (value, getattr(value, "page_content", None), getattr(value, "text", None)):
        if isinstance(text, str):
            return str(text)
    raise ConfigError(f"expected a text, a document or a message, found {type(value).__name__}.")
