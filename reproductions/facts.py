"""How often the comparison of facts fires, and how often it is right: python reproductions/facts.py --data DATA.

On pairs of a claim and its evidence: of all SUPPORTS pairs the share with a fact that is called different (false
alarms), of all REFUTES pairs the share (found), and of all pairs with such a fact the share of REFUTES (precision).
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import islice
from pathlib import Path

from adjudge.data.formats import read_examples
from adjudge.facts.compare import compare
from adjudge.facts.records import Kind, Outcome
from fit_mix import cleaned

SETS = ("pairs/dev/vitaminc.jsonl.gz", "pairs/dev/fm2.jsonl.gz", "fever/dev_gold.jsonl.gz")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--most", type=int, default=2000)
    arguments = parser.parse_args()
    for name in SETS:
        pairs: Counter[str] = Counter()
        fired: dict[str, Counter[str]] = {"values": Counter(), "names": Counter(), "either": Counter()}
        for example in islice(read_examples(arguments.data / name, require_labels=True), arguments.most):
            example = cleaned(example)
            label = str(example.label)
            pairs[label] += 1
            different = [
                c for c in compare(example.claim, example.evidence) if c.outcome is Outcome.DIFFERENT
            ]
            kinds = {"names" if c.fact.kind in (Kind.NAME, Kind.QUOTE) else "values" for c in different}
            for kind in kinds | ({"either"} if kinds else set()):
                fired[kind][label] += 1
        print(f"{name}: {dict(pairs)}")
        for kind, labels in fired.items():
            false, found = (labels[label] / max(pairs[label], 1) for label in ("SUPPORTS", "REFUTES"))
            precision = labels["REFUTES"] / max(labels.total(), 1)
            print(f"  {kind}: false alarms {false:.1%}, found {found:.1%}, precision {precision:.1%}")


if __name__ == "__main__":
    main()
