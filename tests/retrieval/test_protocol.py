"""A user's own search engine behind the protocol of many claims."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from adjudge.errors import ConfigError
from adjudge.retrieval import LexicalSelector, as_retriever, as_selector, retrieve, select
from adjudge.types import Evidence


class Echo:
    """Finds the claim itself, once for each of the sentences wanted."""

    def retrieve(self, claim: str, k: int) -> tuple[Evidence, ...]:
        return tuple(Evidence(f"{claim} {n}") for n in range(k))


class Last:
    """Keeps the last candidate."""

    identity = {"kind": "last"}

    def select(self, claim: str, candidates: Sequence[Evidence], k: int) -> Sequence[Evidence]:
        return candidates[-1:]


def test_a_retriever_of_single_claims_is_asked_for_each() -> None:
    retriever = as_retriever(Echo())
    assert retriever.retrieve_many(["a", "b"], 2) == [
        [Evidence("a 0"), Evidence("a 1")],
        [Evidence("b 0"), Evidence("b 1")],
    ]
    assert retrieve(retriever, "a", 1) == [Evidence("a 0")]
    assert retriever.identity == {"kind": "Echo"}


def test_a_selector_of_single_claims_is_asked_for_each() -> None:
    selector = as_selector(Last())
    candidates = [[Evidence("a"), Evidence("b")], []]
    assert selector.select_many(["x", "y"], candidates, 5) == [[Evidence("b")], []]
    assert select(selector, "x", candidates[0], 5) == [Evidence("b")]
    assert selector.identity == {"kind": "last"}


def test_what_already_takes_many_claims_stays_as_it_is() -> None:
    selector = LexicalSelector()
    assert as_selector(selector) is selector


def test_anything_else_is_refused_by_its_type() -> None:
    with pytest.raises(ConfigError, match="dict has neither retrieve_many nor retrieve"):
        as_retriever({})  # type: ignore[arg-type]
