"""Claims on which two arms disagree, with the sentences they read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adjudge.data.text import page_title
from adjudge.data.verdicts import read_verdicts
from adjudge.errors import ConfigError
from adjudge.evaluation.records import Truth, read_gold
from adjudge.evaluation.scoring import CONTRADICTORY
from adjudge.experiments.report.blocks import NOTHING, Cell
from adjudge.experiments.summary import ArmResult, Summary, gold_of, read_record
from adjudge.runs.folder import RunFolder
from adjudge.types import ClaimId, SentenceRef, Verdict


@dataclass(frozen=True)
class Change:
    """A claim that got another label."""

    truth: Truth
    first: Verdict
    second: Verdict

    @property
    def fixed(self) -> bool:
        """Whether the second arm alone is right."""
        return self.second.label == self.truth.label

    @property
    def regressed(self) -> bool:
        """Whether the first arm alone is right."""
        return self.first.label == self.truth.label

    @property
    def flipped(self) -> bool:
        """Whether one arm answers SUPPORTS and the other REFUTES."""
        return any({self.first.label, self.second.label} == set(pair) for pair in CONTRADICTORY)

    @property
    def sentences(self) -> tuple[Cell, ...]:
        """The first arm's sentences, then those that only the second arm read: source, both weights, whether gold."""
        gold = {ref for group in self.truth.groups or () for ref in group}
        weights: dict[tuple[str, str, int], list[str]] = {}
        for side, verdict in enumerate((self.first, self.second)):
            for sentence in verdict.evidence:
                pair = weights.setdefault((sentence.text, sentence.page, sentence.line), [NOTHING, NOTHING])
                pair[side] = NOTHING if sentence.weight is None else f"{sentence.weight:.2f}"
        return tuple(
            Cell(
                text,
                _format_source(page, line) + " → ".join(pair),
                "gold" if SentenceRef(page, line) in gold else "",
            )
            for (text, page, line), pair in weights.items()
        )


@dataclass(frozen=True)
class Changes:
    """All disagreements of two arms, the most telling first."""

    first: ArmResult
    second: ArmResult
    all: tuple[Change, ...]

    def count(self, kind: Literal["fixed", "regressed", "flipped"]) -> int:
        """How many of them are of a kind."""
        return sum(getattr(change, kind) for change in self.all)


def pick_pair(summary: Summary, between: tuple[str, str] | None = None) -> tuple[ArmResult, ArmResult] | None:
    """Two arms by name, or the best other arm by LA with its baseline; None where there is no other arm.

    Args:
        summary: the comparison.
        between: names as the tables show them, such as ``SR + weighting``; ``bert-base: SR`` names the backbone,
            ``gear: SR`` the model.

    Raises:
        ConfigError: a name that no finished arm has.
    """
    if between is not None:
        return _arm_named(summary, between[0]), _arm_named(summary, between[1])
    others = [row for row in summary.arms if not row.arm.is_baseline]
    if not others:
        return None
    best = max(others, key=lambda row: row.selected.scores.label_accuracy)
    return summary.arms_of(best.arm.group)[0], best


def find_changes(summary: Summary, first: ArmResult, second: ArmResult) -> Changes:
    """Compare the selected runs of two arms claim by claim; flips come first, then what was fixed or regressed."""
    labels = RunFolder(summary.folder / first.selected.folder).settings().data.label_set
    before, after = (_verdicts(summary.folder / row.selected.predictions) for row in (first, second))
    changed = [
        Change(truth, before[truth.id], after[truth.id])
        for truth in read_gold(gold_of(read_record(summary.folder)), labels)
        if truth.id in before and truth.id in after and before[truth.id].label != after[truth.id].label
    ]
    return Changes(first, second, tuple(sorted(changed, key=_rank)))


def _arm_named(summary: Summary, name: str) -> ArmResult:
    part, colon, short = name.partition(": ")
    for row in summary.arms:
        wanted = short if colon and part in row.arm.group else name
        if wanted.strip().casefold() == row.arm.name.casefold():
            return row
    known = ", ".join(dict.fromkeys(row.arm.name for row in summary.arms))
    raise ConfigError(f"--between {name!r}: no finished arm has this name; expected two of {known}.")


def _verdicts(predictions: Path) -> dict[ClaimId, Verdict]:
    return {verdict.id: verdict for verdict in read_verdicts(predictions)}


def _rank(change: Change) -> tuple[bool, bool, float]:
    sureness = change.first.confidence + change.second.confidence
    return (not change.flipped, not (change.fixed or change.regressed), -sureness)


def _format_source(page: str, line: int) -> str:
    if not page:
        return ""
    return page_title(page) + (f", line {line} · " if line >= 0 else " · ")
