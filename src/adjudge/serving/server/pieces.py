"""Pieces of work for the model: what is to be found, what is to be judged, and how many pieces are done together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from adjudge.types import Evidence, Example, LabelSet, Verdict

if TYPE_CHECKING:
    from adjudge.judges.protocol import Judge
    from adjudge.retrieval.pipeline import EvidencePipeline

TYPICAL_SENTENCE = 40
"""Tokens of a sentence that has not been found yet."""

Answer = Literal["evidence", "reading", "verdict"]


@dataclass(frozen=True)
class Work:
    """Examples to answer together.

    Attributes:
        answer: ``evidence`` only finds sentences, ``reading`` asks the judge that reads, ``verdict`` the whole judge.
        examples: claims, with their evidence unless a pipeline is to find it.
        pipeline: where the evidence comes from.
        k: sentences to find.
    """

    answer: Answer
    examples: tuple[Example, ...]
    pipeline: EvidencePipeline | None = None
    k: int = 0

    @property
    def cost(self) -> int:
        """Tokens of all claim–sentence pairs, about."""
        if self.pipeline is not None:
            return sum(self.k * (len(e.claim) // 4 + TYPICAL_SENTENCE) for e in self.examples)
        return sum(
            (len(e.claim) + len(sentence.text) + len(sentence.section or sentence.title)) // 4 + 4
            for e in self.examples
            for sentence in e.evidence or (Evidence(""),)
        )


@dataclass(frozen=True)
class QueuedJudge:
    """The judge that reads, asked through the queue; for threads that check a text."""

    reader: Judge
    ask: Callable[[Work], Sequence[Any]]

    @property
    def labels(self) -> LabelSet:
        """The reader's."""
        return self.reader.labels

    @property
    def max_evidence(self) -> int | None:
        """The reader's."""
        return self.reader.max_evidence

    @property
    def identity(self) -> Mapping[str, Any]:
        """The reader's."""
        return self.reader.identity

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order."""
        batch = tuple(examples)
        return iter(self.ask(Work("reading", batch)) if batch else ())


JudgeFunction = Callable[[Iterable[Example]], Iterator[Verdict]]
Position = tuple[int, int]
"""Of an example: the number of its piece of work, and its position there."""


def carry_out(
    works: Sequence[Work],
    classify: JudgeFunction,
    read: JudgeFunction,
    stage: Callable[[str], AbstractContextManager[None]],
) -> list[list[Any]]:
    """Find all evidence that is to be found, then judge all examples: each corpus and each judge at once.

    Args:
        works: the pieces.
        classify: gives verdicts.
        read: gives those of the judge that reads.
        stage: times a block.

    Returns:
        For each piece what it asked for, one for each of its examples.
    """
    examples = [list(work.examples) for work in works]
    if any(work.pipeline is not None for work in works):
        with stage("retrieval"):
            _find_evidence(works, examples)
    results: list[list[Any]] = [[example.evidence for example in group] for group in examples]
    for answer, judge in (("verdict", classify), ("reading", read)):
        members = [
            (piece, position)
            for piece, work in enumerate(works)
            if work.answer == answer
            for position, example in enumerate(examples[piece])
            if example.evidence or work.pipeline is None
        ]
        verdicts = judge([examples[piece][position] for piece, position in members]) if members else ()
        for (piece, position), verdict in zip(members, verdicts, strict=True):
            results[piece][position] = verdict
    return [_with_empty(*row) for row in zip(works, results, examples, strict=True)]


def _find_evidence(works: Sequence[Work], examples: list[list[Example]]) -> None:
    """Put the evidence into the examples of the works that have a pipeline."""
    groups: dict[Position, tuple[EvidencePipeline, list[Position]]] = {}
    for piece, work in enumerate(works):
        if work.pipeline is not None:
            _, members = groups.setdefault((id(work.pipeline), work.k), (work.pipeline, []))
            members += [(piece, position) for position in range(len(work.examples))]
    for (_, k), (pipeline, members) in groups.items():
        evidence = pipeline.retrieve_many([examples[n][position].claim for n, position in members], k)
        for (piece, position), sentences in zip(members, evidence, strict=True):
            examples[piece][position] = replace(examples[piece][position], evidence=tuple(sentences))


def _with_empty(work: Work, results: list[Any], examples: list[Example]) -> list[Any]:
    """The results of a piece of work, with an answer where no evidence was found."""
    from adjudge.serving.verifier import empty_answer

    if work.answer != "verdict" or work.pipeline is None:
        return results
    pairs = zip(results, examples, strict=True)
    return [
        result if example.evidence else empty_answer(example, work.pipeline.retriever)
        for result, example in pairs
    ]
