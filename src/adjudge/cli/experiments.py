"""Commands over many runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, Field

from adjudge.cli.options import JsonOption, takes
from adjudge.cli.output import command_line, progress_console, show, show_json
from adjudge.judges.registry import KINDS
from adjudge.objectives.tables import OBJECTIVES

if TYPE_CHECKING:
    from adjudge.cli.views.runs import GridProgress
    from adjudge.runs.jobs import Job, Runner

PlanArgument = Annotated[
    str,
    typer.Argument(
        help="A preset (demo, fever-mini, systems, paper-bert-base, paper-bert-large, paper-roberta-large) or a file."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Any setting of the runs, or grid.KEY=VALUE."),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the runs and what they cost.")]


class GridOptions(BaseModel):
    """What commands over many runs share."""

    train: Path | None = Field(None, description="training claims with evidence")
    dev: Path | None = Field(None, description="tuning claims, which choose checkpoint, run, λ and β")
    test: Path | None = Field(None, description="claims that are reported on; they choose nothing")
    gold: Path | None = Field(None, description="gold groups of the test claims, for FS")
    protocol: str = Field(
        "nested", description="what chooses: nested, or paper: the claims reported on, as in the paper"
    )
    cache: Path | None = Field(None, description="where outputs of frozen layers are kept")
    jobs: int = Field(1, ge=1, description="runs at a time on this machine")
    ray: str | None = Field(
        None, description="work on a Ray cluster: auto, HOST:PORT, ray://HOST:PORT; or local for this machine"
    )
    cpus_per_run: int = Field(1, ge=1, description="with --ray: CPUs of a run, and its threads")
    gpus_per_run: float = Field(0, ge=0, description="with --ray: GPUs of a run; 0.5 lets two share one")

    def plan_values(self, pairs: Sequence[str] | None, **axes: str | None) -> dict[str, Any]:
        """The options as values of a plan: files, ``--set`` pairs, and axes of the grid as ``a,b,c``."""
        from adjudge.config import merge, parse_overrides

        files = {name: path for name in ("train", "dev", "test", "gold") if (path := getattr(self, name))}
        settings = parse_overrides(pairs or ())
        grid = settings.pop("grid", {}) | {name: split_list(text) for name, text in axes.items() if text}
        return {"run": merge({"data": files}, settings), "grid": grid}

    def runner(self, planned: Sequence[Job], folder: Path) -> tuple[GridProgress, Runner]:
        """What shows how far the runs are, and what executes them."""
        from adjudge.cli.views.runs import GridProgress
        from adjudge.cluster.grid import ray_runner
        from adjudge.runs.jobs import local_runner, parallel_runner

        progress = GridProgress(planned, progress_console(), self.jobs)
        common = (self.cache or folder / "cache", command_line())
        if self.ray is not None:
            return progress, ray_runner(
                self.ray,
                *common,
                cpus=self.cpus_per_run,
                gpus=self.gpus_per_run,
                begun=progress.room_for,
                finished=progress.finished,
            )
        if self.jobs > 1:
            return progress, parallel_runner(self.jobs, *common, progress.finished)
        return progress, local_runner(*common, progress.reporter)


@takes(GridOptions)
def compare(
    plan: PlanArgument,
    settings: GridOptions,
    out: Annotated[Path | None, typer.Option(help="Where the table goes; runs/PLAN by default.")] = None,
    runs: Annotated[
        Path | None,
        typer.Option(help="Where runs are kept; OUT/runs by default. Comparisons may share them."),
    ] = None,
    objectives: Annotated[
        str | None, typer.Option(help=f"Which, of {','.join(OBJECTIVES)}; the baseline is always there.")
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(help=f"Which, of {','.join(KINDS)}; the others are compared with the first."),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(help="paper, released (what the published code computes), or paper,released."),
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="Such as 0,1,2.")] = None,
    set_: SetOption = None,
    best_only: Annotated[
        bool,
        typer.Option(
            "--best-only", help="Only each arm's run with the best tuning LA judges the test claims."
        ),
    ] = False,
    title: Annotated[str | None, typer.Option(help="The plan's by default.")] = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Run objectives side by side and test their differences: the paper's table.

    The plan is a grid: objective × weighting × λ × β × backbone × model × seed. Finished runs are never repeated and
    interrupted ones go on where they were, so the command can be given again at any time; with another test file,
    trained runs judge that one and are not trained again.

    **Examples**

    `adjudge compare demo --jobs 2`

    `adjudge compare fever-mini --train train.jsonl.gz --dev tune.jsonl --test dev.jsonl --variant paper,released`

    `adjudge compare systems --train train.jsonl.gz --dev tune.jsonl --test dev.jsonl --gold gold.jsonl`

    `adjudge compare mine.toml --models kgat,gear,concat --objectives ce,sr`

    `adjudge compare paper-bert-base --train train.json --dev tune.json --test dev.json --gold dev.jsonl --dry-run`

    `adjudge compare mine.toml --seeds 0,1,2,3,4 --set training.epochs=2 --set grid.beta=[0.999,0.9999] --json`

    `adjudge compare mine.toml --test dev-2.jsonl --runs runs/mine/runs --out runs/mine-dev-2 --best-only`

    `adjudge compare paper-bert-base --train train.json --dev tune.json --test dev.json --ray auto --gpus-per-run 1`
    """
    from adjudge.experiments.comparison import compare as compare_runs
    from adjudge.experiments.comparison import prepare
    from adjudge.experiments.plan import read_plan
    from adjudge.experiments.report import comparison_view

    values = settings.plan_values(set_, objectives=objectives, models=models, variants=variant, seeds=seeds)
    grid = read_plan(plan, values, {} if title is None else {"title": title})
    folder = out or Path("runs") / Path(plan).stem
    planned = prepare(grid, folder, runs)
    if dry_run:
        show_plan(planned, json)
        return
    progress, runner = settings.runner(planned, folder)
    with progress.live():
        summary = compare_runs(
            grid,
            folder,
            runs=runs,
            runner=runner,
            command=command_line(),
            protocol=settings.protocol,
            best_only=best_only,
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

    formats = split_list(format_) or []
    content = gather(folder, tuning=tuning or (), between=between, title=title)
    for path in write_report(content, out or folder, formats):
        typer.echo(path)


def split_list(text: str | None) -> list[str] | None:
    """``a,b,c`` as a list."""
    return None if text is None else [part.strip() for part in text.split(",")]
