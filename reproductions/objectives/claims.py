"""The claims of the experiment on real data, chosen from FEVER's training claims with gold and retrieved sentences.

- For training, 2,400 claims in FEVER's own ratio of classes (55 : 20.5 : 24.5), three sentences each: gold first
  (training shuffles them), then retrieved; for NOT ENOUGH INFO all are retrieved.
- For tuning, 600 claims, as many of each class, that share no entity and no page with those, and that the shipped model
  was not trained on; every other one with its gold sentences, the others with three retrieved ones.

The choice depends on the claims' ids alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from adjudge.data.kgat import TrainingClaim, read_training_claims, write_examples
from adjudge.training.augment import hold_out
from adjudge.types import FEVER_LABELS, Example

TRAIN = {"SUPPORTS": 1321, "REFUTES": 491, "NOT ENOUGH INFO": 588}
TUNE = {"SUPPORTS": 200, "REFUTES": 200, "NOT ENOUGH INFO": 200}
HOLDOUT = 0.045
"""As in the preset default-model."""
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


def write_claims(source: Path, folder: Path) -> tuple[Path, Path]:
    """Choose from ``source``, a file like train.jsonl.gz, and write train.jsonl and tune.jsonl."""
    kept, held = hold_out(list(read_training_claims(source, FEVER_LABELS)), HOLDOUT)
    folder.mkdir(parents=True, exist_ok=True)
    train, tune = folder / "train.jsonl", folder / "tune.jsonl"
    write_examples(train, training(chosen(kept, TRAIN)))
    write_examples(tune, tuning(chosen(held, TUNE)))
    return train, tune
