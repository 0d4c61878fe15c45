"""A judge and a search that are easily foreseen, to check texts with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from adjudge.facts.words import content_stems
from adjudge.types import FEVER_LABELS, Evidence, Example, LabelSet, Verdict

DOCUMENT = (
    "The Vel bridge was opened in 1932 by mayor Otto Brandt.",
    "The Vel bridge is 120 metres long and has three arches.",
    "The library holds 48,000 volumes.",
)


class WordJudge:
    """SUPPORTS where one sentence has all content words of a claim; REFUTES where one has "not"; else the third."""

    max_evidence = None
    labels: LabelSet = FEVER_LABELS
    identity: Mapping[str, Any] = {"kind": "words"}

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        for example in examples:
            claim = content_stems(example.claim)
            if any(claim <= content_stems(sentence.text) for sentence in example.evidence):
                shares = (0.9, 0.05, 0.05)
            elif any(" not " in sentence.text for sentence in example.evidence):
                shares = (0.05, 0.9, 0.05)
            else:
                shares = (0.05, 0.05, 0.9)
            probabilities = dict(zip(FEVER_LABELS, shares, strict=True))
            label = max(probabilities, key=lambda name: probabilities[name])
            yield Verdict(example.id, example.claim, label, probabilities, example.evidence)


class FailingJudge(WordJudge):
    """Fails on claims that have a certain word."""

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        every = list(examples)
        if any("explode" in example.claim for example in every):
            raise RuntimeError("out of memory")
        return super().judge(every)


def find_evidence(claims: Sequence[str]) -> list[list[Evidence]]:
    """The sentences of the document that share a content word with a claim."""
    sentences = [Evidence(text, "doc.md", line, source="doc.md") for line, text in enumerate(DOCUMENT)]
    return [[s for s in sentences if content_stems(s.text) & content_stems(claim)] for claim in claims]
