"""Figures as a reader meets them in sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.evaluation.render import percent
from adjudge.evaluation.statistics import Interval
from adjudge.experiments.report.table import LEVEL, backbone_name
from adjudge.experiments.summary import Against, ArmResult, Spread, Summary

NOTHING = "–"


def signed(value: float, digits: int = 2) -> str:
    """A difference in percentage points, such as ``−0.10``."""
    rounded = round(100 * value, digits) + 0.0  # a rounded −0 becomes 0
    return f"{rounded:+.{digits}f}".replace("-", "−")


def difference(interval: Interval | None) -> str:
    """A difference with its interval, such as ``+0.80 [−1.20, +2.80]``."""
    if interval is None:
        return NOTHING
    return f"{signed(interval.estimate)} [{signed(interval.low)},\N{NO-BREAK SPACE}{signed(interval.high)}]"


def rate(interval: Interval | None) -> str:
    """A share in percent with its interval, such as ``7.21 [5.10, 9.41]``."""
    if interval is None:
        return NOTHING
    return (
        f"{percent(interval.estimate)} [{percent(interval.low)},\N{NO-BREAK SPACE}{percent(interval.high)}]"
    )


def spread(value: Spread | None) -> str:
    """Mean ± standard deviation over seeds; the mean alone for one seed."""
    if value is None:
        return NOTHING
    return percent(value.mean) if value.sd is None else f"{percent(value.mean)} ± {100 * value.sd:.2f}"


def probability(p: float) -> str:
    """A p-value, never shown as zero."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def judgement(against: Against) -> str:
    """What Holm's p lets one say of a difference from the baseline."""
    if against.holm_p >= LEVEL:
        return "none shown"
    return "higher" if against.test.n01 > against.test.n10 else "lower"


def findings(summary: Summary) -> list[str]:
    """A few plain sentences for each backbone: how many arms differ, the best of them, and its contradictions."""
    backbones = dict.fromkeys(row.arm.backbone for row in summary.arms)
    said = []
    for backbone in backbones:
        rows = [row for row in summary.arms if row.arm.backbone == backbone]
        where = f"{backbone_name(backbone)}: " if len(backbones) > 1 else ""
        said += [where + sentence for sentence in _of_backbone(rows)]
    return said


def _of_backbone(rows: Sequence[ArmResult]) -> list[str]:
    base = next(row for row in rows if row.arm.is_baseline)
    others = [(row, row.against) for row in rows if row.against is not None]
    if not others:
        return [f"Only the baseline is finished: LA {percent(base.chosen.scores.label_accuracy)}."]
    best, against = max(others, key=lambda pair: pair[0].chosen.scores.label_accuracy)
    said = [_how_many([(row.arm.name, found) for row, found in others]), _sentence(best, against)]
    if len(best.runs) > 1:
        mean = _within(against.mean_label_accuracy)
        said.append(f"Averaged over its {len(best.runs)} seeds, the LA of {best.arm.name} differs by {mean}.")
    if base.contradiction is not None and best.contradiction is not None:
        ours, theirs = _plain_rate(best.contradiction), _plain_rate(base.contradiction)
        said.append(
            f"Contradiction rate (SUPPORTS taken for REFUTES or the reverse): {best.arm.name} {ours}, CE {theirs}."
        )
    return said


def _how_many(others: Sequence[tuple[str, Against]]) -> str:
    differing = [f"{name} {judgement(found)}" for name, found in others if found.holm_p < LEVEL]
    if not differing:
        found = (
            f"None of {len(others)} arms differs" if len(others) > 1 else "The one other arm does not differ"
        )
        return f"{found} significantly from CE in label accuracy (Holm p ≥ {LEVEL})."
    found = f"{len(differing)} of {len(others)} arms differ{'s' if len(differing) == 1 else ''}"
    return f"{found} significantly from CE in label accuracy (Holm p < {LEVEL}): {', '.join(differing)}."


def _sentence(row: ArmResult, against: Against) -> str:
    verdict = f"{judgement(against)} than CE" if against.holm_p < LEVEL else "no difference shown"
    return (
        f"Best of them, {row.arm.name}: LA {100 * row.chosen.scores.label_accuracy:.1f} "
        f"({_within(against.label_accuracy, ', ')}, Holm p {probability(against.holm_p)}): {verdict}."
    )


def _within(interval: Interval, between: str = " points, ") -> str:
    low, high = signed(interval.low, 1), signed(interval.high, 1)
    return f"{signed(interval.estimate, 1)}{between}95% interval {low} to {high}"


def _plain_rate(interval: Interval) -> str:
    low, high = 100 * interval.low, 100 * interval.high
    return f"{100 * interval.estimate:.1f}% (95% interval {low:.1f} to {high:.1f})"
