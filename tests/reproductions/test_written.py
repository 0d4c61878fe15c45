"""The training material written by hand is what reproductions/README.md says, and shares nothing with the suites."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from adjudge.training.material.passages import read_passages
from adjudge.training.material.written import read_written

REPRODUCTIONS = Path(__file__).parents[2] / "reproductions"
SUITES = (
    "behaviour/cases",
    "ordinary/claims",
    "second/claims",
    "multifile/claims",
    "office/claims",
    "paraphrases/pairs",
)
LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")


def say(counts: Counter[str | None]) -> str:
    labels = ", ".join(f"{counts[label]:,} {label}" for label in LABELS)
    return f"{counts.total():,} claims ({labels})"


def test_its_counts_are_those_of_the_readme() -> None:
    readme = " ".join((REPRODUCTIONS / "README.md").read_text("utf-8").split())
    groups = list(read_written(REPRODUCTIONS / "written"))
    assert f"{len(groups):,} groups of one to three evidence sentences" in readme
    assert say(Counter(example.label for group in groups for example in group)) in readme
    documents = list(read_passages(REPRODUCTIONS / "passages"))
    assert f"{len(documents):,} documents" in readme
    assert say(Counter(claim.label.value for document in documents for claim in document.claims)) in readme


def test_no_claim_or_sentence_of_a_suite_is_trained_on() -> None:
    def normal(text: str) -> str:
        return " ".join(re.findall(r"\w+", text.casefold()))

    written: set[str] = set()
    for group in read_written(REPRODUCTIONS / "written"):
        written |= {normal(example.claim) for example in group}
        written |= {normal(sentence.text) for sentence in group[0].evidence}
    for document in read_passages(REPRODUCTIONS / "passages"):
        written |= {normal(text) for text in document.sentences}
        written |= {normal(claim.text) for claim in document.claims}
    for suite in SUITES:
        for line in (REPRODUCTIONS / f"{suite}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            texts = [case["claim"], *case.get("evidence", ()), case.get("sentence", "")]
            texts += [s if isinstance(s, str) else s["sentence"] for s in case.get("sentences", ())]
            assert not written & {normal(text) for text in texts if text}, case["id"]
    for path in (REPRODUCTIONS / "texts").rglob("*.txt"):
        for line in path.read_text("utf-8").splitlines():
            assert normal(line.rpartition("|")[2]) not in written - {""}, (path.name, line)
