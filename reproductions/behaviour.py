"""Run the behaviour suite and print it as a Markdown table: python reproductions/behaviour.py [MODEL].

Twice: with three sentences of the right page given, and end to end over an index of all pages.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from adjudge import Verifier
from adjudge.data.behaviour import Case, cases, pages
from adjudge.experiments.behaviour import behaviour, with_evidence
from adjudge.retrieval.build import index_pages
from adjudge.types import Verdict


def main(model: str | None = None) -> None:
    verifier = Verifier.load(model)
    suite = list(cases())

    def given(chosen: Sequence[Case]) -> Iterable[Verdict]:
        return verifier.classify_many(with_evidence(chosen))

    with tempfile.TemporaryDirectory() as folder:
        index_pages(pages(), Path(folder) / "index")

        def found(chosen: Sequence[Case]) -> Iterable[Verdict]:
            return verifier.verify_many([case.claim for case in chosen], Path(folder) / "index")

        print("| phenomenon | expected | claims | evidence given | end to end |\n|---|---|--:|--:|--:|")
        pairs = zip(behaviour(suite, given), behaviour(suite, found), strict=True)
        for one, other in pairs:
            expected = next(case.claim.label for case in suite if case.phenomenon == one.phenomenon)
            shares = f"{100 * one.share:.0f}% | {100 * other.share:.0f}%"
            print(f"| {one.phenomenon} | {expected} | {one.claims} | {shares} |")


if __name__ == "__main__":
    main(*sys.argv[1:2])
