"""Measure a model on the hand-written suites: python reproductions/suites.py [--model MODEL] [SUITE …].

behaviour    cases with their sentences given
ordinary     claims over a folder of ordinary documents, end to end
second       such claims over other documents, written later
multifile    claims that need two files, or the sentence before a pronoun, end to end
office       claims that need a cell, the sentence before a pronoun, two files or a paraphrase, over office files
paraphrases  is the one sentence that shares no word with the claim among the first five?

A claim is right, turned round (SUPPORTS for REFUTES or the reverse) or something else. Where the suite names the
deciding sentences, `found` says for how many claims all of them were among the evidence. Documents are searched as
`adjudge verify --corpus FOLDER` searches them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge import Evidence, Example, Verdict, Verifier

HERE = Path(__file__).parent
OPPOSITE = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}


@dataclass
class Tally:
    claims: int = 0
    right: int = 0
    turned: int = 0
    found: int = 0

    def add(self, case: dict[str, Any], verdict: Verdict) -> None:
        self.claims += 1
        self.right += verdict.label == case["label"]
        self.turned += verdict.label == OPPOSITE.get(case["label"], "")
        texts = " ".join(sentence.text for sentence in verdict.evidence)
        self.found += all(sentence in texts for sentence in deciding_sentences(case))


def deciding_sentences(case: dict[str, Any]) -> list[str]:
    """The texts that decide a claim, where the suite names them: plain, or with their document."""
    return [item if isinstance(item, str) else item["sentence"] for item in case.get("sentences", ())]


def read(name: str) -> list[dict[str, Any]]:
    with (HERE / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def behaviour(verifier: Verifier) -> Iterable[tuple[dict[str, Any], Verdict]]:
    cases = read("behaviour/cases.jsonl")
    examples = (
        Example(
            case["id"],
            case["claim"],
            tuple(Evidence(text, title=case.get("title", "")) for text in case["evidence"]),
        )
        for case in cases
    )
    return zip(cases, verifier.classify_many(examples), strict=True)


def over_documents(verifier: Verifier, suite: str) -> Iterable[tuple[dict[str, Any], Verdict]]:
    cases = read(f"{suite}/claims.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        # A copy: a folder given as a corpus keeps its index in itself.
        corpus = shutil.copytree(HERE / suite / "documents", Path(folder) / "documents")
        verdicts = list(verifier.verify_many([case["claim"] for case in cases], corpus))
    return zip(cases, verdicts, strict=True)


def paraphrases(verifier: Verifier) -> Iterable[tuple[dict[str, Any], Verdict]]:
    cases = [
        {**case, "kind": "paraphrase", "sentences": [case["sentence"]]}
        for case in read("paraphrases/pairs.jsonl")
    ]
    distractors = (HERE / "paraphrases" / "distractors.txt").read_text("utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        # One sentence a file: no sentence has a neighbour or a title that could help to find it.
        for number, text in enumerate([*(case["sentence"] for case in cases), *filter(None, distractors)]):
            (corpus / f"{number:04}.txt").write_text(f"{text}\n", "utf-8")
        verdicts = list(verifier.verify_many([case["claim"] for case in cases], corpus))
    return zip(cases, verdicts, strict=True)


SUITES = {
    "behaviour": behaviour,
    "ordinary": lambda verifier: over_documents(verifier, "ordinary"),
    "second": lambda verifier: over_documents(verifier, "second"),
    "multifile": lambda verifier: over_documents(verifier, "multifile"),
    "office": lambda verifier: over_documents(verifier, "office"),
    "paraphrases": paraphrases,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; all by default")
    parser.add_argument("--model", help="what adjudge verify --model takes; the package's own by default")
    parser.add_argument("--selector", default="fusion", help="what adjudge verify --selector takes")
    parser.add_argument("--show", action="store_true", help="print every claim that is not right")
    options = parser.parse_args()
    unknown = set(options.suites) - set(SUITES)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(SUITES)}")
    verifier = Verifier.load(options.model, selector=options.selector)
    for suite in options.suites or SUITES:
        tallies: dict[str, Tally] = defaultdict(Tally)
        for case, verdict in SUITES[suite](verifier):
            tallies[case["kind"]].add(case, verdict)
            tallies["all"].add(case, verdict)
            if options.show and verdict.label != case["label"]:
                print(
                    f"  {case['id']}: {case['label']} -> {verdict.answer} {verdict.confidence:.2f}: {case['claim']}"
                )
        print(f"\n{suite}\n\n| kind | claims | right | turned round | found |\n|---|--:|--:|--:|--:|")
        for kind in [*(kind for kind in tallies if kind != "all"), "all"]:
            tally = tallies[kind]
            shares = " | ".join(
                f"{100 * n / tally.claims:.0f}%" for n in (tally.right, tally.turned, tally.found)
            )
            print(f"| {kind} | {tally.claims} | {shares} |")


if __name__ == "__main__":
    main()
