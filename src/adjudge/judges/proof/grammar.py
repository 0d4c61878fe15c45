"""What a sequence-to-sequence model may write: proofs whose spans stand in the claim and in its evidence.

A proof is written as ``{ claim span } [ evidence span ] OPERATOR`` steps, left to right over the claim. The grammar
works on token ids: it knows every span's tokens, follows what was written so far, and says which tokens may come next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from adjudge.facts.words import NEGATIONS, Word, is_content, words_of
from adjudge.judges.proof.logic import Operator
from adjudge.judges.proof.spans import MOST_WORDS
from adjudge.judges.proof.training import NAMES, Proof
from adjudge.types import ProofStep, Span

NOTHING = "nothing"
"""Written in place of a span where no sentence speaks about a part of the claim."""

Encode = Callable[[str], list[int]]
"""Text → token ids, no special ones."""


@dataclass(frozen=True)
class _Piece:
    """Something that can be written whole, and what it says."""

    ids: tuple[int, ...]
    claim: Span | None = None
    sentence: int | None = None
    evidence: Span | None = None
    operator: Operator | None = None


@dataclass(frozen=True)
class _Thread:
    """One way to read what was written: a piece begun, the step it belongs to, and the steps before."""

    piece: _Piece
    offset: int
    claim: Span | None
    sentence: int | None
    evidence: Span | None
    steps: tuple[ProofStep, ...]


class ProofGrammar:
    """The proofs of one claim over its evidence.

    Args:
        claim: the claim.
        sentences: the texts of its evidence.
        encode: how the model writes text as tokens.
        end: the token that ends a proof.
    """

    def __init__(self, claim: str, sentences: Sequence[str], encode: Encode, end: int) -> None:
        self.end = end
        opened, middle, closed = "{", "} [", "]"
        self._claims = [
            _Piece(tuple(encode(f"{opened} {claim[slice(*span)]} {middle}")), claim=span)
            for span in spans_of(claim)
        ]
        self._evidence = [
            _Piece(tuple(encode(f"{text[slice(*span)]} {closed}")), sentence=number, evidence=span)
            for number, text in enumerate(sentences)
            for span in spans_of(text)
        ] + [_Piece(tuple(encode(f"{NOTHING} {closed}")))]
        self._operators = [_Piece(tuple(encode(name)), operator=op) for op, name in NAMES.items()]

    def allowed(self, written: Sequence[int]) -> list[int]:
        """The tokens that may follow; the end where a step is whole, and alone where nothing else may."""
        threads, whole, _ = self._follow(written)
        tokens = {thread.piece.ids[thread.offset] for thread in threads}
        return sorted(tokens | ({self.end} if whole or not tokens else set()))

    def read(self, written: Sequence[int]) -> tuple[ProofStep, ...]:
        """The steps of what was written, up to the last whole one; of several readings the first."""
        return self._follow(written)[2]

    def _follow(self, written: Sequence[int]) -> tuple[list[_Thread], bool, tuple[ProofStep, ...]]:
        """The threads after what was written, whether a step is whole there, and the longest proof of whole steps."""
        threads, whole = list(self._begin_claims((), 0)), False
        longest: tuple[ProofStep, ...] = ()
        for token in written:
            if token == self.end:
                break
            following: list[_Thread] = []
            whole = False
            for thread in threads:
                if thread.piece.ids[thread.offset] != token:
                    continue
                if thread.offset + 1 < len(thread.piece.ids):
                    following.append(replace(thread, offset=thread.offset + 1))
                elif (steps := _whole_steps(thread)) is not None:
                    whole = True
                    longest = max(longest, steps, key=len)
                    following += self._begin_claims(steps, steps[-1].claim.end)
                else:
                    following += self._continue(thread)
            threads = following
        return threads, whole, longest

    def _continue(self, thread: _Thread) -> Iterator[_Thread]:
        """After a span of the claim comes one of the evidence, after that an operator."""
        piece = thread.piece
        if piece.claim is not None:
            for evidence in self._evidence:
                yield _Thread(evidence, 0, piece.claim, None, None, thread.steps)
        else:
            for operator in self._operators:
                yield _Thread(operator, 0, thread.claim, piece.sentence, piece.evidence, thread.steps)

    def _begin_claims(self, steps: tuple[ProofStep, ...], start: int) -> Iterator[_Thread]:
        for piece in self._claims:
            if piece.claim is not None and piece.claim.start >= start:
                yield _Thread(piece, 0, None, None, None, steps)


def _whole_steps(thread: _Thread) -> tuple[ProofStep, ...] | None:
    """The steps of a proof to which an operator was just added; None where another piece was."""
    if thread.piece.operator is None or thread.claim is None:
        return None
    step = ProofStep(thread.claim, thread.piece.operator.value, thread.evidence, thread.sentence)
    return (*thread.steps, step)


def spans_of(text: str) -> list[Span]:
    """Every span of up to seven words that are not common words alone."""
    words = words_of(text)
    return [
        Span(words[first].start, words[last - 1].end)
        for first in range(len(words))
        for last in range(first + 1, min(first + MOST_WORDS, len(words)) + 1)
        if any(map(_says, words[first:last]))
    ]


def _says(word: Word) -> bool:
    return is_content(word) or word.text.casefold() in NEGATIONS


def source_text(claim: str, sentences: Sequence[str]) -> str:
    """What a model reads: the claim, then its evidence."""
    return " ".join([f"claim: {claim}", *(f"evidence {n}: {text}" for n, text in enumerate(sentences, 1))])


def target_text(proof: Proof) -> str:
    """A training proof as a model is to write it."""
    parts = []
    for step, operator in zip(proof.steps, proof.operators, strict=True):
        sentence = None if step.sentence is None else proof.example.evidence[step.sentence].text
        span = NOTHING if sentence is None or step.span is None else sentence[slice(*step.span)]
        chunk = proof.example.claim[slice(*step.chunk)]
        parts.append(f"{{ {chunk} }} [ {span} ] {NAMES[operator]}")
    return " ".join(parts)
