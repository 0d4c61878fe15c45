"""The tables of docs/results/systems.md, in Markdown: python reproductions/systems_tables.py COMPARISON.

COMPARISON is the folder that ``adjudge compare systems … --out`` wrote. Figures are means over the seeds with their
standard deviation; intervals come from a paired bootstrap over claims, of each claim's mean over the seeds; McNemar's
test is of the runs that the tuning claims chose.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from adjudge.evaluation.render import percent
from adjudge.evaluation.scoring import Outcome, Scores, contradiction_rows, outcomes
from adjudge.evaluation.statistics import Interval, mcnemar, paired_bootstrap, ratio
from adjudge.experiments.models import display_name
from adjudge.experiments.report.formatting import difference, probability, spread
from adjudge.experiments.summary import (
    ArmResult,
    BaselineComparison,
    Spread,
    Summary,
    gold_of,
    read_record,
    summarise,
)
from adjudge.types import LabelSet

NOTHING = ""


def main(folder: Path) -> None:
    """Print all tables of a comparison."""
    summary = summarise(folder)
    by_run = read_outcomes(summary)
    for table in (
        tabulate_means(summary),
        tabulate_tests(summary),
        tabulate_gains(summary, by_run),
        tabulate_cost(summary),
    ):
        print("\n".join(table), end="\n\n")
    if summary.missing:
        print(f"{summary.missing} runs are not finished.")


def read_outcomes(summary: Summary) -> dict[str, list[Outcome]]:
    """How every claim fared under each run, by the run's folder."""
    gold, labels = gold_of(read_record(summary.folder)), LabelSet(summary.labels)
    return {
        run.folder: list(outcomes(summary.folder / run.predictions, gold, labels))
        for row in summary.arms
        for run in row.runs
    }


def tabulate_means(summary: Summary) -> Iterator[str]:
    """LA, FS, contradictions and recall of every arm, over the seeds."""
    fever = summary.arms[0].fever_score is not None
    yield from _head("Model", "Objective", "LA", *["FS"] * fever, "contradictions", *summary.labels)
    for row in summary.arms:
        scores = [run.scores for run in row.runs]
        recalls = [
            percent(statistics.fmean(score.per_class[label].recall or 0.0 for score in scores))
            for label in summary.labels
        ]
        figures = [spread(row.label_accuracy), *[spread(row.fever_score)] * fever]
        yield _line(*_names(row), *figures, spread(_contradictions(scores)), *recalls)


def _contradictions(scores: Sequence[Scores]) -> Spread | None:
    rates = [score.contradiction_rate for score in scores if score.contradiction_rate is not None]
    if not rates:
        return None
    return Spread(statistics.fmean(rates), statistics.stdev(rates) if len(rates) > 1 else None)


def tabulate_tests(summary: Summary) -> Iterator[str]:
    """The run that the tuning claims chose, beside the first model's and beside CE's."""
    first = display_name(summary.models[0])
    columns = [name for to in (first, "CE") for name in (f"ΔLA to {to}", "McNemar p", "Holm p")]
    yield from _head("Model", "Objective", "seed", "LA", *columns)
    for row in summary.arms:
        tests = [*_test(row.model_comparison), *_test(row.baseline_comparison)]
        run = row.selected
        yield _line(*_names(row), str(run.seed), percent(run.scores.label_accuracy), *tests)


def _test(comparison: BaselineComparison | None) -> tuple[str, str, str]:
    if comparison is None:
        return NOTHING, NOTHING, NOTHING
    return (
        difference(comparison.label_accuracy),
        probability(comparison.test.p_value),
        probability(comparison.holm_p),
    )


def tabulate_gains(summary: Summary, by_run: dict[str, list[Outcome]]) -> Iterator[str]:
    """Every arm less its baseline and less the first model, the mean over the seeds of each claim."""
    first, fever = display_name(summary.models[0]), summary.arms[0].fever_score is not None
    yield from _head(
        *("Model", "Objective", f"ΔLA to {first}", "ΔLA to CE", *["ΔFS to CE"] * fever),
        *("Δcontradictions to CE", "contradictions by seed, CE", "SR", "McNemar p"),
    )
    labels = LabelSet(summary.labels)
    baselines = {row.arm.group: row for row in summary.arms if row.arm.is_baseline}
    for row in summary.arms:
        to_first = NOTHING if row.model_comparison is None else _mean(row.model_comparison)
        if row.baseline_comparison is None:
            if to_first:
                yield _line(*_names(row), to_first, *[NOTHING] * (5 + fever))
            continue
        base = baselines[row.arm.group]
        ours, theirs = ([by_run[run.folder] for run in arm.runs] for arm in (row, base))
        fewer, counts, p = _fewer_contradictions(row, base, by_run, labels)
        strict = [difference(_paired_strict(ours, theirs))] * fever
        figures = [to_first, _mean(row.baseline_comparison), *strict, difference(fewer), *counts, p]
        yield _line(*_names(row), *figures)


def _mean(comparison: BaselineComparison) -> str:
    return difference(comparison.mean_label_accuracy)


def _paired_strict(ours: Sequence[Sequence[Outcome]], theirs: Sequence[Sequence[Outcome]]) -> Interval | None:
    values = [[[outcome.strict for outcome in run] for run in runs] for runs in (ours, theirs)]
    if any(strict is None for runs in values for run in runs for strict in run):
        return None
    a, b = (np.mean(np.array(runs, dtype=float), axis=0) for runs in values)
    return paired_bootstrap(a, b)


def _fewer_contradictions(
    row: ArmResult, base: ArmResult, by_run: dict[str, list[Outcome]], labels: LabelSet
) -> tuple[Interval, tuple[str, str], str]:
    """The difference in the rate, contradictions by seed of both, and McNemar's p of the chosen runs."""

    def rows(arm: ArmResult) -> np.ndarray:
        return np.array([contradiction_rows(by_run[run.folder], labels) for run in arm.runs], dtype=float)

    def contradicts(arm: ArmResult) -> list[bool]:
        return [hit == 1 for hit, _ in contradiction_rows(by_run[arm.selected.folder], labels)]

    ours, theirs = rows(row), rows(base)  # (seeds, claims, 2)
    interval = paired_bootstrap(ours.mean(axis=0), theirs.mean(axis=0), ratio)
    counts = tuple(", ".join(f"{n:.0f}" for n in arm[..., 0].sum(axis=1)) for arm in (theirs, ours))
    p = probability(mcnemar(contradicts(row), contradicts(base)).p_value)
    return interval, (counts[0], counts[1]), p


def tabulate_cost(summary: Summary) -> Iterator[str]:
    """What each model costs, over all its runs."""
    yield from _head("Model", "parameters, M", "claims/s, median", "training, s, median")
    for model in summary.models:
        runs = [run for row in summary.arms if row.arm.model == model for run in row.runs]
        speeds = [run.claims_per_second for run in runs if run.claims_per_second]
        yield _line(
            display_name(model),
            f"{(runs[0].parameters or 0) / 1e6:.2f}",
            f"{statistics.median(speeds):.1f}" if speeds else NOTHING,
            f"{statistics.median(run.seconds for run in runs):.0f}",
        )


def _names(row: ArmResult) -> tuple[str, str]:
    return display_name(row.arm.model), row.arm.name


def _head(*names: str) -> Iterable[str]:
    words = sum(name in ("Model", "Objective") for name in names)
    return _line(*names), "|" + "---|" * words + "--:|" * (len(names) - words)


def _line(*entries: str) -> str:
    return f"| {' | '.join(entries)} |"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
