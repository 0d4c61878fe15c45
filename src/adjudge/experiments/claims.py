"""The claims a run trains on, and those that choose its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from adjudge.config import DataSettings, RunSettings
from adjudge.data.augment import Source, augmented, hold_out, source, views
from adjudge.data.kgat import read_pages, read_training_claims
from adjudge.data.readers import read_examples_any
from adjudge.errors import ConfigError
from adjudge.types import Example


def claims_of(settings: RunSettings) -> tuple[Iterator[Example], Iterator[Example] | None]:
    """(training examples, dev examples or None): as they stand in the files, or drawn as ``[augment]`` says."""
    data, labels = settings.data, settings.data.label_set
    if data.train is None:
        raise ConfigError("data.train is not set: give a file of claims with evidence and labels.")
    dev = None if data.dev is None else dev_claims(data, data.dev)
    if settings.augment is None:
        stands = read_examples_any(data.train, labels=labels, require_labels=True, field=data.field)
        return islice(stands, data.limit), dev
    train, held = sources(settings)
    if dev is None and held.claims:
        dev = islice(views(held, settings.augment.sentences), data.dev_limit)
    return augmented(train, settings.augment, settings.training.seed), dev


def dev_claims(data: DataSettings, dev: Path) -> Iterator[Example]:
    """The claims of a dev file that choose a checkpoint."""
    return islice(read_examples_any(dev, labels=data.label_set, require_labels=True), data.dev_limit)


def sources(settings: RunSettings) -> tuple[Source, Source]:
    """(training, held-out) claims of a run with ``[augment]``."""
    data = settings.data
    if data.train is None:
        raise ConfigError("data.train is not set: give a file of claims with evidence and labels.")
    pages = {} if data.pages is None else read_pages(data.pages)
    kept, held = hold_out(list(read_training_claims(data.train, data.label_set)), data.holdout)
    return source(kept[: data.limit], pages), source(held, pages)
