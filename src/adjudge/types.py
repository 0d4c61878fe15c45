"""The records that flow between the stages. Plain data: no torch, no I/O."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from os.path import commonprefix
from typing import NamedTuple

from adjudge.errors import ConfigError, DataError

ClaimId = int | str

SAME_START = 0.75
"""Two spellings that begin alike, for at least this share of the longer one, may mean the same label."""


class Label(StrEnum):
    """FEVER's three answers, in the order every distribution and matrix uses."""

    SUPPORTS = "SUPPORTS"
    REFUTES = "REFUTES"
    NOT_ENOUGH_INFO = "NOT ENOUGH INFO"


@dataclass(frozen=True)
class LabelSet:
    """An ordered set of label names; position is the class index.

    ``aliases`` maps other spellings (case-insensitive) to names of the set. ``neutral`` is the label that says
    that the evidence does not suffice: NOT ENOUGH INFO unless another is named, None where the set has none.
    """

    names: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict, compare=False)
    neutral: str | None = field(default=None, compare=False)
    _spellings: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        spellings = {name.casefold(): name for name in self.names}
        if len(spellings) < 2 or len(spellings) != len(self.names):
            raise ConfigError(
                f"A label set needs two or more names that differ in more than case, found {list(self.names)}."
            )
        for name in (*self.names, *self.aliases):
            if not name.isprintable():
                raise ConfigError(f"Label {name!r}: expected a name without control characters.")
        for alias, name in self.aliases.items():
            if name not in self.names:
                known = ", ".join(self.names)
                raise ConfigError(f"Label alias {alias}={name}: {name!r} is not one of {known}.")
            if spellings.setdefault(alias.casefold(), name) != name:
                raise ConfigError(f"Label alias {alias}={name}: {alias!r} already means another label.")
        object.__setattr__(self, "_spellings", spellings)
        if self.neutral is None:
            object.__setattr__(self, "neutral", spellings.get(Label.NOT_ENOUGH_INFO.value.casefold()))
        elif self.neutral not in self.names:
            raise ConfigError(f"Neutral label {self.neutral!r} is not one of {', '.join(self.names)}.")

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def parse(self, text: str) -> str:
        """The set's own spelling of ``text``; ``DataError`` when it is none of the set's labels."""
        try:
            return self._spellings[text.strip().casefold()]
        except KeyError:
            spelled = text if text.isprintable() else repr(text)
            name = self._resembling(text)
            option = shlex.quote(f"{spelled}={name or 'LABEL'}")
            which = "" if name else " with one of them for LABEL"
            raise DataError(
                f"label {text!r} is not one of {', '.join(self.names)}.\n"
                f"If your file names them differently, pass --label {option}{which}."
            ) from None

    def _resembling(self, text: str) -> str | None:
        """The one label that begins as ``text`` does; a label must not be guessed, its meaning may be the opposite."""
        folded = text.strip().casefold()
        similar = [
            name
            for name in self.names
            if len(start := commonprefix([folded, name.casefold()]))
            >= SAME_START * len(max(folded, name, key=len))
            and len(start) > 2
        ]
        return similar[0] if len(similar) == 1 else None

    def index(self, text: str) -> int:
        """The class index of a label, in any accepted spelling."""
        return self.names.index(self.parse(text))

    def knows(self, text: str) -> bool:
        """Whether ``text`` is a label of the set in any accepted spelling."""
        return text.strip().casefold() in self._spellings

    def with_aliases(self, aliases: Mapping[str, str]) -> LabelSet:
        """The set, understanding more spellings; an alias that is a label of the set is counted as the other."""
        known = {name.casefold(): name for name in self.names}
        targets = {alias: known.get(name.strip().casefold(), name) for alias, name in aliases.items()}
        folded = {
            known[alias.casefold()]: name
            for alias, name in targets.items()
            if known.get(alias.casefold(), name) != name
        }
        spellings = {alias: folded.get(name, name) for alias, name in self.aliases.items()}
        names = tuple(name for name in self.names if name not in folded)
        return LabelSet(names, {**spellings, **targets}, None if self.neutral in folded else self.neutral)


FEVER_LABELS = LabelSet(
    tuple(label.value for label in Label),
    {"NEI": "NOT ENOUGH INFO", "NOT_ENOUGH_INFO": "NOT ENOUGH INFO", "NOTENOUGHINFO": "NOT ENOUGH INFO"},
)


NOT_SUPPORTED = "NOT SUPPORTED"
"""What a judge of two labels answers to claims that are refuted or left open."""


class SentenceRef(NamedTuple):
    """Where a sentence lives: page id and line number, as FEVER names them."""

    page: str
    line: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a page; ``start`` and ``end`` are character offsets in the page's source.

    ``location`` says where it stands in words of its own format: ``Sheet1!A5:C5``, ``table 2, row 3``. ``section`` is
    the title with the headings that it stands under, where there are any.
    """

    text: str
    line: int
    links: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    location: str | None = None
    section: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A document: ``id`` is unique in its corpus, ``title`` is what a reader would call it."""

    id: str
    title: str
    sentences: tuple[Sentence, ...]
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with what the annotators found: alternatives, each a group of sentences needed together."""

    id: ClaimId
    text: str
    label: str | None = None
    gold: tuple[tuple[SentenceRef, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence offered to the verdict model.

    ``page`` is empty and ``line`` −1 where the place is unknown. ``title`` is what a reader would call the page;
    where it is empty, the page's id spells it. ``score`` is the retriever's, ``weight`` the share of the
    verdict that the model laid on the sentence. ``context`` is the sentence before, where this one does not name its
    subject; ``similarity`` the cosine with the claim, where the index keeps vectors; ``links`` the pages that the
    sentence links to. ``cut`` says that the model read only the beginning: claim and sentence are longer than a row.
    ``section`` is the title with the headings that the sentence stands under, read in the title's place.
    """

    text: str
    page: str = ""
    line: int = -1
    score: float = 0.0
    weight: float | None = None
    source: str | None = None
    start: int | None = None
    end: int | None = None
    title: str = ""
    location: str | None = None
    context: str = ""
    similarity: float | None = None
    links: tuple[str, ...] = ()
    cut: bool = False
    section: str = ""

    @property
    def ref(self) -> SentenceRef:
        """Page and line, for scoring."""
        return SentenceRef(self.page, self.line)


@dataclass(frozen=True, slots=True)
class Example:
    """A claim with the sentences the verdict model may read; ``gold_injected`` when gold helped to find them."""

    id: ClaimId
    claim: str
    evidence: tuple[Evidence, ...] = ()
    label: str | None = None
    gold_injected: bool = False


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a text, the end not included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ProofStep:
    """A part of the claim, the part of an evidence sentence it was compared with, and how the two relate.

    ``sentence`` is the position of the sentence in the verdict's evidence, None where no sentence speaks about the
    part; without ``evidence`` it is the sentence's title that does.
    """

    claim: Span
    operator: str
    evidence: Span | None = None
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a judge can say about how it came to a verdict; a part that it cannot give is empty.

    ``edges[i][j]`` is how much sentence i took from sentence j; ``evidence_spans`` has the spans that counted for
    each sentence of the verdict's evidence.
    """

    edges: tuple[tuple[float, ...], ...] = ()
    proof: tuple[ProofStep, ...] = ()
    claim_spans: tuple[Span, ...] = ()
    evidence_spans: tuple[tuple[Span, ...], ...] = ()


ABSTAINED = "ABSTAINED"
NO_EVIDENCE = "NO EVIDENCE FOUND"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer: a label, the whole distribution, and the sentences with the weight each carried.

    Where nothing was found there is nothing to judge: the label is None, there are no probabilities, and
    ``reason`` says why. Where the label's probability was below what the caller asked for, ``abstained`` says so:
    the label then is only the likeliest. Neither is a verdict, while NOT ENOUGH INFO is one about the evidence.
    ``gold_injected`` when gold helped to find the sentences: such a verdict says less about a system.
    ``claim_cut`` when the model read only the beginning of the claim; its evidence says the same of sentences.
    """

    id: ClaimId
    claim: str
    label: str | None
    probabilities: Mapping[str, float]
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None
    abstained: bool = False
    gold_injected: bool = False
    explanation: Explanation | None = None
    claim_cut: bool = False

    @property
    def cut(self) -> bool:
        """Whether the model read only the beginning of the claim or of a sentence."""
        return self.claim_cut or any(sentence.cut for sentence in self.evidence)

    @property
    def answer(self) -> str:
        """The label, ABSTAINED, or NO EVIDENCE FOUND."""
        if self.label is None:
            return NO_EVIDENCE
        return ABSTAINED if self.abstained else self.label

    @property
    def confidence(self) -> float:
        """The probability of the label given; 0 where there is none."""
        return 0.0 if self.label is None else self.probabilities[self.label]
