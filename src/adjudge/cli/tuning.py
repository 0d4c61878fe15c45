"""The command that tunes λ and β."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.experiments import (
    DryRunOption,
    GridOptions,
    PlanArgument,
    SetOption,
    show_plan,
    split_list,
)
from adjudge.cli.options import JsonOption, takes
from adjudge.cli.output import command_line, show, show_json
from adjudge.objectives.tables import OBJECTIVES


@takes(GridOptions)
def tune(
    plan: PlanArgument,
    settings: GridOptions,
    objective: Annotated[str, typer.Option(help=f"Which to tune: {', '.join(OBJECTIVES)}.")],
    weighted: Annotated[
        bool, typer.Option("--weighted/--unweighted", help="With class weights, and so with β, or without.")
    ] = True,
    lam: Annotated[str | None, typer.Option(help="λ to try, such as 0.25,0.5; else 1/32 to 1.")] = None,
    beta: Annotated[str | None, typer.Option(help="β to try; else 0, 0.999 to 0.999999.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where runs go; runs/tune-PLAN-OBJECTIVE by default.")
    ] = None,
    seeds: Annotated[
        str, typer.Option("--seeds", "--seed", help="Such as 0,1,2; the mean over them decides.")
    ] = "0",
    set_: SetOption = None,
    early_stopping: Annotated[
        bool,
        typer.Option("--early-stopping/--no-early-stopping", help="Give up the worse half at each rung."),
    ] = True,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Choose λ and β for an objective on tuning claims, by label accuracy.

    The plan is one of `adjudge compare`; its data, settings and backbone are used. All pairs of λ and β train a
    quarter of their steps, the better half of them half, and the better half of those all (successive halving).
    Finished runs are never repeated and interrupted ones go on, so the command can be given again at any time.

    **Examples**

    `adjudge tune demo --objective sr --lam 0.125,0.25,0.5 --beta 0.999999`

    `adjudge tune fever-mini --objective sr --train train.jsonl.gz --dev tune.jsonl --test dev.jsonl`

    `adjudge tune fever-mini --objective mll --unweighted --train train.jsonl.gz --dev tune.jsonl --dry-run`

    `adjudge tune paper-bert-base --objective sr --seeds 0,1,2 --train train.json --dev tune.json --ray auto
    --gpus-per-run 1`
    """
    from adjudge.experiments.tuning import prepare_tuning, read_tuning
    from adjudge.experiments.tuning import tune as tune_runs
    from adjudge.experiments.tuning_view import tuning_view

    search = {"objective": objective, "weighted": weighted, "seeds": split_list(seeds)}
    search |= {name: split_list(text) for name, text in (("lam", lam), ("beta", beta)) if text}
    tuning = read_tuning(plan, search, settings.plan_values(set_), protocol=settings.protocol)
    name = f"tune-{Path(plan).stem}-{objective}" + ("" if weighted else "-unweighted")
    folder = out or Path("runs") / name
    planned = prepare_tuning(tuning, folder)
    if dry_run:
        show_plan(planned, json)
        return
    progress, runner = settings.runner(planned, folder)
    with progress.live():
        result = tune_runs(
            tuning, folder, runner=runner, early_stopping=early_stopping, command=command_line()
        )
    if json:
        show_json(result.to_dict())
    else:
        show(tuning_view(result))
