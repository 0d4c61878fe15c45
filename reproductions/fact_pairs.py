"""The comparison of facts on small pairs of our own: python reproductions/fact_pairs.py [FILE].

Each line of the file has a kind, the outcome that is right, the fact of the claim, the claim and its evidence
(sentences parted by `||`). `quiet` asks that nothing be called different. The rules were written with
reproductions/texts/tuning/facts.tsv in view: its figures say what the rules cover, not how well they do elsewhere.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

from adjudge.facts.compare import compare
from adjudge.facts.records import Comparison, Outcome
from adjudge.types import Evidence

HERE = Path(__file__).parent / "texts" / "tuning" / "facts.tsv"
SEPARATOR = "||"


def outcome_of(comparisons: list[Comparison], claim: str, fact: str) -> str:
    """What the comparison says of the facts that overlap the words ``fact`` of a claim: the worst of them."""
    start = claim.index(fact)
    outcomes = {
        c.outcome for c in comparisons if c.fact.start < start + len(fact) and start < c.fact.end or not fact
    }
    for outcome in (Outcome.DIFFERENT, Outcome.OPEN, Outcome.ABSENT, Outcome.EQUAL):
        if outcome in outcomes:
            return str(outcome)
    return "no fact"


def is_right(right: str, outcome: str) -> bool:
    return outcome != Outcome.DIFFERENT if right == "quiet" else outcome == right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=HERE)
    parser.add_argument("--show", action="store_true", help="print the pairs that came out wrong")
    arguments = parser.parse_args()
    right: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    different: Counter[str] = Counter()
    with arguments.file.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            evidence = [Evidence(text.strip()) for text in row["evidence"].split(SEPARATOR)]
            outcome = outcome_of(list(compare(row["claim"], evidence)), row["claim"], row["fact"])
            good = is_right(row["outcome"], outcome)
            for key in (row["kind"], "all"):
                pairs[key] += 1
                right[key] += good
            wanted = row["outcome"] == Outcome.DIFFERENT
            different[
                f"{'wrong' if wanted else 'right'} value, {'called' if outcome == 'different' else 'not called'}"
            ] += 1
            if arguments.show and not good:
                wrong = f"{row['outcome']} → {outcome}: [{row['fact']}]"
                print(f"  {row['kind']:8s} {wrong} {row['claim']}  « {row['evidence']}")
    print(", ".join(f"{kind} {right[kind]}/{pairs[kind]}" for kind in pairs))
    print(", ".join(f"{key} different: {count}" for key, count in sorted(different.items())))


if __name__ == "__main__":
    main()
