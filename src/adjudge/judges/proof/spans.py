"""A claim cut into chunks by rules, and each chunk aligned with a span of the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from adjudge.data.text import evidence_title
from adjudge.facts.opposites import OPPOSITES
from adjudge.facts.words import NEGATIONS, Word, is_content, words_of
from adjudge.judges.proof.logic import Operator
from adjudge.types import Evidence, Span

MOST_WORDS = 7
"""Of a span, as ProoFVer has it."""
ALIKE = 0.8
"""Share of letters from which two words are taken for forms of one."""
SENTENCE_SHARE = 0.3
"""What a sentence's likeness to the whole claim adds to its spans, beside their own."""

_BREAKS = frozenset(
    "in on at by for from of to with within without during after before under over between into through since until "
    "as and or but who which that whose where when while is are was were be been has have had does do did will would "
    "can could may might must".split()
)


@dataclass(frozen=True)
class Aligned:
    """A chunk of the claim and where the evidence speaks about it.

    ``span`` is in sentence ``sentence``; without a span the sentence's title names the chunk; without a sentence
    nothing does. ``likeness`` is the share of the chunk's words that were met, from 0 to 1.
    """

    chunk: Span
    sentence: int | None = None
    span: Span | None = None
    likeness: float = 0.0


def cut_into_chunks(text: str) -> list[Span]:
    """The chunks of a text, left to right: names, numbers, and what stands between them; each says something."""
    groups: list[list[Word]] = []
    for word in words_of(text):
        group = groups[-1] if groups else []
        if not group or (_says(group) and (len(group) >= MOST_WORDS or _begins(group[-1], word))):
            groups.append([])
        groups[-1].append(word)
    if len(groups) > 1 and not _says(groups[-1]):
        last = groups.pop()
        groups[-1] += last
    return [Span(group[0].start, group[-1].end) for group in groups]


def _says(group: Sequence[Word]) -> bool:
    return any(is_content(word) or _negates(word) for word in group)


def _begins(last: Word, word: Word) -> bool:
    """Whether a word begins a chunk after another."""
    if word.text.casefold() in _BREAKS:
        return last.text.casefold() not in _BREAKS
    joined = last.text.casefold() in _BREAKS or not is_content(last)
    return not joined and _is_name(last) != _is_name(word)


def _is_name(word: Word) -> bool:
    return word.text[0].isupper() or word.text[0].isdigit()


def _negates(word: Word) -> bool:
    return word.text.casefold() in NEGATIONS


def align(claim: str, evidence: Sequence[Evidence]) -> list[Aligned]:
    """Every chunk of the claim with the span of at most seven words that resembles it most."""
    sentences = [words_of(sentence.text) for sentence in evidence]
    titles = [words_of(evidence_title(sentence)) for sentence in evidence]
    whole = [word for word in words_of(claim) if is_content(word)]
    pull = [
        SENTENCE_SHARE * _met(whole, [*title, *words]) for title, words in zip(titles, sentences, strict=True)
    ]
    return [_align(claim, chunk, sentences, titles, pull) for chunk in cut_into_chunks(claim)]


def _align(
    claim: str,
    chunk: Span,
    sentences: Sequence[Sequence[Word]],
    titles: Sequence[Sequence[Word]],
    pull: Sequence[float],
) -> Aligned:
    words = [w for w in words_of(claim[slice(*chunk)]) if is_content(w)] or words_of(claim[slice(*chunk)])
    best, best_value = Aligned(chunk), 0.0
    for number, (sentence, title) in enumerate(zip(sentences, titles, strict=True)):
        options: list[tuple[float, Span | None]] = [(_met(words, title), None)] if title else []
        options += [
            (_met(words, sentence[a:b]), Span(sentence[a].start, sentence[b - 1].end))
            for a, b in _windows(words, sentence)
        ]
        for likeness, span in options:
            length = 0 if span is None else span.end - span.start
            value = likeness + pull[number] - 0.001 * length
            if likeness > 0 and value > best_value:
                best, best_value = Aligned(chunk, number, span, likeness), value
    if best.sentence is None and sentences:
        return _align_by_kind(chunk, words, sentences, max(range(len(pull)), key=pull.__getitem__))
    return best


def _windows(words: Sequence[Word], sentence: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Spans that begin and end with a word that resembles one of the chunk."""
    met = [i for i, other in enumerate(sentence) if any(_alike(word.stem, other.stem) for word in words)]
    for first in met:
        for last in met:
            if first <= last < first + MOST_WORDS:
                yield first, last + 1


def _align_by_kind(
    chunk: Span, words: Sequence[Word], sentences: Sequence[Sequence[Word]], number: int
) -> Aligned:
    """A chunk whose words are nowhere: with a number for a number and a name for a name, in the likeliest sentence."""
    wanted = words[-1].text
    for word in sentences[number]:
        same_kind = (
            word.text[0].isdigit() if wanted[0].isdigit() else wanted[0].isupper() and word.text[0].isupper()
        )
        if same_kind and is_content(word) and word.start > 0:
            return Aligned(chunk, number, Span(word.start, word.end))
    return Aligned(chunk)


def _met(words: Sequence[Word], others: Sequence[Word]) -> float:
    """The share of the words that have one alike among the others."""
    if not words:
        return 0.0
    return sum(any(_alike(word.stem, other.stem) for other in others) for word in words) / len(words)


@lru_cache(maxsize=50_000)
def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < 4 or one[0] != other[0] or not (one.isalpha() and other.isalpha()):
        return False
    return SequenceMatcher(None, one, other).ratio() >= ALIKE


def compare_by_rule(claim: str, aligned: Aligned, evidence: Sequence[Evidence]) -> Operator:
    """What the words alone say of a chunk and its span."""
    if aligned.sentence is None:
        return Operator.INDEPENDENCE
    sentence = evidence[aligned.sentence]
    text = evidence_title(sentence) if aligned.span is None else sentence.text[slice(*aligned.span)]
    ours, theirs = words_of(claim[slice(*aligned.chunk)]), words_of(text)
    if any(map(_negates, ours)) != any(map(_negates, theirs)):
        return Operator.NEGATION
    chunk, span = ({word.stem for word in words if is_content(word)} for words in (ours, theirs))
    if any(OPPOSITES.get(one, frozenset()) & span for one in chunk) or _numbers(chunk) != _numbers(span):
        return Operator.ALTERNATION
    if chunk == span:
        return Operator.EQUIVALENCE
    if not chunk & span:
        return Operator.ALTERNATION if aligned.likeness == 0.0 else Operator.EQUIVALENCE  # forms of one word
    return Operator.REVERSE if span < chunk else Operator.FORWARD


def _numbers(stems: set[str]) -> set[str]:
    return {word for word in stems if word[0].isdigit()}
