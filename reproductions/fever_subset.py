"""Write the claims of the experiment on real data: python reproductions/fever_subset.py DATA OUT.

From DATA/train.jsonl.gz, FEVER's training claims with gold and retrieved sentences:

- OUT/train.jsonl: 2,400 claims in FEVER's own ratio of classes (55 : 20.5 : 24.5), three sentences each, gold first
  (training shuffles them), then retrieved; for NOT ENOUGH INFO all are retrieved;
- OUT/tune.jsonl: 600 claims, as many of each class, that share no entity and no page with those; every other one with
  its gold sentences, the others with three retrieved ones.

The choice depends on the claims' ids alone.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from adjudge.data.augment import hold_out
from adjudge.data.kgat import TrainingClaim, read_training_claims, write_examples
from adjudge.types import FEVER_LABELS, Example

TRAIN = {"SUPPORTS": 1321, "REFUTES": 491, "NOT ENOUGH INFO": 588}
TUNE = {"SUPPORTS": 200, "REFUTES": 200, "NOT ENOUGH INFO": 200}
HOLDOUT = 0.045
SENTENCES = 3


def chosen(claims: Sequence[TrainingClaim], counts: Mapping[str, int]) -> list[TrainingClaim]:
    """So many claims of each label, in an order that has nothing to do with the file's."""
    left, found = dict(counts), []
    for claim in sorted(claims, key=lambda claim: hashlib.sha256(str(claim.id).encode()).digest()):
        if left[claim.label]:
            left[claim.label] -= 1
            found.append(claim)
    return found


def training(claims: Sequence[TrainingClaim]) -> Iterator[Example]:
    """Gold sentences first, filled up with retrieved ones."""
    for claim in claims:
        gold = {sentence.text for sentence in claim.gold}
        others = tuple(sentence for sentence in claim.retrieved if sentence.text not in gold)
        yield Example(claim.id, claim.text, (*claim.gold, *others)[:SENTENCES], claim.label)


def tuning(claims: Sequence[TrainingClaim]) -> Iterator[Example]:
    """As the dev files show claims: with gold, or as retrieved."""
    for number, claim in enumerate(claims):
        retrieved = claim.retrieved[:SENTENCES]
        shown = retrieved if number % 2 else claim.gold[:SENTENCES] or retrieved
        yield Example(claim.id, claim.text, shown, claim.label)


def main(data: str, out: str) -> None:
    kept, held = hold_out(list(read_training_claims(Path(data) / "train.jsonl.gz", FEVER_LABELS)), HOLDOUT)
    Path(out).mkdir(parents=True, exist_ok=True)
    write_examples(Path(out) / "train.jsonl", training(chosen(kept, TRAIN)))
    write_examples(Path(out) / "tune.jsonl", tuning(chosen(held, TUNE)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
