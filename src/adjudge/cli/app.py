"""The commands by name. Heavy imports stay inside the commands, so that ``--help`` answers at once."""

from __future__ import annotations

from typing import Annotated

import typer

from adjudge import __version__
from adjudge.cli import (
    assembling,
    data,
    evidence,
    experiments,
    reproducing,
    scoring,
    training,
    tuning,
    verifying,
)

app = typer.Typer(
    name="adjudge",
    help="Fact verification: find the evidence, weigh it, decide.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(no_args_is_help=True)(verifying.verify)
app.command(no_args_is_help=True)(evidence.index)
app.command(no_args_is_help=True)(evidence.search)
app.command(no_args_is_help=True)(assembling.assemble)
app.command(no_args_is_help=True)(training.train)
app.command(no_args_is_help=True)(training.predict)
app.command(no_args_is_help=True)(training.export)
app.command("train-ranker", no_args_is_help=True)(evidence.train_ranker)
app.command(no_args_is_help=True)(scoring.score)
app.command(no_args_is_help=True)(experiments.compare)
app.command(no_args_is_help=True)(experiments.retest)
app.command(no_args_is_help=True)(tuning.tune)
app.command(no_args_is_help=True)(reproducing.reproduce)
app.command(no_args_is_help=True)(experiments.report)
app.add_typer(data.app, name="data")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"adjudge {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Fact verification: find the evidence, weigh it, decide."""
