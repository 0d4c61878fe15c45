"""The claims a run trains on, and those that choose its checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from adjudge.config import DataSettings, RunSettings
from adjudge.data.formats import read_examples
from adjudge.data.kgat import is_gold, read_pages, read_training_claims
from adjudge.errors import ConfigError, DataError, ScoringError
from adjudge.evaluation.records import describe_mismatches, read_gold
from adjudge.io.chunks import chunks
from adjudge.retrieval.pipeline import WINDOW
from adjudge.training.augment import (
    ClaimPool,
    build_claim_pool,
    draw_examples,
    gold_and_retrieved_views,
    hold_out,
)
from adjudge.types import Example, LabelSet


def claims_of(settings: RunSettings) -> tuple[Iterator[Example], Iterator[Example] | None]:
    """(training examples, dev examples or None): as they stand in the files, or drawn as ``[augment]`` says."""
    data, labels = settings.data, settings.data.label_set
    if data.train is None:
        raise ConfigError("data.train is not set: give a file of claims with evidence and labels.")
    dev = None if data.dev is None else dev_claims(data, data.dev)
    if settings.augment is None:
        stands = read_examples(data.train, labels=labels, require_labels=True, field=data.field)
        training = islice(stands, data.limit)
        return (single_sentences(training, labels, data.train) if data.single else training), dev
    if data.single:
        raise ConfigError("data.single and [augment] do not go together: leave one out.")
    train, held_out = claim_pools(settings)
    if dev is None and held_out.claims:
        dev = islice(gold_and_retrieved_views(held_out, settings.augment.sentences), data.dev_limit)
    return draw_examples(train, settings.augment, settings.training.seed), dev


def dev_claims(data: DataSettings, dev: Path) -> Iterator[Example]:
    """The claims of a dev file that choose a checkpoint."""
    claims = islice(read_examples(dev, labels=data.label_set, require_labels=True), data.dev_limit)
    if data.single:  # in the file's order, whose scores say what is gold
        return single_sentences(claims, data.label_set, dev)
    return order_evidence(claims, data.selector)


def claims_to_judge(data: DataSettings) -> Iterator[Example]:
    """The claims of the test file, as a run judges them."""
    read = read_examples(data.test or "", labels=data.label_set, require_labels=True)
    return order_evidence(read, data.selector)


def order_evidence(examples: Iterable[Example], selector: str | None) -> Iterator[Example]:
    """The examples, the sentences of each in a selector's order; as they are without one."""
    if selector is None:
        yield from examples
        return
    from adjudge.retrieval.selectors import load_selector

    selects = load_selector(selector)
    for window in chunks(examples, WINDOW):
        most = max(len(example.evidence) for example in window)
        ordered = selects.select_many([e.claim for e in window], [e.evidence for e in window], most)
        for example, sentences in zip(window, ordered, strict=True):
            yield replace(example, evidence=tuple(sentences))


def single_sentences(examples: Iterable[Example], labels: LabelSet, path: Path) -> Iterator[Example]:
    """Every sentence of a claim as an example: gold ones with the claim's label, others with the neutral one.

    Gold is what has the score 1. A claim that is supported or refuted and shows no gold gives no example: which of its
    sentences decides it is not known. If none of them shows any, the neutral label would be all there is: an error,
    which names ``path``.
    """
    if labels.neutral is None:
        raise ConfigError(
            f"data.single: none of the labels {', '.join(labels)} says that a sentence does not suffice."
        )
    decided, shown = 0, 0  # claims with another label than the neutral one, and those of them that show gold
    for example in examples:
        is_neutral = example.label == labels.neutral
        decided += not is_neutral
        if not is_neutral and not any(map(is_gold, example.evidence)):
            continue
        shown += not is_neutral
        for number, sentence in enumerate(example.evidence):
            label = example.label if is_gold(sentence) else labels.neutral
            yield replace(example, id=f"{example.id}#{number}", evidence=(sentence,), label=label)
    if decided and not shown:
        raise DataError(
            f"{path}: data.single: none of {decided:,} claims with another label than {labels.neutral} has a gold "
            "sentence, expected some with the score 1.0, as KGAT's training files and adjudge assemble --training "
            "write them. Give such a file, or leave data.single out."
        )


def check_test_files(data: DataSettings) -> None:
    """Read the claims to test on and their gold once, so that a training does not find out at its end."""
    if data.test is None:
        return
    tested = [example.id for example in read_examples(data.test, labels=data.label_set, require_labels=True)]
    gold = data.gold or data.test
    lines = describe_mismatches(tested, [truth.id for truth in read_gold(gold, data.label_set)])
    if lines:
        heading = f"{data.test}: the claims do not match those of {gold} one to one."
        raise ScoringError("\n".join([heading, *lines]))


def claim_pools(settings: RunSettings) -> tuple[ClaimPool, ClaimPool]:
    """(training, held-out) claims of a run with ``[augment]``."""
    data = settings.data
    if data.train is None:
        raise ConfigError("data.train is not set: give a file of claims with evidence and labels.")
    pages = {} if data.pages is None else read_pages(data.pages)
    training, held_out = hold_out(list(read_training_claims(data.train, data.label_set)), data.holdout)
    return build_claim_pool(training[: data.limit], pages), build_claim_pool(held_out, pages)
