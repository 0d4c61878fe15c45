"""What the rest of the house asks of a retriever and of a selector: both work on many claims at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from adjudge.errors import ConfigError
from adjudge.types import Evidence


class Retriever(Protocol):
    """Finds sentences that may decide a claim."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides its answers: kind, settings, content."""
        ...

    def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        """For each claim at most ``k`` sentences, best first; none is an answer."""
        ...


class Selector(Protocol):
    """Keeps a few of the sentences that a retriever proposes."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides its answers: kind, settings, and where a model scores, its weights."""
        ...

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """For each claim at most ``k`` of its candidates, best first, ``Evidence.score`` what ranked them."""
        ...


class SingleRetriever(Protocol):
    """The least that a user's own retriever must have."""

    def retrieve(self, claim: str, k: int) -> Sequence[Evidence]:
        """At most ``k`` sentences for one claim, best first."""
        ...


class SingleSelector(Protocol):
    """The least that a user's own selector must have."""

    def select(self, claim: str, candidates: Sequence[Evidence], k: int) -> Sequence[Evidence]:
        """At most ``k`` of the candidates of one claim, best first."""
        ...


def retrieve(retriever: Retriever, claim: str, k: int) -> list[Evidence]:
    """The sentences for one claim."""
    return retriever.retrieve_many([claim], k)[0]


def select(selector: Selector, claim: str, candidates: Sequence[Evidence], k: int) -> list[Evidence]:
    """The selection for one claim."""
    return selector.select_many([claim], [candidates], k)[0]


@dataclass(frozen=True)
class OneByOne:
    """A user's retriever or selector for single claims, asked once for each claim."""

    wrapped: Any

    @property
    def identity(self) -> Mapping[str, Any]:
        """The wrapped object's own identity where it has one, else its type."""
        return getattr(self.wrapped, "identity", {"kind": type(self.wrapped).__name__})

    def retrieve_many(self, claims: Sequence[str], k: int) -> list[list[Evidence]]:
        """``retrieve`` for each claim."""
        return [list(self.wrapped.retrieve(claim, k)) for claim in claims]

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """``select`` for each claim."""
        pairs = zip(claims, candidates, strict=True)
        return [list(self.wrapped.select(claim, sentences, k)) for claim, sentences in pairs]


def as_retriever(value: Retriever | SingleRetriever) -> Retriever:
    """The object itself, or an adapter for one that has only ``retrieve(claim, k)``."""
    return cast("Retriever", _adapt(value, "retrieve"))


def as_selector(value: Selector | SingleSelector) -> Selector:
    """The object itself, or an adapter for one that has only ``select(claim, candidates, k)``."""
    return cast("Selector", _adapt(value, "select"))


def _adapt(value: Any, method: str) -> Any:
    if hasattr(value, f"{method}_many"):
        return value
    if hasattr(value, method):
        return OneByOne(value)
    raise ConfigError(
        f"{type(value).__name__} has neither {method}_many nor {method}; see adjudge.retrieval.protocol."
    )
