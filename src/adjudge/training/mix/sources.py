"""The sources of a mix: each gives groups of examples to train on, and groups held out."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adjudge.data.formats import read_examples
from adjudge.data.kgat import read_pages, read_training_claims
from adjudge.data.text import evidence_title
from adjudge.errors import ConfigError, DataError
from adjudge.io.jsonl import read_json_lines
from adjudge.training.augment import build_claim_pool, draw_examples, gold_and_retrieved_views, hold_out
from adjudge.training.entities import is_in_share
from adjudge.training.material.documents import document_groups
from adjudge.training.material.passages import Document, passage_views, read_passages
from adjudge.training.material.sentences import select_usable, sentence_groups
from adjudge.training.material.text import name_of_file
from adjudge.training.material.written import read_written
from adjudge.training.mix.settings import MixSettings, MixSource
from adjudge.types import FEVER_LABELS, Example

Group = list[Example]
"""Examples that share a claim or its evidence."""
Split = tuple[list[Group], list[Group]]
"""(groups to train on, groups held out)."""

LARGEST_GROUP = 6
EXAMPLES_OF_FACT = 3
"""A fact of ordinary documents gives a claim of every label."""


def read_groups(source: MixSource, settings: MixSettings, data: Sequence[Path], wanted: int) -> Split:
    """The groups of a source, enough for about ``wanted`` examples."""
    return _KINDS[source.kind](source, settings, data, wanted)


def group_examples(examples: Sequence[Example]) -> list[Group]:
    """Examples that share a claim or their sentences, directly or by others, together."""
    parent = list(range(len(examples)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[tuple[str, ...], int] = {}
    for index, example in enumerate(examples):
        for key in (("claim", example.claim), ("evidence", *(s.text for s in example.evidence))):
            parent[root(index)] = root(first.setdefault(key, index))
    groups: dict[int, Group] = {}
    for index, example in enumerate(examples):
        groups.setdefault(root(index), []).append(example)
    return list(groups.values())


def _pairs(source: MixSource, settings: MixSettings, data: Sequence[Path], wanted: int) -> Split:
    files = (
        read_examples(locate(data, path), labels=FEVER_LABELS, require_labels=True) for path in source.paths
    )
    examples = [example for file in files for example in file if example.evidence]
    if source.without:
        pattern = re.compile(source.without, re.IGNORECASE)
        examples = [e for e in examples if not any(pattern.search(s.text) for s in e.evidence)]
    training, held_out = _split(group_examples(examples), source.held_out)
    return _cut(training), _cut(held_out)


def _fever(source: MixSource, settings: MixSettings, data: Sequence[Path], wanted: int) -> Split:
    if len(source.paths) != 2:
        raise ConfigError(
            f"source {source.name}: paths are {list(source.paths)}, expected FEVER's training claims and its pages."
        )
    claims, pages = locate(data, source.paths[0]), read_pages(locate(data, source.paths[1]))
    training, held_out = hold_out(list(read_training_claims(claims)), source.held_out)
    rng = random.Random(f"claims {settings.seed}")
    training = rng.sample(training, min(wanted, len(training)))
    held_out = rng.sample(held_out, min(source.held_out_most, len(held_out)))
    training_examples = draw_examples(build_claim_pool(training, pages), settings.augment, settings.seed)
    held_out_examples = gold_and_retrieved_views(
        build_claim_pool(held_out, pages), settings.augment.sentences
    )
    return [[example] for example in training_examples], [[example] for example in held_out_examples]


def _documents(source: MixSource, settings: MixSettings, data: Sequence[Path], wanted: int) -> Split:
    return _split(document_groups(wanted // EXAMPLES_OF_FACT + 1, settings.seed), source.held_out)


def _sentences(source: MixSource, settings: MixSettings, data: Sequence[Path], wanted: int) -> Split:
    texts = select_usable([text for path in source.paths for text in _texts(locate(data, path))])
    random.Random(f"texts {settings.seed}").shuffle(texts)
    return _split(sentence_groups(texts[:wanted], settings.seed), source.held_out)


def _texts(path: Path) -> Iterator[str]:
    """The sentences of a file of pages, abstracts or pairs."""
    for _, record in read_json_lines(path):
        for field in ("sentences", "abstract", "evidence"):
            value: Any = record.get(field, ())
            yield from (text for text in value if isinstance(text, str))


def _written(source: MixSource, settings: MixSettings, data: Sequence[Path], wanted: int) -> Split:
    groups = [group for path in source.paths for group in read_written(locate(data, path))]
    return _split(groups, source.held_out)


def _passages(source: MixSource, settings: MixSettings, data: Sequence[Path], wanted: int) -> Split:
    documents = [document for path in source.paths for document in read_passages(locate(data, path))]
    training = [document for document in documents if not is_in_share(document.title, source.held_out)]
    held_out = [document for document in documents if is_in_share(document.title, source.held_out)]
    rng = random.Random(f"views {settings.seed}")
    groups: list[Group] = []
    while training and sum(map(len, groups)) < wanted:
        groups += _cut(_view_passage(document, source, rng) for document in training)
    fixed = random.Random(source.name)
    return groups, _cut(_view_passage(document, source, fixed) for document in held_out)


def _view_passage(document: Document, source: MixSource, rng: random.Random) -> Group:
    if rng.random() < source.file_names:
        document = replace(document, title=name_of_file(document.title, rng))
    group = passage_views(
        document,
        rng,
        titles=source.titles,
        among=source.distractors,
        removed=source.near_miss,
        most=source.rows,
    )
    rng.shuffle(group)
    return group


def locate(data: Sequence[Path], path: str) -> Path:
    """A source's file or folder, in the first data folder that has it."""
    for folder in data:
        if (folder / path).exists():
            return folder / path
    raise DataError(f"{path}: in none of the data folders {', '.join(map(str, data))}.")


def _split(groups: Iterable[Group], share: float) -> Split:
    """Groups by a hash of the page, where it is known, or of a text of theirs."""
    training: list[Group] = []
    held_out: list[Group] = []
    for group in groups:
        (held_out if is_in_share(_key(group), share) else training).append(group)
    return training, held_out


def _key(group: Group) -> str:
    titles = (evidence_title(sentence) for example in group for sentence in example.evidence)
    title = next(filter(None, titles), "")
    return title or min(example.evidence[0].text for example in group)


def _cut(groups: Iterable[Group]) -> list[Group]:
    return [group[k : k + LARGEST_GROUP] for group in groups for k in range(0, len(group), LARGEST_GROUP)]


_KINDS: dict[str, Callable[[MixSource, MixSettings, Sequence[Path], int], Split]] = {
    "pairs": _pairs,
    "fever": _fever,
    "documents": _documents,
    "sentences": _sentences,
    "written": _written,
    "passages": _passages,
}
