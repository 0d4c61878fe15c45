"""What a judge is: anything that answers examples with verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from adjudge.types import Example, LabelSet, Verdict


class Judge(Protocol):
    """Weighs the evidence of claims. Row models (:class:`RowJudge`) are one family of judges."""

    @property
    def labels(self) -> LabelSet:
        """The labels of its verdicts."""

    @property
    def max_evidence(self) -> int | None:
        """How many sentences of an example it reads, the first ones; None: all of them."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that decides its answers, as plain values: kind, settings, hash of the weights, precision."""

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order. Labels that examples carry are not looked at."""
