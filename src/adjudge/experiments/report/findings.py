"""What a comparison shows, in a few plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.evaluation.render import percent
from adjudge.evaluation.statistics import Interval
from adjudge.experiments.report.formatting import LEVEL, format_signed, group_name, judgement, probability
from adjudge.experiments.summary import ArmResult, BaselineComparison, Summary


def findings(summary: Summary) -> list[str]:
    """For each backbone and model: how many arms differ, the best of them, and its contradictions."""
    sentences = []
    for group in summary.groups:
        prefix = f"{group_name(summary, group)}: " if len(summary.groups) > 1 else ""
        sentences += [prefix + sentence for sentence in _describe_group(summary.arms_of(group))]
    return sentences


def _describe_group(rows: Sequence[ArmResult]) -> list[str]:
    base = rows[0]
    others = [(row, row.baseline_comparison) for row in rows if row.baseline_comparison is not None]
    if not others:
        return [f"Only the baseline is finished: LA {percent(base.selected.scores.label_accuracy)}."]
    best, comparison = max(others, key=lambda pair: pair[0].selected.scores.label_accuracy)
    sentences = [_count_significant(others), _best_arm(best, comparison)]
    if len(best.runs) > 1:
        mean = _format_interval(comparison.mean_label_accuracy)
        sentences.append(
            f"Averaged over its {len(best.runs)} seeds, the LA of {best.arm.name} differs by {mean}."
        )
    if base.contradiction is not None and best.contradiction is not None:
        ours, theirs = _plain_rate(best.contradiction), _plain_rate(base.contradiction)
        sentences.append(
            f"Contradiction rate (SUPPORTS taken for REFUTES or the reverse): {best.arm.name} {ours}, CE {theirs}."
        )
    return sentences


def _count_significant(others: Sequence[tuple[ArmResult, BaselineComparison]]) -> str:
    differing = [f"{row.arm.name} {judgement(item)}" for row, item in others if item.holm_p < LEVEL]
    what = "significantly from CE in label accuracy"
    if not differing:
        subject = (
            f"None of {len(others)} arms differs" if len(others) > 1 else "The one other arm does not differ"
        )
        return f"{subject} {what} (Holm p ≥ {LEVEL})."
    subject = f"{len(differing)} of {len(others)} arms differ{'s' if len(differing) == 1 else ''}"
    return f"{subject} {what} (Holm p < {LEVEL}): {', '.join(differing)}."


def _best_arm(row: ArmResult, comparison: BaselineComparison) -> str:
    verdict = f"{judgement(comparison)} than CE" if comparison.holm_p < LEVEL else "no difference shown"
    return (
        f"Best of them, {row.arm.name}: LA {100 * row.selected.scores.label_accuracy:.1f} "
        f"({_format_interval(comparison.label_accuracy, ', ')}, Holm p {probability(comparison.holm_p)}): {verdict}."
    )


def _format_interval(interval: Interval, between: str = " points, ") -> str:
    low, high = format_signed(interval.low, 1), format_signed(interval.high, 1)
    return f"{format_signed(interval.estimate, 1)}{between}95% interval {low} to {high}"


def _plain_rate(interval: Interval) -> str:
    low, high = 100 * interval.low, 100 * interval.high
    return f"{100 * interval.estimate:.1f}% (95% interval {low:.1f} to {high:.1f})"
