"""What is compared: a fact of a text, and how a claim's fact relates to the evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from adjudge.types import Span


class Kind(StrEnum):
    """What a fact is about; facts of different kinds are never compared."""

    NUMBER = "number"
    ORDINAL = "ordinal"
    DATE = "date"
    TIME = "time"
    WEEKDAY = "weekday"
    NAME = "name"
    QUOTE = "quote"

    def __str__(self) -> str:
        return self.value


class Outcome(StrEnum):
    """How a fact of a claim relates to the evidence.

    ``OPEN``: the evidence has a value for the same thing that neither implies the claim's nor excludes it ("more than
    20" against 25). ``ABSENT``: no sentence has a value for it.
    """

    EQUAL = "equal"
    DIFFERENT = "different"
    OPEN = "open"
    ABSENT = "absent"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as written in characters ``start`` to ``end`` of a text.

    Attributes:
        kind: what it is about.
        text: as written.
        start: its first character.
        end: the character after its last.
        low: the smallest value that it allows: a number in its base unit, or a day counted from year 1.
        high: the largest.
        slack: how far the value was rounded; two values within the larger slack are equal.
        unit: what is measured (``length``, ``share``, ``money:EUR``, ``annual``), empty for a count.
        head: the stem of the noun that is counted, or the dimension that is measured (``long``), where there is one.
        form: ``range`` for two ends ("8 to 10", 1992–1996), ``limit`` for a bound that is a rule ("up to 400 guests").
        per: the days in which it is so many ("200 a day", "240 euros a year"); 0 where nothing is said.
        size: of the unit as written, in the base unit.
        step: the value of one unit of the last digit that is written.
        words: of a name, its words, folded.
        certain: False for a capitalised word that may be so only because it begins a sentence.
    """

    kind: Kind
    text: str
    start: int
    end: int
    low: float = -math.inf
    high: float = math.inf
    slack: float = 0.0
    unit: str = ""
    head: str = ""
    form: str = ""
    per: float = 0.0
    size: float = 1.0
    step: float = 0.0
    words: tuple[str, ...] = ()
    certain: bool = True

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A fact of a claim, and the fact of the evidence it was compared with, if there is one.

    ``sentence`` is the position of the evidence sentence; ``overlap`` the share of the claim's other words that the
    sentence (with its title and context) has.
    """

    fact: Fact
    outcome: Outcome
    other: Fact | None = None
    sentence: int | None = None
    overlap: float = 0.0


def relate(claim: Fact, evidence: Fact) -> Outcome:
    """How a value of the claim relates to a value of the evidence that is about the same thing.

    Both are intervals: "more than 20" is (20, ∞). The claim follows where the evidence's lies within it; the two
    exclude each other where they do not meet. Two rules stand beside this: two limits ("up to 400", "up to 250"), and
    two ranges that share one end (1992–1999, 1992–1996), are equal or different as a whole. Days of the week are the
    other way round: what is so from Monday to Friday is so on Wednesday.
    """
    if claim.kind is Kind.WEEKDAY:
        within = evidence.low <= claim.low and claim.high <= evidence.high
        return Outcome.EQUAL if within else Outcome.DIFFERENT
    slack = max(claim.slack, evidence.slack, _conversion_slack(claim, evidence))
    if claim.form == evidence.form == "limit" and math.isinf(claim.low) == math.isinf(evidence.low):
        ours, theirs = (fact.high if math.isinf(fact.low) else fact.low for fact in (claim, evidence))
        return Outcome.EQUAL if abs(ours - theirs) <= slack else Outcome.DIFFERENT
    if claim.form == evidence.form == "range":
        ends = abs(claim.low - evidence.low) <= slack, abs(claim.high - evidence.high) <= slack
        if sum(ends) == 1:
            return Outcome.DIFFERENT
    if evidence.low >= claim.low - slack and evidence.high <= claim.high + slack:
        return Outcome.EQUAL
    if evidence.low > claim.high + slack or evidence.high < claim.low - slack:
        touches = any(
            math.isclose(*ends, rel_tol=1e-12)
            for ends in ((evidence.low, claim.high), (evidence.high, claim.low))
        )
        return Outcome.OPEN if touches else Outcome.DIFFERENT  # 8 seasons, "over 8 seasons"
    return Outcome.OPEN


def _conversion_slack(claim: Fact, evidence: Fact) -> float:
    """What rounding may change where two units are no whole multiples of each other, as miles and kilometres."""
    if claim.size == evidence.size:
        return 0.0
    larger, smaller = max(claim.size, evidence.size), min(claim.size, evidence.size)
    ratio = larger / smaller
    values = (abs(v) for v in (claim.low, claim.high, evidence.low, evidence.high) if not math.isinf(v))
    noise = 1e-6 * max(values, default=0.0)
    if abs(ratio - round(ratio)) < 1e-3 * ratio:
        return noise
    return max(noise, 0.51 * max(claim.step, evidence.step))
