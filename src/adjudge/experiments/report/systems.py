"""Models side by side: how each compares with the first under the same objective, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from adjudge.evaluation.render import percent
from adjudge.experiments.models import display_name
from adjudge.experiments.report.blocks import NOTHING, Entry, Section, Table
from adjudge.experiments.report.content import Content
from adjudge.experiments.report.formatting import backbone_name, difference, judgement, probability, spread
from adjudge.experiments.summary import ArmResult, Summary

HEAD = (
    "Model",
    "Objective",
    "LA",
    "LA, mean ± sd",
    "FS",
    "ΔLA",
    "McNemar p",
    "Holm p",
    "Difference in LA",
    "Claims/s",
    "Training, min",
    "Parameters, M",
)


def systems(content: Content) -> Iterator[Section]:
    """One table of all models; nothing where a comparison has one model."""
    summary = content.summary
    if len(summary.models) < 2 and not summary.absent:
        return
    several = len({row.arm.backbone for row in summary.arms}) > 1
    rows: list[tuple[Entry, ...]] = [tuple(_row(row, several)) for row in summary.arms]
    rows += [(name, reason, *[NOTHING] * (len(HEAD) - 2)) for name, reason in summary.absent.items()]
    yield Section("Systems", (Table(_caption(summary), HEAD, tuple(rows), words=2, long=(1,)),))


def _caption(summary: Summary) -> str:
    first = display_name(summary.models[0])
    return (
        f"Models side by side, in %, the selected run of each. ΔLA is the difference from {first} under the same "
        "objective in points, with its 95% interval from a paired bootstrap over claims; McNemar's test, Holm's "
        "correction over this table. Claims per second and minutes are of the machine the runs were made on, on what "
        "else it was doing too; frozen layers were computed once for all runs that share them. A row without figures "
        "says what it needs."
    )


def _row(row: ArmResult, several: bool) -> Iterator[Entry]:
    backbone = f" on {backbone_name(row.arm.backbone)}" if several else ""
    scores, comparison, run = row.selected.scores, row.model_comparison, row.selected
    yield f"{display_name(row.arm.model)}{backbone}"
    yield row.arm.name
    yield percent(scores.label_accuracy)
    yield spread(row.label_accuracy)
    yield NOTHING if scores.fever_score is None else percent(scores.fever_score)
    if comparison is None:
        yield from [NOTHING] * 4
    else:
        yield difference(comparison.label_accuracy)
        yield probability(comparison.test.p_value)
        yield probability(comparison.holm_p)
        yield judgement(comparison)
    yield NOTHING if run.claims_per_second is None else f"{run.claims_per_second:,.1f}"
    yield f"{sum(result.seconds for result in row.runs) / len(row.runs) / 60:.1f}"
    yield NOTHING if run.parameters is None else f"{run.parameters / 1e6:.1f}"
