"""The records that flow between the stages. Plain data: no torch, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from adjudge.errors import ConfigError, DataError

ClaimId = int | str

MAX_EVIDENCE = 5
"""FEVER judges the first five predicted sentences; a claim carries at most that many."""


class Label(str, Enum):
    """FEVER's three answers, in the order every distribution and matrix uses."""

    SUPPORTS = "SUPPORTS"
    REFUTES = "REFUTES"
    NOT_ENOUGH_INFO = "NOT ENOUGH INFO"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class LabelSet:
    """An ordered set of label names; position is the class index.

    ``aliases`` maps other spellings (case-insensitive) to names of the set.
    """

    names: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict, compare=False)
    _spellings: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        spellings = {name.casefold(): name for name in self.names}
        if len(spellings) < 2 or len(spellings) != len(self.names):
            raise ConfigError(
                f"A label set needs two or more names that differ in more than case, found {list(self.names)}."
            )
        for alias, name in self.aliases.items():
            if name not in self.names:
                known = ", ".join(self.names)
                raise ConfigError(f"Label alias {alias}={name}: {name!r} is not one of {known}.")
            if spellings.setdefault(alias.casefold(), name) != name:
                raise ConfigError(f"Label alias {alias}={name}: {alias!r} already means another label.")
        object.__setattr__(self, "_spellings", spellings)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def parse(self, text: str) -> str:
        """The set's own spelling of ``text``; ``DataError`` when it is none of the set's labels."""
        try:
            return self._spellings[text.strip().casefold()]
        except KeyError:
            raise DataError(
                f"label {text!r} is not one of {', '.join(self.names)}.\n"
                f"If your file names them differently, pass --label {text}={self.names[0]}."
            ) from None

    def index(self, text: str) -> int:
        """The class index of a label, in any accepted spelling."""
        return self.names.index(self.parse(text))

    def with_aliases(self, aliases: Mapping[str, str]) -> LabelSet:
        """The same labels, understanding more spellings."""
        return LabelSet(self.names, {**self.aliases, **aliases})


FEVER_LABELS = LabelSet(
    tuple(label.value for label in Label),
    {"NEI": "NOT ENOUGH INFO", "NOT_ENOUGH_INFO": "NOT ENOUGH INFO", "NOTENOUGHINFO": "NOT ENOUGH INFO"},
)


class SentenceRef(NamedTuple):
    """Where a sentence lives: page id and line number, as FEVER names them."""

    page: str
    line: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a page; ``start`` and ``end`` are character offsets in the page's source."""

    text: str
    line: int
    links: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None


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
    verdict that the model laid on the sentence.
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


ABSTAINED = "ABSTAINED"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer: a label, the whole distribution, and the sentences with the weight each carried.

    Where the label's probability was below what the caller asked for, ``abstained`` says so: the label
    then is only the likeliest. That is no verdict, while NOT ENOUGH INFO is one about the evidence.
    ``gold_injected`` when gold helped to find the sentences: such a verdict says less about a system.
    """

    id: ClaimId
    claim: str
    label: str
    probabilities: Mapping[str, float]
    evidence: tuple[Evidence, ...] = ()
    reason: str | None = None
    abstained: bool = False
    gold_injected: bool = False

    @property
    def answer(self) -> str:
        """The label, or ABSTAINED."""
        return ABSTAINED if self.abstained else self.label

    @property
    def confidence(self) -> float:
        """The probability of the label given."""
        return self.probabilities[self.label]
