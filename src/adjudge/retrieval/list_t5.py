"""LisT5's selection: a sequence-to-sequence model reads the claim with all candidates and writes which matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adjudge.data.text import clean_text, evidence_title
from adjudge.encoders.seq2seq import Seq2Seq
from adjudge.retrieval import protocol
from adjudge.types import Evidence

TOKENS_OF_A_NUMBER = 8
"""More than any position and its comma take."""


@dataclass(frozen=True)
class ListT5Selector:
    """Keeps the sentences whose positions the model writes, in its order; then the others in theirs.

    The model may write nothing but different positions of the list, at most as many as are kept. A sentence's score is
    1 for the first, falling by equal steps to 0 for the last of the list.
    """

    model: Seq2Seq

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's."""
        return {"kind": "list-t5", "model": self.model.identity}

    select = protocol.select

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """At most ``k`` sentences of each list."""
        return [
            self._select(claim, sentences, k) if sentences and k > 0 else []
            for claim, sentences in zip(claims, candidates, strict=True)
        ]

    def _select(self, claim: str, sentences: Sequence[Evidence], k: int) -> list[Evidence]:
        grammar = _Positions([tuple(self.model.encode(f"{n},")) for n in range(1, len(sentences) + 1)], k)
        [(written, _)] = self.model.generate(
            [list_text(claim, sentences)],
            lambda _, ids: grammar.allowed(ids) or [self.model.end],
            TOKENS_OF_A_NUMBER * k,
        )
        marked = grammar.read(written)
        order = [*marked, *(n for n in range(len(sentences)) if n not in marked)]
        step = 1.0 / max(len(order) - 1, 1)
        return [replace(sentences[n], score=1.0 - rank * step) for rank, n in enumerate(order[:k])]


@dataclass(frozen=True)
class _Positions:
    """Different positions one after another, as tokens."""

    pieces: Sequence[tuple[int, ...]]
    most: int

    def allowed(self, written: Sequence[int]) -> list[int]:
        """The tokens that may follow; none where the list is full."""
        tokens = set()
        for marked, begun in self._readings(written):
            if len(marked) < self.most:
                for number, piece in enumerate(self.pieces):
                    if number not in marked and piece[: len(begun)] == begun and len(piece) > len(begun):
                        tokens.add(piece[len(begun)])
        return sorted(tokens)

    def read(self, written: Sequence[int]) -> tuple[int, ...]:
        """The positions written, counted from 0; what was cut off is left out."""
        return max((marked for marked, _ in self._readings(written)), key=len, default=())

    def _readings(self, written: Sequence[int]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """(positions marked, tokens of the one begun), for every way to read what was written."""
        readings: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
        for token in written:
            following: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
            for marked, begun in readings:
                tokens = (*begun, token)
                for number, piece in enumerate(self.pieces):
                    if number not in marked and piece == tokens:
                        following.append(((*marked, number), ()))
                if any(piece[: len(tokens)] == tokens and len(piece) > len(tokens) for piece in self.pieces):
                    following.append((marked, tokens))
            readings = following
        return readings


def list_text(claim: str, sentences: Sequence[Evidence]) -> str:
    """What the model reads: the claim, then the numbered sentences with their titles."""
    listed = [
        f"{number}: {' - '.join(filter(None, (evidence_title(sentence), clean_text(sentence.text))))}"
        for number, sentence in enumerate(sentences, start=1)
    ]
    return " ".join([f"claim: {clean_text(claim)}", *listed])
