"""Commands that judge predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.options import JsonOption, LabelOption, aliases
from adjudge.cli.output import show, show_json


def score(
    predictions: Annotated[Path, typer.Argument(help="A FEVER submission, or what `adjudge predict` wrote.")],
    gold: Annotated[
        Path, typer.Argument(help="Gold claims; with gold groups (FEVER, SciFact) the FEVER score too.")
    ],
    against: Annotated[
        Path | None,
        typer.Option(help="Other predictions of the same claims: McNemar's test between the two."),
    ] = None,
    k: Annotated[int, typer.Option(min=0, help="How many predicted sentences count; 0 counts all.")] = 5,
    check_submission: Annotated[
        bool, typer.Option("--check-submission", help="Only lint the file: ids, order, labels, sentences.")
    ] = False,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…", help="The label set; by default the gold format's, or the model's own."
        ),
    ] = None,
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Score predictions: label accuracy, FEVER score, evidence, confusion matrix.

    Predictions join gold by id; missing, extra or repeated ids are errors.

    **Examples**

    `adjudge score predictions.jsonl dev.jsonl`

    `adjudge score runs/sr/predictions.jsonl dev.jsonl --against runs/ce/predictions.jsonl`

    `adjudge score submission.jsonl test.jsonl --check-submission`
    """
    from adjudge.evaluation.records import scoring_labels
    from adjudge.evaluation.render import scores_view
    from adjudge.evaluation.scoring import outcomes, scores_from_outcomes
    from adjudge.evaluation.statistics import mcnemar, paired_bootstrap
    from adjudge.types import LabelSet

    if check_submission:
        _lint(predictions, gold, json)
        return
    if labels is None:
        known = scoring_labels(predictions, gold, aliases(label))
    else:
        known = LabelSet(tuple(map(str.strip, labels.split(",")))).with_aliases(aliases(label))
    counted = k or None
    results = outcomes(predictions, gold, known, counted)
    scores = scores_from_outcomes(results, known)
    record = scores.to_dict()
    if against is None:
        if json:
            show_json(record)
        else:
            show(scores_view(scores))
        return
    right = [outcome.correct for outcome in results]
    baseline = [outcome.correct for outcome in outcomes(against, gold, known, counted)]
    test = mcnemar(baseline, right)
    interval = paired_bootstrap(right, baseline)
    if json:
        show_json({**record, "mcnemar": test._asdict(), "delta": interval._asdict()})
        return
    show(scores_view(scores))
    kind = "exact" if test.exact else "χ² with continuity correction"
    typer.echo(
        f"\nagainst {against}: LA {100 * interval.estimate:+.2f} points "
        f"(95% bootstrap {100 * interval.low:+.2f} to {100 * interval.high:+.2f})\n"
        f"McNemar ({kind}): only {predictions.name} right {test.n01}, only {against.name} right {test.n10}, "
        f"p = {test.p_value:.4g}"
    )


def _lint(predictions: Path, gold: Path, json: bool) -> None:
    from adjudge.evaluation.submission import lint_submission

    problems = lint_submission(predictions, gold)
    if json:
        show_json({"problems": problems})
    for problem in () if json else problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(2)
    if not json:
        typer.echo(f"{predictions}: a valid submission.")
