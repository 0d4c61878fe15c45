"""Figures as a reader meets them in sentences and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjudge.evaluation.render import SHORT, percent
from adjudge.evaluation.statistics import Interval
from adjudge.experiments.models import display_name
from adjudge.experiments.report.blocks import NOTHING
from adjudge.experiments.summary import BaselineComparison, Spread, Summary

LEVEL = 0.05
"""Below this p a difference gets its asterisk."""

BACKBONES = {
    "minilm": "MiniLM",
    "bert-base": "BERT Base",
    "bert-large": "BERT Large",
    "roberta-large": "RoBERTa Large",
}


def backbone_name(backbone: str) -> str:
    """What the paper calls a backbone it knows."""
    return BACKBONES.get(backbone, backbone)


def group_name(summary: Summary, group: tuple[str, str]) -> str:
    """A group of arms, by what it differs in from others: ``BERT Base``, ``GEAR``, ``BERT Base, GEAR``."""
    backbone, model = group
    names = []
    if len({other for other, _ in summary.groups}) > 1 or len(summary.models) == 1:
        names.append(backbone_name(backbone))
    if len(summary.models) > 1:
        names.append(display_name(model))
    return ", ".join(names)


def short_label(label: str) -> str:
    """A label as tables show it."""
    return SHORT.get(label, label)


def format_signed(value: float, digits: int = 2) -> str:
    """A difference in percentage points, such as ``−0.10``."""
    rounded = round(100 * value, digits) + 0.0  # a rounded −0 becomes 0
    return f"{rounded:+.{digits}f}".replace("-", "−")


def difference(interval: Interval | None) -> str:
    """A difference with its interval, such as ``+0.80 [−1.20, +2.80]``."""
    if interval is None:
        return NOTHING
    low, high = format_signed(interval.low), format_signed(interval.high)
    return f"{format_signed(interval.estimate)} [{low},\N{NO-BREAK SPACE}{high}]"


def rate(interval: Interval | None) -> str:
    """A share in percent with its interval, such as ``7.21 [5.10, 9.41]``."""
    if interval is None:
        return NOTHING
    low, high = percent(interval.low), percent(interval.high)
    return f"{percent(interval.estimate)} [{low},\N{NO-BREAK SPACE}{high}]"


def spread(value: Spread | None) -> str:
    """Mean ± standard deviation over seeds; the mean alone for one seed."""
    if value is None:
        return NOTHING
    return percent(value.mean) if value.sd is None else f"{percent(value.mean)} ± {100 * value.sd:.2f}"


def probability(p: float) -> str:
    """A p-value, never shown as zero."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def judgement(comparison: BaselineComparison) -> str:
    """What Holm's p lets one say of a difference from the baseline."""
    if comparison.holm_p >= LEVEL:
        return "none shown"
    return "higher" if comparison.test.n01 > comparison.test.n10 else "lower"


def settings_text(values: Mapping[str, Any]) -> str:
    """Names and values in one line."""
    return ", ".join(f"{key} {_value(value)}" for key, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return settings_text(value) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
