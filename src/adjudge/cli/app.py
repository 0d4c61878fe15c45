"""The commands by name. Heavy imports stay inside the commands, so that ``--help`` answers at once."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from adjudge import __version__
from adjudge.cli import (
    assembling,
    battery,
    checking,
    data,
    evidence,
    experiments,
    models,
    scoring,
    serving,
    training,
    tuning,
    verifying,
)

APP_SETTINGS: dict[str, Any] = {
    "name": "adjudge",
    "help": "Fact verification: find the evidence, weigh it, decide.",
    "no_args_is_help": True,
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "markdown",
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
app = typer.Typer(**APP_SETTINGS)
for command in (
    verifying.verify,
    checking.check,
    checking.calibrate,
    evidence.index,
    evidence.search,
    assembling.assemble,
    training.train,
    training.predict,
    training.export,
    evidence.train_ranker,
    scoring.score,
    battery.battery,
    experiments.compare,
    tuning.tune,
    experiments.report,
):
    app.command(no_args_is_help=True)(command)
app.command()(serving.serve)
app.add_typer(data.app, name="data")
app.add_typer(models.app, name="model")


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"adjudge {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Fact verification: find the evidence, weigh it, decide."""
