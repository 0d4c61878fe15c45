"""Commands over many runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.output import JsonOption, RayOption, command_line, progress_console, show, show_json

if TYPE_CHECKING:
    from adjudge.experiments.comparison import Job


PlanArgument = Annotated[
    str,
    typer.Argument(
        help="A preset (demo, fever-mini, paper-bert-base, paper-bert-large, paper-roberta-large) or a TOML file."
    ),
]
TrainOption = Annotated[Path | None, typer.Option("--train", help="Training claims with evidence.")]
GoldOption = Annotated[Path | None, typer.Option("--gold", help="Gold groups of the test claims, for FS.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Any setting of the runs, or grid.KEY=VALUE."),
]
ProtocolOption = Annotated[
    str,
    typer.Option(
        "--protocol", help="nested; or paper: choose and report on the same claims, as the paper does."
    ),
]
CacheOption = Annotated[Path | None, typer.Option("--cache", help="Where outputs of frozen layers are kept.")]
JobsOption = Annotated[int, typer.Option(min=1, help="Runs at a time on this machine.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the runs and what they cost.")]


def compare(
    plan: PlanArgument,
    out: Annotated[Path | None, typer.Option(help="Where data and runs go; runs/PLAN by default.")] = None,
    train: TrainOption = None,
    dev: Annotated[Path | None, typer.Option(help="Claims that choose checkpoint and run.")] = None,
    test: Annotated[Path | None, typer.Option(help="Claims the table is about; they choose nothing.")] = None,
    gold: GoldOption = None,
    objectives: Annotated[
        str | None, typer.Option(help="Which, of ce,mll,srn,sr; the baseline is always there.")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(help="paper, released (what the published code computes), or paper,released."),
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="Such as 0,1,2.")] = None,
    set_: SetOption = None,
    protocol: ProtocolOption = "nested",
    cache: CacheOption = None,
    jobs: JobsOption = 1,
    ray: RayOption = None,
    cpus_per_run: Annotated[int, typer.Option(min=1, help="With --ray: CPUs of a run, and its threads.")] = 1,
    gpus_per_run: Annotated[
        float, typer.Option(min=0, help="With --ray: GPUs of a run; 0.5 lets two share one.")
    ] = 0.0,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Run objectives side by side and test their differences: the paper's table.

    The plan is a grid: objective × weighting × backbone × seed. Finished runs are never repeated and interrupted ones
    go on where they were, so the command can be given again at any time.

    **Examples**

    `adjudge compare demo --jobs 2`

    `adjudge compare fever-mini --train train.jsonl.gz --dev tune.jsonl --test dev.jsonl --variant paper,released`

    `adjudge compare paper-bert-base --train train.json --dev tune.json --test dev.json --gold dev.jsonl --dry-run`

    `adjudge compare mine.toml --seeds 0,1,2,3,4 --set training.epochs=2 --set grid.beta=0.9999 --json`

    `adjudge compare paper-bert-base --train train.json --dev tune.json --test dev.json --ray auto --gpus-per-run 1`
    """
    from adjudge.cli.progress import GridProgress
    from adjudge.experiments.comparison import compare as run_all
    from adjudge.experiments.comparison import local_runner, parallel_runner, prepare
    from adjudge.experiments.plan import read_plan
    from adjudge.experiments.ray_runner import ray_runner
    from adjudge.experiments.view import comparison_view

    files = {"train": train, "dev": dev, "test": test, "gold": gold}
    axes = {"objectives": listed(objectives), "variants": listed(variant), "seeds": listed(seeds)}
    chosen = read_plan(plan, layer(files, axes, set_ or ()))
    folder = out or Path("runs") / Path(plan).stem
    planned = prepare(chosen, folder)
    if dry_run:
        show_plan(planned, json)
        return
    progress = GridProgress(planned, progress_console(), jobs)
    kept = cache or folder / "cache"
    if ray is None and jobs == 1:
        runner = local_runner(kept, command_line(), progress.reporter)
    elif ray is None:
        runner = parallel_runner(jobs, kept, command_line(), progress.finished)
    else:
        runner = ray_runner(
            ray,
            kept,
            command_line(),
            cpus=cpus_per_run,
            gpus=gpus_per_run,
            begun=progress.room_for,
            finished=progress.finished,
        )
    with progress.live():
        summary = run_all(chosen, folder, runner=runner, command=command_line(), protocol=protocol)
    if json:
        show_json(summary.to_dict())
    else:
        show(comparison_view(summary))


def retest(
    comparison: Annotated[
        Path, typer.Argument(help="A finished comparison's folder, as adjudge compare leaves it.")
    ],
    test: Annotated[Path, typer.Option(help="Other claims with evidence, for the table to be about.")],
    out: Annotated[Path, typer.Option(help="Where the new comparison goes.")],
    gold: GoldOption = None,
    arms: Annotated[
        str, typer.Option(help="all runs; or chosen: of each arm the run with the best tuning LA alone.")
    ] = "all",
    title: Annotated[str | None, typer.Option(help="The old comparison's by default.")] = None,
    protocol: ProtocolOption = "nested",
    cache: Annotated[
        Path | None,
        typer.Option(help="Where outputs of frozen layers are kept; the old comparison's cache by default."),
    ] = None,
    jobs: JobsOption = 1,
    json: JsonOption = False,
) -> None:
    """Judge the trained runs of a comparison on other test claims, without training again.

    The result is a comparison's folder like any other, for `adjudge report` and the rest; the weights stay where they
    are. Finished runs are never repeated, so the command can be given again at any time.

    **Examples**

    `adjudge retest runs/table --test dev-2.jsonl --out runs/table-dev-2 --jobs 2`

    `adjudge retest runs/table --test dev-evidence.jsonl --gold dev.jsonl --arms chosen --out runs/end-to-end`
    """
    from adjudge.cli.progress import GridProgress
    from adjudge.experiments.retest import Retest, prepare_retest
    from adjudge.experiments.retest import retest as judge_all
    from adjudge.experiments.view import comparison_view

    what = Retest(comparison, test, gold, arms)
    planned = [retrial.job for retrial in prepare_retest(what, out)]
    progress = GridProgress(planned, progress_console(), jobs)
    with progress.live():
        summary = judge_all(
            what,
            out,
            title=title,
            command=command_line(),
            protocol=protocol,
            cache=cache,
            processes=jobs,
            finished=progress.finished,
        )
    if json:
        show_json(summary.to_dict())
    else:
        show(comparison_view(summary))


def show_plan(jobs: Sequence[Job], json: bool) -> None:
    """Print the runs and what they will cost."""
    from adjudge.experiments.cost import estimate
    from adjudge.experiments.view import plan_view

    cost = estimate(jobs)
    if json:
        show_json({"runs": [str(job.folder) for job in jobs], "cost": cost._asdict()})
    else:
        show(plan_view(jobs, cost))


def report(
    folder: Annotated[Path, typer.Argument(help="A comparison's folder, as adjudge compare leaves it.")],
    out: Annotated[
        Path | None, typer.Option(help="Where the report goes; the folder itself by default.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="Some of html,md,tex.")] = "html,md,tex",
    tuning: Annotated[
        list[Path] | None,
        typer.Option(help="A folder of adjudge tune, for the effect of λ; may be repeated."),
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Two arms whose changed predictions are shown; the baseline and the best other by default.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The comparison's own by default.")] = None,
) -> None:
    """Write a comparison as one HTML page, Markdown, and LaTeX tables ready to paste.

    The results in the shape of the paper's Table 2, seeds, differences with intervals and tests, contradictions,
    training, calibration, confusion matrices, changed predictions, and how it was all made.

    **Examples**

    `adjudge report runs/demo`

    `adjudge report runs/mine --out paper --format tex --tuning runs/tune-sr --between CE "SR + weighting"`
    """
    from adjudge.experiments.report import gather, write_report

    formats = listed(format_) or []
    content = gather(folder, tuning=tuning or (), between=between, title=title)
    for path in write_report(content, out or folder, formats):
        typer.echo(path)


def listed(text: str | None) -> list[str] | None:
    """``a,b,c`` as a list."""
    return None if text is None else [part.strip() for part in text.split(",")]


def layer(files: dict[str, Any], axes: dict[str, Any], pairs: list[str] | tuple[str, ...]) -> dict[str, Any]:
    """What was said on the command line, as values of a plan."""
    from adjudge.config import merge, parse_overrides

    said = parse_overrides(pairs)
    grid = said.pop("grid", {})
    run = merge({"data": {name: path for name, path in files.items() if path is not None}}, said)
    return {"run": run, "grid": {**grid, **{name: value for name, value in axes.items() if value}}}
