"""From claims to examples: a plain ranking picks the sentences around (or instead of) the gold."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from adjudge.errors import ConfigError
from adjudge.types import Claim, ClaimId, Evidence, Example, Page, SentenceRef

Mode = Literal["gold", "retrieved"]
"""``gold``: one gold group among near misses. ``retrieved``: whatever the ranking finds."""

_NOISE = 0.04
_TITLE = 0.5  # what a page whose title the claim names is ahead of one that shares other words
_CAP = 3.5  # idf at most: a name is telling, but must not drown the words of the relation
_RARE = 150  # a word in more sentences than this does not make a sentence a candidate
_SIZES = {"gold": (0.2, 0.1, 0.2, 0.2, 0.3), "retrieved": (0.75, 0.15, 0.1)}
# How often an example has the most sentences, one fewer, two fewer, …. Training examples are smaller
# on average: a lone sentence shows what settles a claim more plainly than one of five.
_WORD = re.compile(r"[A-Za-z0-9]+")
_DETAIL = re.compile(r" \(.*\)$")


@dataclass(frozen=True, slots=True)
class Ranking:
    """An index over sentences; a sentence's words include those of its page's title."""

    evidence: tuple[Evidence, ...]
    words: tuple[frozenset[str], ...]
    links: tuple[tuple[str, ...], ...]
    postings: dict[str, list[int]]
    spans: dict[str, tuple[int, int]]
    names: dict[str, str]

    def rank(
        self, claim: str, rng: Random, most: int, without: Collection[SentenceRef] = ()
    ) -> list[Evidence]:
        """The best sentences by noisy share of the claim's idf; the last one is a second hop.

        It comes from the pages that the others link to, which need not share a word with the claim.
        """
        if most < 1:
            return []
        weights = self._weights(claim)
        rare = (self.postings.get(word, ()) for word in weights)
        candidates = {index for numbers in rare if len(numbers) <= _RARE for index in numbers}
        first = self._best(candidates, claim, weights, rng, max(most - 1, 1), without)
        taken = {index for index, _ in first}
        pages = {page for index in taken for page in self.links[index]}
        linked = {index for page in pages for index in range(*self.spans[page])} - taken
        second = self._best(linked or candidates - taken, "", weights, rng, most - len(first), without)
        return [replace(self.evidence[index], score=round(score, 4)) for index, score in first + second]

    def _best(
        self,
        candidates: Collection[int],
        claim: str,
        weights: dict[str, float],
        rng: Random,
        most: int,
        without: Collection[SentenceRef],
    ) -> list[tuple[int, float]]:
        scores = [(self._score(n, claim, weights) + rng.gauss(0, _NOISE), n) for n in sorted(candidates)]
        best = sorted(scores, key=lambda item: (-item[0], item[1]))
        return [(n, score) for score, n in best if self.evidence[n].ref not in without][:most]

    def lookup(self, ref: SentenceRef, claim: str, rng: Random) -> Evidence:
        """A given sentence with the score that the ranking would give it, noise included."""
        index = self.spans[ref.page][0] + ref.line
        score = self._score(index, claim, self._weights(claim)) + rng.gauss(0, _NOISE)
        return replace(self.evidence[index], score=round(score, 4))

    def _weights(self, claim: str) -> dict[str, float]:
        total = len(self.evidence) + 1
        words = dict.fromkeys(_stems(claim))
        idf = {word: min(math.log(total / (len(self.postings.get(word, ())) + 1)), _CAP) for word in words}
        scale = sum(idf.values()) or 1.0
        return {word: value / scale for word, value in idf.items()}

    def _score(self, index: int, claim: str, weights: dict[str, float]) -> float:
        words = self.words[index]
        title = _TITLE if self.names[self.evidence[index].page] in claim else 0.0
        return title + sum(weight for word, weight in weights.items() if word in words)


def _stems(text: str) -> list[str]:
    """Names as they are, other words cut to five letters: ``director`` then meets ``directed``."""
    return [word if word[0].isupper() else word[:5] for word in _WORD.findall(text)]


def index(pages: Sequence[Page]) -> Ranking:
    """Index every sentence of the pages."""
    evidence: list[Evidence] = []
    words: list[frozenset[str]] = []
    postings: dict[str, list[int]] = {}
    spans: dict[str, tuple[int, int]] = {}
    for page in pages:
        spans[page.id] = (len(evidence), len(evidence) + len(page.sentences))
        title = _stems(page.title)
        for sentence in page.sentences:
            stems = frozenset(title + _stems(sentence.text))
            for word in stems:
                postings.setdefault(word, []).append(len(evidence))
            words.append(stems)
            evidence.append(Evidence(sentence.text, page.id, sentence.line))
    links = tuple(sentence.links for page in pages for sentence in page.sentences)
    names = {page.id: _DETAIL.sub("", page.title) for page in pages}
    return Ranking(tuple(evidence), tuple(words), links, postings, spans, names)


def examples(
    pages: Sequence[Page],
    claims: Sequence[Claim],
    mode: Mode,
    seed: int,
    most: int = 5,
    paired: Collection[ClaimId] = (),
) -> Iterator[Example]:
    """Give every claim up to ``most`` sentences, shuffled; their number does not depend on the label.

    Claims in ``paired`` get at least two, whether or not they have gold.
    """
    if mode not in _SIZES:
        raise ConfigError(f"evidence mode {mode!r} is not one of gold, retrieved.")
    if most < 2:
        raise ConfigError(f"most = {most}: expected at least 2, which a two-hop claim needs.")
    ranking = index(pages)
    for claim in claims:
        rng = Random(f"{seed}:{mode}:{claim.id}")
        fewer = rng.choices(range(len(_SIZES[mode])), _SIZES[mode])[0]
        size = max(2 if claim.id in paired else 1, most - fewer)
        known = {ref for group in claim.gold for ref in group} if mode == "gold" else set()
        group = rng.choice(claim.gold) if known else ()
        sentences = [ranking.lookup(ref, claim.text, rng) for ref in group]
        sentences += ranking.rank(claim.text, rng, size - len(sentences), known)
        while len(sentences) < min(size, len(ranking.evidence) - len(known)):
            extra = rng.choice(ranking.evidence)
            if extra.ref not in known and all(extra.ref != item.ref for item in sentences):
                sentences.append(extra)
        rng.shuffle(sentences)
        yield Example(claim.id, claim.text, tuple(sentences), claim.label)
