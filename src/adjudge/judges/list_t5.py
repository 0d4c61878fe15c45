"""LisT5's verdict: a sequence-to-sequence model reads the claim with its list of sentences and writes a label."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from adjudge.data.text import clean_text, evidence_title
from adjudge.encoders.rows import Cut
from adjudge.encoders.seq2seq import Seq2Seq
from adjudge.judges.verdicts import Answer, cut_in_text, verdict_of
from adjudge.types import FEVER_LABELS, Example, LabelSet, Verdict

MOST_EVIDENCE = 5


@dataclass(frozen=True)
class ListT5Judge:
    """P(label) ∝ P(the model writes it | claim, list of sentences)."""

    model: Seq2Seq
    labels: LabelSet = FEVER_LABELS
    max_evidence: ClassVar[int] = MOST_EVIDENCE

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's, and the labels."""
        return {"kind": "list-t5", "model": self.model.identity, "labels": list(self.labels)}

    def judge(self, examples: Iterable[Example]) -> Iterator[Verdict]:
        """A verdict for each example, in order."""
        options = [self.model.encode(name.lower()) for name in self.labels]
        for example in examples:
            [scores] = self.model.score([verdict_text(example)], [options])
            highest = max(scores)
            shares = [math.exp(score - highest) for score in scores]
            answer = Answer([share / math.fsum(shares) for share in shares])
            yield verdict_of(example, answer, self.labels, MOST_EVIDENCE, self._cut(example))

    def _cut(self, example: Example) -> Cut:
        sentences = example.evidence[:MOST_EVIDENCE]
        return cut_in_text(
            lambda n: verdict_text(replace(example, evidence=sentences[:n])),
            self.model.reads_all,
            len(sentences),
        )


def verdict_text(example: Example) -> str:
    """What the model reads: the claim, then its sentences in order."""
    listed = [
        f"evidence {number}: "
        + " - ".join(filter(None, (evidence_title(sentence), clean_text(sentence.text))))
        for number, sentence in enumerate(example.evidence[:MOST_EVIDENCE], start=1)
    ]
    return " ".join([f"claim: {clean_text(example.claim)}", *listed])


def load_list_t5(
    source: str, device: Any = "cpu", class_names: Mapping[str, str] | None = None
) -> ListT5Judge:
    """The judge on a model of the hub or a folder, trained to write the labels in small letters."""
    return ListT5Judge(Seq2Seq(source, device))
