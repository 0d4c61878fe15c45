"""The sections of a report, listed once: what each shows, as paragraphs, tables and plots.

A new table is one ``yield`` in the function of its section; a new section is a function, named in ``DETAILS`` or
``SECTIONS`` at the end. Every format shows it then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from adjudge.evaluation.render import percent
from adjudge.experiments.report import plots
from adjudge.experiments.report.blocks import (
    NOTHING,
    Block,
    Cell,
    Entry,
    Plot,
    Report,
    Section,
    Table,
    table_of,
)
from adjudge.experiments.report.changes import Change
from adjudge.experiments.report.content import Content, protocol_facts
from adjudge.experiments.report.findings import findings
from adjudge.experiments.report.formatting import (
    difference,
    group_name,
    judgement,
    probability,
    rate,
    short_label,
    spread,
)
from adjudge.experiments.report.lambda_curve import LambdaCurve, best_of_each_lambda
from adjudge.experiments.report.results_table import summary_table
from adjudge.experiments.report.systems import systems
from adjudge.experiments.summary import ArmResult

Arms = Sequence[ArmResult]
"""The arms of one group, a model on a backbone, the baseline first."""

MOST_CHANGES = 50
"""Changed predictions that are shown, of all that are counted."""


def build_report(content: Content) -> Report:
    """The report of a comparison; renderers make a page, a text or a view of it."""
    summary = content.summary
    names = [group_name(summary, group) for group in summary.groups]
    return Report(
        content.title,
        f"{summary.n:,} test claims · {len(summary.arms)} arms · {', '.join(names)}",
        tuple(_warnings(content)),
        tuple(findings(summary)),
        tuple(section for sections in SECTIONS for section in sections(content)),
    )


def _warnings(content: Content) -> Iterator[tuple[str, str]]:
    if content.unfinished:
        yield (
            "Not finished, and not in this report:",
            f"{'; '.join(content.unfinished)}. Figures, selections and tests will change when they are.",
        )
    if content.summary.protocol["gold_injected"]:
        yield (
            "Gold injected.",
            "Gold sentences were put among the retrieved ones of the claims judged, so that figures are higher than "
            "on retrieved sentences alone.",
        )


def _results(content: Content) -> Iterator[Section]:
    yield Section("Results", (summary_table(content.summary),))


def _details(content: Content) -> Iterator[Section]:
    groups = content.summary.groups
    for group in groups:
        arms = content.summary.arms_of(group)
        yield Section(group_name(content.summary, group) if len(groups) > 1 else "Details")
        for title, blocks_of in DETAILS.items():
            if blocks := tuple(blocks_of(content, arms)):
                yield Section(title, blocks, level=3)


def _over_seeds(content: Content, arms: Arms) -> Iterator[Block]:
    names = ", ".join(row.arm.name for row in arms)
    yield Plot(
        partial(plots.seeds_plot, arms),
        f"Label accuracy and FEVER score of each seed of {names}; the table below holds means and deviations.",
        "Each mark is a seed, the filled one the run selected by its LA on the tuning claims; the tick is the mean, "
        "the band one standard deviation to each side.",
    )
    yield table_of(
        "Over seeds, in %. Selected: the run with the highest LA on the tuning claims.",
        [
            {
                "Objective": row.arm.name,
                "Seeds": ", ".join(str(run.seed) for run in row.runs),
                "LA, mean ± sd": spread(row.label_accuracy),
                "FS, mean ± sd": spread(row.fever_score),
                "Tuning LA, selected": percent(row.selected.dev_label_accuracy),
                "LA, selected": percent(row.selected.scores.label_accuracy),
            }
            for row in arms
        ],
    )


def _differences(content: Content, arms: Arms) -> Iterator[Block]:
    if len(arms) < 2:
        return
    yield Plot(
        partial(plots.difference_plot, arms),
        "Differences from CE in label accuracy and FEVER score with 95% intervals; the table below holds them.",
        "Filled: the selected run against CE's selected run. Hollow: the mean over seeds, which no selection of a run "
        "has touched. Lines are 95% intervals from a paired bootstrap over claims.",
    )
    yield table_of(
        "Difference from CE without weighting in percentage points, with 95% intervals from a paired bootstrap over "
        "claims; McNemar's test on the selected runs, Holm's correction over all arms.",
        [
            {
                "Objective": row.arm.name,
                "ΔLA": difference(comparison.label_accuracy),
                "ΔLA, mean of seeds": difference(comparison.mean_label_accuracy),
                "ΔFS": difference(comparison.fever_score),
                "Only CE right": f"{comparison.test.n10:,}",
                "Only this right": f"{comparison.test.n01:,}",
                "McNemar p": probability(comparison.test.p_value),
                "Holm p": probability(comparison.holm_p),
                "Difference in LA": judgement(comparison),
            }
            for row in arms
            if (comparison := row.baseline_comparison) is not None
        ],
    )


def _classes(content: Content, arms: Arms) -> Iterator[Block]:
    if all(row.contradiction is not None for row in arms):
        yield Plot(
            partial(plots.contradiction_plot, arms),
            "Contradiction rate of every arm with its 95% interval; the table below holds them.",
            "How often a SUPPORTS claim was called REFUTES or the reverse. Lines are 95% bootstrap intervals.",
        )
    yield table_of(
        "Recall of each class and contradiction rate (SUPPORTS taken for REFUTES or the reverse, over the claims of "
        "both), in %, with its 95% bootstrap interval.",
        [
            {
                "Objective": row.arm.name,
                **{
                    f"Recall {short_label(label)}": percent(of_class.recall)
                    for label, of_class in row.selected.scores.per_class.items()
                },
                "Contradiction rate": rate(row.contradiction),
            }
            for row in arms
        ],
    )


def _training(content: Content, arms: Arms) -> Iterator[Block]:
    curves = {row.arm: content.training_curves[row.arm] for row in arms if content.training_curves[row.arm]}
    if not curves:
        return
    yield Plot(
        partial(plots.curves_plot, curves),
        "Training loss and label accuracy on the tuning claims over the steps, a column for each objective.",
        "Thick: the selected run; thin: the other seeds; dotted: CE. Losses of different objectives are sums of "
        "different terms and do not compare in height.",
    )
    yield table_of(
        "Training of every seed: loss on training claims, averaged over neighbouring steps, and LA on tuning claims, "
        "in %.",
        [
            {
                "Objective": arm.name,
                "Seed": f"{run.seed} (selected)" if run.selected else f"{run.seed}",
                "Steps": f"{run.loss[-1][0]:,}",
                "Loss, first": f"{plots.smooth(run.loss)[1][0]:.3f}",
                "Loss, last": f"{plots.smooth(run.loss)[1][-1]:.3f}",
                "Tuning LA, best": percent(max((value for _, value in run.accuracy), default=None)),
                "Tuning LA, last": percent(run.accuracy[-1][1] if run.accuracy else None),
            }
            for arm, runs in curves.items()
            for run in runs
        ],
    )


def _calibration(content: Content, arms: Arms) -> Iterator[Block]:
    measured = [(row.arm.name, row.calibration) for row in arms if row.calibration is not None]
    if not measured:
        return
    yield Plot(
        partial(plots.calibration_plot, measured),
        "Accuracy against confidence before and after temperature scaling; the table below holds the errors.",
        "On the dotted line a verdict given with 80% confidence is right 80 times in a hundred. The larger the mark, "
        "the more claims it stands for.",
    )
    yield table_of(
        "Expected calibration error (ECE) on the test claims, before and after a temperature fitted on the tuning "
        "claims.",
        [
            {
                "Objective": name,
                "ECE": f"{item.ece:.3f}",
                "Temperature": f"{item.temperature:.2f}",
                "ECE, tempered": f"{item.ece_tempered:.3f}",
            }
            for name, item in measured
        ],
    )


def _matrices(content: Content, arms: Arms) -> Iterator[Block]:
    yield "Rows are gold, columns predicted; counts, shaded by their share of the gold class."
    names = tuple(map(short_label, content.summary.labels))
    for row in arms:
        scores = row.selected.scores
        fever = "" if scores.fever_score is None else f"FS {percent(scores.fever_score)}, "
        rows: list[tuple[Entry, ...]] = [
            (name, *(Cell(f"{count:,}", shade=round(count / max(sum(counts), 1), 3)) for count in counts))
            for name, counts in zip(names, scores.confusion, strict=True)
        ]
        rows.append(("Total", *(f"{sum(column):,}" for column in zip(*scores.confusion, strict=True))))
        caption = f"{fever}LA {percent(scores.label_accuracy)}"
        head = ("gold, predicted", *names)
        yield Table(caption, head, tuple(rows), title=row.arm.name, kind="matrix")


def _lambda_curves(content: Content) -> Iterator[Section]:
    if content.lambda_curves:
        yield Section("Effect of λ")
    for curve in content.lambda_curves:
        yield Section(curve.name, tuple(_lambda_curve(curve)), level=3)


def _lambda_curve(curve: LambdaCurve) -> Iterator[Block]:
    yield Plot(
        partial(plots.lambda_plot, curve),
        "Label accuracy on the tuning claims over λ, a line for each β; the table below holds the best β of each λ.",
        "Lines join the means of seeds trained to the end. Dots are seeds, crosses runs that were stopped early and "
        "are in no mean.",
    )
    means = best_of_each_lambda(curve)
    yield table_of(
        f"Effect of λ in the {curve.objective.upper()} objective: LA on the tuning claims in %, mean of the seeds "
        "that were trained to the end. In bold: the pair selected.",
        [
            {
                "Loss": f"{curve.objective.upper()} (λ={mean.lam:g})",
                "Weighting": NOTHING if mean.beta is None else f"yes (β={mean.beta:g})",
                "Tuning LA": percent(mean.label_accuracy),
                "Seeds": f"{mean.seeds}",
            }
            for mean in means
        ],
        words=2,
        bold=[index for index, mean in enumerate(means) if curve.is_selected(mean)],
    )
    if curve.protocol:
        yield f"Selection: {curve.protocol}"


def _changed_predictions(content: Content) -> Iterator[Section]:
    changes = content.changes
    if changes is None:
        return
    first, second = changes.first.arm.name, changes.second.arm.name
    several = len(content.summary.groups) > 1
    with_group = f" with {group_name(content.summary, changes.second.arm.group)}" if several else ""
    blocks: list[Block] = [
        f"{len(changes.all):,} of {content.summary.n:,} claims got another label{with_group}. "
        f"Of these, {second} alone is right on {changes.count('fixed'):,} and {first} alone on "
        f"{changes.count('regressed'):,}; {changes.count('flipped'):,} changed between SUPPORTS and REFUTES."
    ]
    if changes.all:
        limit = f"{MOST_CHANGES} of " if len(changes.all) > MOST_CHANGES else ""
        table = Table(
            f"Verdicts with the model's confidence. Behind each sentence the weight that {first} and {second} laid "
            "on it; “gold” where the annotators named it.",
            ("Claim", "Gold", first, second, "Evidence (weights)"),
            tuple(tuple(_change_row(change)) for change in changes.all[:MOST_CHANGES]),
            words=5,
            long=(0, 4),
            summary=f"{limit}{len(changes.all)} claims, changes between SUPPORTS and REFUTES first",
        )
        blocks.append(table)
    yield Section(f"Changed predictions: {first} and {second}", tuple(blocks))


def _change_row(change: Change) -> Iterator[Entry]:
    yield Cell(change.first.claim, tag="S↔R" if change.flipped else "")
    yield short_label(change.truth.label)
    for verdict in (change.first, change.second):
        correct = verdict.label == change.truth.label
        yield Cell(short_label(verdict.answer), f"{verdict.confidence:.2f}", correct=correct)
    yield change.sentences or "no evidence"


def _protocol(content: Content) -> Iterator[Section]:
    caption = "What is needed to trust the figures and to make them again."
    facts = tuple(protocol_facts(content.summary))
    yield Section("Protocol", (Table(caption, ("What", "Value"), facts, words=2, long=(1,), kind="facts"),))


DETAILS = {
    "Over seeds": _over_seeds,
    "Differences from the baseline": _differences,
    "Contradictions and recall": _classes,
    "Training": _training,
    "Calibration": _calibration,
    "Confusion matrices": _matrices,
}
"""What is shown of each group."""

SECTIONS = (_results, systems, _details, _lambda_curves, _changed_predictions, _protocol)
