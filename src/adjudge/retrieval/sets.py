"""Sentences selected as a set: each is valued beside those that were taken before it.

The first hop ends at what speaks about the claim itself. The second goes from a sentence that was taken to the pages
it leads to: "Denial was distributed by Bleecker Street" needs "Bleecker Street is based in New York" to decide where
Denial's distributor is based.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.data.text import evidence_title, page_name
from adjudge.errors import ConfigError
from adjudge.retrieval import protocol
from adjudge.retrieval.analysis import PROSE, fold_text, name_of, names_in, proper_names, query_text, terms
from adjudge.retrieval.selectors import SPREAD, Scorer, fuse
from adjudge.types import Evidence

RARE = 3
"""Most candidates on other pages that hold a name which leads from one to another."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SetSettings:
    """What a sentence is worth; the defaults were chosen as docs/retrieval.md says.

    Relevance is (1 − ``weight``) · c · r / max r + ``weight`` · score: r is the retriever's score and c the largest
    share of the claim's words that one candidate holds, so that words count little where no sentence has them. To it
    are added, with n the share of the claim's words that a sentence holds and those taken do not:

    - ``cover`` · n, from the second sentence on;
    - where a sentence that was taken leads to this page, ``link`` (and ``lead`` for the first line of the page) times
      the relevance of the one that leads here as a share of the highest, and ``link_cover`` · n. A link or the
      page's name leads here; a rare name that both sentences hold, and claim and title do not, by the share ``bridge``.

    ``spread`` is lost for each sentence taken from the same page.
    """

    weight: float = 0.7
    cover: float = 0.3
    link: float = 0.1
    lead: float = 0.15
    link_cover: float = 0.3
    bridge: float = 0.3
    spread: float = SPREAD

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if not (math.isfinite(value) and value >= 0.0) or (setting.name == "weight" and value > 1.0):
                limit = "a number from 0 to 1" if setting.name == "weight" else "a number of 0 or more"
                raise ConfigError(f"selection {setting.name} = {value}: expected {limit}.")


@dataclass(frozen=True)
class SetSelector:
    """Selects sentences by words, by another score and by what they add to each other."""

    scorer: Scorer
    settings: SetSettings = SetSettings()

    @property
    def identity(self) -> Mapping[str, Any]:
        """The settings, and what scores."""
        return {"kind": "set", "settings": asdict(self.settings), "scorer": dict(self.scorer.identity)}

    select = protocol.select

    def select_many(
        self, claims: Sequence[str], candidates: Sequence[Sequence[Evidence]], k: int
    ) -> list[list[Evidence]]:
        """For each claim the ``k`` sentences that are worth most together."""
        if k < 1 or not any(candidates):
            return [[] for _ in claims]
        scores = self.scorer.score_many(claims, candidates)
        return [
            select_set(claim, sentences, own, k, self.settings)
            for claim, sentences, own in zip(claims, candidates, scores, strict=True)
        ]


def select_set(
    claim: str,
    candidates: Sequence[Evidence],
    scores: Sequence[float],
    k: int,
    settings: SetSettings,
) -> list[Evidence]:
    """At most ``k`` candidates, taken one by one: always the one that is worth most beside those taken.

    Equal values keep the candidates' order. A sentence's score is its value when it was taken, and no higher than
    that of the sentence before.
    """
    state = _Selection(claim, candidates, scores, settings)
    selection: list[Evidence] = []
    while len(selection) < min(k, len(candidates)):
        number, value = state.find_best()
        score = min(value, selection[-1].score) if selection else value
        selection.append(replace(candidates[number], score=score))
        if len(selection) < k:
            state.take(number)
    return selection


@dataclass
class _Selection:
    """Candidates of one claim, and what those taken so far make of the others."""

    claim: str
    candidates: Sequence[Evidence]
    scores: Sequence[float]
    settings: SetSettings
    held: Floats = field(init=False)
    """(n, words) 1 where a candidate holds a word of the claim that none of those taken holds."""
    relevance: Floats = field(init=False)
    reached: Floats = field(init=False)
    """(n,) how relevant the sentence is that leads here, as a share of the highest; 0 where none does."""
    penalty: Floats = field(init=False)

    def __post_init__(self) -> None:
        words = terms(query_text(self.claim), PROSE)
        self._clean = [query_text(sentence.text) for sentence in self.candidates]
        self._texts = [fold_text(text) for text in self._clean]
        self._titles = [evidence_title(sentence) for sentence in self.candidates]
        pages = [page_name(sentence) for sentence in self.candidates]
        names = {page: name_of(page) for page in set(pages)}
        self._names = [names[page] for page in pages]
        own = [
            set(terms(f"{title} {text}", PROSE))
            for title, text in zip(self._titles, self._clean, strict=True)
        ]
        self.held = np.array([[word in words_of for word in words] for words_of in own], np.float64).reshape(
            len(own), len(words)
        )
        self._share = 1.0 / max(len(words), 1)
        most = self.held.sum(axis=1).max(initial=0.0) * self._share
        by_words = np.array(fuse(self.candidates, [0.0] * len(own), 0.0))
        weight = self.settings.weight
        self.relevance = (1.0 - weight) * most * by_words + weight * np.array(self.scores, np.float64)
        self.reached = np.zeros(len(own))
        self.penalty = np.zeros(len(own))
        self._lead = np.array([sentence.line == 0 for sentence in self.candidates])
        self._taken: list[int] = []

    def find_best(self) -> tuple[int, float]:
        """The candidate that is worth most beside those taken, and its value."""
        settings = self.settings
        new = self.held.sum(axis=1) * self._share
        value = self.relevance - self.penalty
        value += self.reached * (settings.link + settings.lead * self._lead)
        value += new * (settings.cover * bool(self._taken) + settings.link_cover * (self.reached > 0))
        value[self._taken] = -np.inf
        best = int(value.argmax())
        return best, float(value[best])

    def take(self, number: int) -> None:
        """Take a candidate, which changes what the others are worth."""
        self._taken.append(number)
        taken = self.candidates[number]
        self.held = self.held * (1.0 - self.held[number])
        highest = max(float(self.relevance.max()), 1e-9)
        strength = max(float(self.relevance[number]), 0.0) / highest
        for other, share in self._followed(number).items():
            self.reached[other] = max(self.reached[other], share * strength)
        for other, sentence in enumerate(self.candidates):
            if taken.page and sentence.page == taken.page:
                self.penalty[other] += self.settings.spread

    def _followed(self, number: int) -> dict[int, float]:
        """The candidates that a sentence leads to → how surely, from 0 to 1."""
        taken = self.candidates[number]
        elsewhere = [n for n, sentence in enumerate(self.candidates) if sentence.page != taken.page]
        text = self._clean[number]
        names = names_in(text)
        followed = {}
        known = fold_text(f"{self.claim} {self._titles[number]}")
        for name in proper_names(text) if self.settings.bridge else ():
            holders = [n for n in elsewhere if f" {name} " in self._texts[n]]
            if len(holders) <= RARE and f" {name} " not in known:
                followed.update(dict.fromkeys(holders, self.settings.bridge))
        for other in elsewhere:
            if self.candidates[other].page in taken.links or self._names[other] in names:
                followed[other] = 1.0
        return followed
