"""What the rest of the house asks of a retriever."""

from __future__ import annotations

from typing import Protocol

from adjudge.types import Evidence


class Retriever(Protocol):
    """Finds sentences that may decide a claim."""

    def retrieve(self, claim: str, k: int) -> list[Evidence]:
        """At most ``k`` sentences, best first; none is an answer."""
        ...
