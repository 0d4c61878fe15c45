"""Run the behaviour suite and print it as a Markdown table: python reproductions/behaviour.py [MODEL].

Twice: with three sentences of the right page given, and end to end over an index of all pages.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adjudge import Verifier
from adjudge.retrieval.build import index_pages
from adjudge.types import Example, Verdict
from behaviour_suite import EXPECTED, Case, cases, pages


@dataclass(frozen=True)
class Behaviour:
    """How often the claims of a phenomenon got the answer expected, and what they got."""

    phenomenon: str
    claims: int
    right: int
    answers: dict[str, int]

    @property
    def share(self) -> float:
        """Right answers among the claims."""
        return self.right / self.claims


def examples_of(cases: Iterable[Case]) -> list[Example]:
    """The cases as examples: three sentences of the claim's page, the deciding one among them."""
    return [Example(case.claim.id, case.claim.text, case.evidence(), case.claim.label) for case in cases]


def measure(cases: Sequence[Case], judge: Callable[[Sequence[Case]], Iterable[Verdict]]) -> list[Behaviour]:
    """Judge the cases and count by phenomenon, in the suite's order.

    Finding nothing is what a verifier should do where NOT ENOUGH INFO is expected.
    """
    answers = {phenomenon: Counter[str]() for phenomenon in EXPECTED}
    for case, verdict in zip(cases, judge(cases), strict=True):
        nothing = verdict.label is None
        answers[case.phenomenon]["NOT ENOUGH INFO" if nothing else verdict.answer] += 1
    return [
        Behaviour(phenomenon, counts.total(), counts[EXPECTED[phenomenon]], dict(counts))
        for phenomenon, counts in answers.items()
        if counts
    ]


def main(model: str | None = None) -> None:
    verifier = Verifier.load(model)
    suite = list(cases())

    def judge_given(suite: Sequence[Case]) -> Iterable[Verdict]:
        return verifier.classify_many(examples_of(suite))

    with tempfile.TemporaryDirectory() as folder:
        index_pages(pages(), Path(folder) / "index")

        def judge_found(suite: Sequence[Case]) -> Iterable[Verdict]:
            return verifier.verify_many([case.claim for case in suite], Path(folder) / "index")

        print("| phenomenon | expected | claims | evidence given | end to end |\n|---|---|--:|--:|--:|")
        for given, searched in zip(measure(suite, judge_given), measure(suite, judge_found), strict=True):
            shares = f"{100 * given.share:.0f}% | {100 * searched.share:.0f}%"
            print(f"| {given.phenomenon} | {EXPECTED[given.phenomenon]} | {given.claims} | {shares} |")


if __name__ == "__main__":
    main(*sys.argv[1:2])
