"""How the examples of a mix are shown: with titles or without, among other sentences, or with another's."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adjudge.data.text import drop_title, evidence_title
from adjudge.training.material.text import find_words, name_of_file
from adjudge.training.mix.settings import MixSource
from adjudge.training.mix.sources import Group
from adjudge.types import Evidence, Example, Label

SAME_FACT = 0.4
"""Evidence that shares more than this part of its words may be about the same fact."""
FEW = 3
"""Only fewer sentences than this get others beside them."""


@dataclass(frozen=True)
class Pool:
    """The examples of a source, found by the words of their evidence."""

    examples: Sequence[Example]
    by_word: Mapping[str, Sequence[int]]

    def near(self, example: Example, rng: random.Random) -> Example | None:
        """Another example whose evidence shares a rare word with the claim, and is not about the same fact."""
        rarest = sorted(find_words(example.claim), key=lambda w: (len(self.by_word.get(w, ())) or 10**9, w))[
            :4
        ]
        candidates = []
        for word in rarest:
            numbers = self.by_word.get(word, ())
            candidates += rng.sample(numbers, min(4, len(numbers)))
        rng.shuffle(candidates)
        for index in candidates:
            if not _may_tell(self.examples[index], example):
                return self.examples[index]
        return None


def build_pool(groups: Sequence[Group]) -> Pool:
    """All examples of some groups."""
    examples = [example for group in groups for example in group]
    by_word: dict[str, list[int]] = {}
    for index, example in enumerate(examples):
        for sentence in example.evidence:
            for word in find_words(sentence.text):
                by_word.setdefault(word, []).append(index)
    return Pool(examples, by_word)


def draw_views(groups: Sequence[Group], source: MixSource, rng: random.Random) -> Iterator[Group]:
    """The groups in views drawn at random; FEVER's claims and passages come in views of their own."""
    if source.kind in ("fever", "passages"):
        yield from groups
        return
    pool = build_pool(groups)
    for group in groups:
        titled, among = rng.random() < source.titles, rng.random() < source.distractors
        views = [_view(example, source, pool, titled, among, rng) for example in group]
        yield rename_titles(views, rng) if rng.random() < source.file_names else views


def rename_titles(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """The examples with a name of a file in the place of every title, the same for the same title."""
    titles = {evidence_title(sentence) for example in examples for sentence in example.evidence}
    names = {title: name_of_file(title, rng) if title else "" for title in sorted(titles)}
    return [
        replace(
            example,
            evidence=tuple(replace(drop_title(s), title=names[evidence_title(s)]) for s in example.evidence),
        )
        for example in examples
    ]


def _view(
    example: Example, source: MixSource, pool: Pool, titled: bool, among: bool, rng: random.Random
) -> Example:
    evidence, label = list(select_telling(example, source.rows)), example.label
    made_up = source.kind == "documents"  # where another fact of the same thing would contradict
    if rng.random() < source.near_miss:
        near = pool.near(example, rng)
        if near is not None:
            evidence, label = list(near.evidence[:2]), Label.NOT_ENOUGH_INFO.value
    elif among and len(evidence) < FEW:
        for _ in range(rng.randint(1, source.beside)):
            beside = pool.near(example, rng) if rng.random() < 0.6 else rng.choice(pool.examples)
            if beside is None or _may_tell(beside, example) or (made_up and _is_about(beside, example)):
                continue
            evidence.append(beside.evidence[0])
    if not titled:
        evidence = list(map(drop_title, evidence))
    rng.shuffle(evidence)
    return replace(example, evidence=tuple(evidence), label=label)


def select_telling(example: Example, most: int) -> tuple[Evidence, ...]:
    """The sentences that share most words with the claim, the title's aside, in their order."""
    if len(example.evidence) <= most:
        return example.evidence
    about = find_words(example.claim) - find_words(evidence_title(example.evidence[0]))
    numbers = range(len(example.evidence))
    ranked = sorted(numbers, key=lambda n: -len(find_words(example.evidence[n].text) & about))
    return tuple(example.evidence[n] for n in sorted(ranked[:most]))


def _is_about(candidate: Example, example: Example) -> bool:
    """Whether the evidence of one example shares a word with the claim of another."""
    return bool(find_words(candidate.evidence[0].text) & find_words(example.claim))


def _may_tell(candidate: Example, example: Example) -> bool:
    """Whether the evidence of one example may decide another."""
    texts = {sentence.text for sentence in example.evidence}
    if candidate.claim == example.claim or any(sentence.text in texts for sentence in candidate.evidence):
        return True
    candidate_words = find_words(" ".join(sentence.text for sentence in candidate.evidence))
    example_words = find_words(" ".join(texts))
    return len(candidate_words & example_words) > SAME_FACT * min(len(candidate_words), len(example_words))
