"""Whole written documents, with claims and the numbers of the sentences that decide them.

    T: Boathouse rules
    1: The boathouse is open from 6 a.m. to dusk.
    2: Guests are not allowed on the pontoon.
    S 1: Nobody gets in at five in the morning.
    R 2: Visitors may step onto the pontoon.
    N 2: The pontoon carries forty people.

A blank line ends a document. The numbers of an ``N`` claim name the sentences that come closest without deciding it. A
claim is shown as search would show it: its sentences among others of the same document, those that share words with it
first.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from adjudge.data.clauses import split_by_rules
from adjudge.data.text import title_with_context
from adjudge.retrieval.context import contexts, needs_context
from adjudge.training.material.rules import change_month, change_number, negate
from adjudge.training.material.text import find_words
from adjudge.training.material.written import LABELS, Block, read_blocks
from adjudge.types import Evidence, Example, Label, Sentence

COPIES = 1
"""Sentences of a document that are claims themselves, word for word, in each view of it."""
PARTS = 4
"""Sentences of a document of which a part is a claim, and the same part with a number, a month or a ``not`` changed."""
LEAST_WORDS = 4
BY_WORDS = 0.7
"""The share of the other sentences that are those which share most words with the claim; the rest is drawn."""
_TAIL = re.compile(r", (?:which|who|where) [^,;]+\.$")
_SENTENCE = re.compile(r"(\d+): *(\S.*)")
_CLAIM = re.compile(r"([SRN])((?: \d+)+): *(\S.*)")
_EXPECTED = (
    "expected 'T: a title', sentences numbered from 1 such as '1: A sentence.', then claims such as 'S 1: A claim.' "
    "(S, R or N, and numbers of sentences above it)"
)


@dataclass(frozen=True)
class Claim:
    """A claim about a document; ``deciding`` are positions in its sentences, from 0."""

    text: str
    label: Label
    deciding: tuple[int, ...]


@dataclass(frozen=True)
class Document:
    """A title, sentences with the one before where they do not name their subject, and claims."""

    name: str
    title: str
    sentences: tuple[str, ...]
    contexts: tuple[str, ...]
    claims: tuple[Claim, ...]


def read_passages(path: Path) -> Iterator[Document]:
    """The documents of a file, or of all ``.txt`` files of a folder in the order of their names."""
    return map(_parse, read_blocks(path))


def _parse(block: Block) -> Document:
    title, sentences, claims = "", list[str](), list[Claim]()
    for offset, line in enumerate(block.lines):
        claim, sentence = _CLAIM.fullmatch(line), _SENTENCE.fullmatch(line)
        if claim and all(1 <= int(number) <= len(sentences) for number in claim[2].split()):
            deciding = tuple(int(number) - 1 for number in claim[2].split())
            claims.append(Claim(claim[3], LABELS[claim[1]], deciding))
        elif sentence and int(sentence[1]) == len(sentences) + 1:
            sentences.append(sentence[2])
        elif line.startswith("T: ") and offset == 0:
            title = line[3:].strip()
        else:
            raise block.error(offset, f"{line[:60]!r}: {_EXPECTED}")
    if not (title and sentences and claims):
        missing = "a title" if not title else "claims" if sentences else "sentences"
        raise block.error(0, f"a document without {missing}: {_EXPECTED}")
    before = contexts([Sentence(text, line) for line, text in enumerate(sentences)])
    return Document(block.name, title, tuple(sentences), tuple(before), tuple(claims))


def passage_views(
    document: Document, rng: random.Random, *, titles: float, among: float, removed: float, most: int
) -> list[Example]:
    """Every claim of a document, and a few copies and parts of its sentences, each in a view drawn at random.

    Args:
        document: what the claims are about.
        rng: draws the views.
        titles: share of the documents shown with their title.
        among: share of the claims shown among other sentences of the document.
        removed: share of the decided claims shown without what decides them, as NOT ENOUGH INFO.
        most: sentences shown at most.
    """
    titled = rng.random() < titles
    numbers = range(len(document.sentences))
    drawn = rng.sample(numbers, min(COPIES, len(numbers)))
    copies = [Claim(document.sentences[number], Label.SUPPORTS, (number,)) for number in drawn]
    parts = [
        claim
        for number in rng.sample(numbers, min(PARTS, len(numbers)))
        for claim in _part_claims(document.sentences[number], number, rng)
    ]
    examples = []
    for index, claim in enumerate([*document.claims, *copies, *parts]):
        is_removed = claim.label is not Label.NOT_ENOUGH_INFO and rng.random() < removed
        label = Label.NOT_ENOUGH_INFO if is_removed else claim.label
        shown = [] if is_removed else list(claim.deciding)
        if is_removed or rng.random() < among:
            wanted = rng.randint(min(len(shown) + 1, most), most)
            shown += _others(document, claim, set(claim.deciding), wanted - len(shown), rng)
        rng.shuffle(shown)
        evidence = tuple(_evidence(document, number, titled) for number in shown)
        examples.append(Example(f"{document.name}/{index}", claim.text, evidence, label.value))
    return examples


def _part_claims(sentence: str, number: int, rng: random.Random) -> Iterator[Claim]:
    """A part of a sentence, which it supports, and the same part changed, which it refutes."""
    texts = [part.text for piece in sentence.split("; ") for part in split_by_rules(_as_sentence(piece))]
    texts += [_TAIL.sub(".", sentence)]
    usable = [t for t in texts if t != sentence and len(t.split()) >= LEAST_WORDS and not needs_context(t)]
    if not usable:
        return
    part = rng.choice(usable)
    yield Claim(part, Label.SUPPORTS, (number,))
    changed = [text for rule in (change_number, change_month, negate) if (text := rule(part, rng))]
    if changed:
        yield Claim(rng.choice(changed), Label.REFUTES, (number,))


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _others(
    document: Document, claim: Claim, without: set[int], wanted: int, rng: random.Random
) -> list[int]:
    """Sentences beside those that decide a claim: such as share words with it, and some at random."""
    about = find_words(claim.text)
    remaining = [number for number in range(len(document.sentences)) if number not in without]
    remaining.sort(key=lambda number: -len(find_words(document.sentences[number]) & about))
    others: list[int] = []
    while remaining and len(others) < wanted:
        others.append(remaining.pop(0 if rng.random() < BY_WORDS else rng.randrange(len(remaining))))
    return others


def _evidence(document: Document, number: int, titled: bool) -> Evidence:
    title = title_with_context(document.title if titled else "", document.contexts[number])
    return Evidence(document.sentences[number], title=title)
