"""Claims on which two arms disagree, with the sentences they read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from adjudge.data.text import page_title
from adjudge.data.verdicts import read_verdicts
from adjudge.errors import ConfigError
from adjudge.evaluation.records import Truth, read_gold
from adjudge.evaluation.scoring import CONTRADICTORY
from adjudge.experiments.run import read_settings
from adjudge.experiments.summary import ArmResult, Summary
from adjudge.types import ClaimId, SentenceRef, Verdict

MOST = 50
"""Rows of the table of changed predictions."""


@dataclass(frozen=True)
class Reading:
    """A sentence and the share of each arm's verdict that it carried; ``gold`` where annotators named it."""

    text: str
    place: str
    first_weight: float | None
    second_weight: float | None
    gold: bool


@dataclass(frozen=True)
class Change:
    """A claim that got another label. ``flipped``: from SUPPORTS to REFUTES or the reverse."""

    id: ClaimId
    claim: str
    gold: str
    first: Verdict
    second: Verdict
    flipped: bool
    sentences: tuple[Reading, ...]

    @property
    def mended(self) -> bool:
        """Whether the second arm alone is right."""
        return self.second.label == self.gold

    @property
    def broken(self) -> bool:
        """Whether the first arm alone is right."""
        return self.first.label == self.gold


@dataclass(frozen=True)
class Changes:
    """All disagreements counted, the most telling of them in ``rows``."""

    first: ArmResult
    second: ArmResult
    total: int
    mended: int
    broken: int
    flipped: int
    rows: tuple[Change, ...]


def pick_pair(summary: Summary, between: tuple[str, str] | None = None) -> tuple[ArmResult, ArmResult] | None:
    """Two arms by name, or the best other arm by LA with its baseline; None where there is no other arm.

    Args:
        summary: the comparison.
        between: names as the tables show them, such as ``SR + weighting``; ``bert-base: SR`` names the backbone.

    Raises:
        ConfigError: a name that no finished arm has.
    """
    if between is not None:
        return _named(summary, between[0]), _named(summary, between[1])
    others = [row for row in summary.arms if not row.arm.is_baseline]
    if not others:
        return None
    best = max(others, key=lambda row: row.chosen.scores.label_accuracy)
    return summary.baseline_of(best.arm), best


def changes(summary: Summary, first: ArmResult, second: ArmResult, most: int = MOST) -> Changes:
    """Compare the chosen runs of two arms claim by claim; flips come first, then what was mended or broken."""
    here, there = (summary.folder / row.chosen.folder for row in (first, second))
    data = read_settings(here).data
    truths = {truth.id: truth for truth in read_gold(data.gold or data.test or "", data.label_set)}
    before, after = _verdicts(here), _verdicts(there)
    found = [
        _change(truth, before[key], after[key])
        for key, truth in truths.items()
        if key in before and key in after and before[key].label != after[key].label
    ]
    found.sort(key=_rank)
    return Changes(
        first,
        second,
        len(found),
        sum(change.mended for change in found),
        sum(change.broken for change in found),
        sum(change.flipped for change in found),
        tuple(found[:most]),
    )


def _named(summary: Summary, name: str) -> ArmResult:
    backbone, colon, short = name.partition(": ")
    for row in summary.arms:
        said = short if colon and backbone == row.arm.backbone else name
        if said.strip().casefold() == row.arm.name.casefold():
            return row
    known = ", ".join(dict.fromkeys(row.arm.name for row in summary.arms))
    raise ConfigError(f"--between {name!r}: no finished arm has this name; expected two of {known}.")


def _verdicts(folder: Path) -> dict[ClaimId, Verdict]:
    return {verdict.id: verdict for verdict in read_verdicts(folder / "predictions.jsonl")}


def _rank(change: Change) -> tuple[bool, bool, float]:
    sureness = change.first.confidence + change.second.confidence
    return (not change.flipped, not (change.mended or change.broken), -sureness)


def _change(truth: Truth, first: Verdict, second: Verdict) -> Change:
    labels = {first.label, second.label}
    flipped = any(labels == set(pair) for pair in CONTRADICTORY)
    gold = {ref for group in truth.groups or () for ref in group}
    return Change(truth.id, first.claim, truth.label, first, second, flipped, _sentences(first, second, gold))


def _sentences(first: Verdict, second: Verdict, gold: set[SentenceRef]) -> tuple[Reading, ...]:
    """The first arm's sentences with both weights, then those that only the second arm read."""
    weights: dict[tuple[str, str, int], list[float | None]] = {}
    for side, verdict in enumerate((first, second)):
        for sentence in verdict.evidence:
            pair = weights.setdefault((sentence.text, sentence.page, sentence.line), [None, None])
            pair[side] = sentence.weight
    return tuple(
        Reading(text, _place(page, line), pair[0], pair[1], SentenceRef(page, line) in gold)
        for (text, page, line), pair in weights.items()
    )


def _place(page: str, line: int) -> str:
    if not page:
        return ""
    return page_title(page) + (f", line {line}" if line >= 0 else "")
