"""The command that tunes λ and β."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.experiments import (
    CacheOption,
    DryRunOption,
    GoldOption,
    PlanArgument,
    ProtocolOption,
    SetOption,
    TrainOption,
    layer,
    listed,
    show_plan,
)
from adjudge.cli.output import JsonOption, command_line, progress_console, show, show_json


def tune(
    plan: PlanArgument,
    objective: Annotated[str, typer.Option(help="Which to tune: ce, mll, srn or sr.")],
    weighted: Annotated[
        bool, typer.Option("--weighted/--unweighted", help="With class weights, and so with β, or without.")
    ] = True,
    lam: Annotated[str | None, typer.Option(help="λ to try, such as 0.25,0.5; else 1/32 to 1.")] = None,
    beta: Annotated[str | None, typer.Option(help="β to try; else 0, 0.999 to 0.999999.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where runs go; runs/tune-PLAN-OBJECTIVE by default.")
    ] = None,
    train: TrainOption = None,
    dev: Annotated[Path | None, typer.Option(help="Claims that choose λ, β and checkpoint.")] = None,
    test: Annotated[Path | None, typer.Option(help="Claims the selected run alone is scored on.")] = None,
    gold: GoldOption = None,
    seed: Annotated[int, typer.Option(help="Of every run.")] = 0,
    set_: SetOption = None,
    protocol: ProtocolOption = "nested",
    early_stopping: Annotated[
        bool, typer.Option("--early-stopping/--no-early-stopping", help="Give up hopeless runs.")
    ] = True,
    cache: CacheOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Choose λ and β for an objective on tuning claims, by label accuracy.

    The plan is one of `adjudge compare`; its data, settings and backbone are used. Runs that are in the worse half at
    a quarter or at half of their training are given up (successive halving); finished runs are never repeated and
    interrupted ones go on, so the command can be given again at any time.

    **Examples**

    `adjudge tune demo --objective sr --lam 0.125,0.25,0.5 --beta 0.999999`

    `adjudge tune fever-mini --objective sr --train train.jsonl.gz --dev tune.jsonl --test dev.jsonl`

    `adjudge tune fever-mini --objective mll --unweighted --train train.jsonl.gz --dev tune.jsonl --dry-run`
    """
    from adjudge.cli.progress import GridProgress
    from adjudge.experiments.tuning import prepare_tuning, read_tuning
    from adjudge.experiments.tuning import tune as search_all
    from adjudge.experiments.tuning_view import tuning_view

    files = {"train": train, "dev": dev, "test": test, "gold": gold}
    search = {"objective": objective, "weighted": weighted, "seed": seed}
    search |= {name: found for name, text in (("lam", lam), ("beta", beta)) if (found := listed(text))}
    chosen = read_tuning(plan, search, layer(files, {}, set_ or ()), protocol=protocol)
    name = f"tune-{Path(plan).stem}-{objective}" + ("" if weighted else "-unweighted")
    folder = out or Path("runs") / name
    jobs = [trial.job for trial in prepare_tuning(chosen, folder)]
    if dry_run:
        show_plan(jobs, json)
        return
    progress = GridProgress(jobs, progress_console())
    with progress.live():
        result = search_all(
            chosen,
            folder,
            early_stopping=early_stopping,
            cache=cache,
            command=command_line(),
            reporter=progress.reporter,
        )
    if json:
        show_json(result.to_dict())
    else:
        show(tuning_view(result))
