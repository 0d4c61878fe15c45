"""How much of an answer its contexts support: the figure that the evaluators of other libraries ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adjudge.errors import ConfigError
from adjudge.serving.check.records import WORDS, CheckedPart, State
from adjudge.serving.verifier import Verifier
from adjudge.types import Evidence


@dataclass(frozen=True)
class Faithfulness:
    """The statements of an answer, each with its state.

    Attributes:
        parts: the statements that were checked, in order; questions, opinions and the like are not among them.
    """

    parts: tuple[CheckedPart, ...]

    @property
    def statements(self) -> list[str]:
        """What was judged."""
        return [part.statement for part in self.parts]

    @property
    def scores(self) -> list[int]:
        """1 for each statement that the contexts support, 0 for the others."""
        return [int(part.state == State.SUPPORTS) for part in self.parts]

    @property
    def score(self) -> float | None:
        """The share of statements that are supported; None where nothing was stated."""
        return sum(self.scores) / len(self.parts) if self.parts else None

    @property
    def errors(self) -> list[str]:
        """Why statements could not be judged."""
        return [part.reason or "unknown error" for part in self.parts if part.state == State.ERROR]

    @property
    def feedback(self) -> str:
        """A line for every statement that is not supported, with the evidence nearest to it."""
        lines = []
        for part in self.parts:
            if part.state != State.SUPPORTS:
                evidence = max(part.evidence, key=lambda sentence: sentence.weight or 0.0, default=None)
                source = f" Evidence: “{evidence.text}”" if evidence else ""
                lines.append(f"{WORDS[part.state]}: {part.statement}{source}")
        return "\n".join(lines) or f"{len(self.parts)} statements, all supported"


def faithfulness(verifier: Verifier, answer: str, contexts: Iterable[str]) -> Faithfulness:
    """Check an answer against the texts it was written from.

    A context is text, never a path: what a retriever found decides nothing about files of this machine.
    """
    texts = [text for text in contexts if text.strip()]
    check = verifier.check(answer, against=texts) if texts else verifier.check(answer, _Nothing())
    return Faithfulness(tuple(part for sentence in check.sentences for part in sentence.parts))


def load_verifier(model: str | Verifier) -> Verifier:
    """A verifier by the name of its model; ``rules`` needs no search by meaning either."""
    if isinstance(model, Verifier):
        return model
    if not isinstance(model, str):
        raise ConfigError(f"model: expected a name or a Verifier, found {type(model).__name__}.")
    return Verifier.load(model, selector="lexical") if model == "rules" else Verifier.load(model)


class _Nothing:
    """A corpus without a sentence."""

    def retrieve(self, claim: str, k: int) -> list[Evidence]:
        """No sentences."""
        return []
