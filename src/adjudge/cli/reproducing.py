"""The command that makes published figures again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.output import JsonOption, progress_console, show, show_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from adjudge.experiments.reproduction import Outcome


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A name in ./reproductions, or the path of such a TOML file.")
    ] = None,
    data: Annotated[Path, typer.Option(help="The folder with the files it needs.")] = Path("data"),
    out: Annotated[Path | None, typer.Option(help="Where runs go; runs/reproduce/NAME by default.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show what can be reproduced.")] = False,
    json: JsonOption = False,
) -> None:
    """Run what made a published figure, and compare.

    A file of reproductions/ names the commands, the data they need, the expected figures and the tolerance. Exit
    code 1: a figure is off. What is finished is not repeated, so the command can be given again at any time.

    **Examples**

    `adjudge reproduce --list`

    `adjudge reproduce world-tiny`

    `adjudge reproduce paper-bert-base-sr-weighted --data KernelGAT/data`
    """
    from adjudge.errors import ConfigError
    from adjudge.experiments.reproduction import read_reproduction
    from adjudge.experiments.reproduction import reproduce as run

    if list_:
        _show_list(json)
        return
    if name is None:
        raise ConfigError("Name a reproduction; adjudge reproduce --list shows them.")
    console = progress_console()
    found = run(
        read_reproduction(name),
        data,
        out or Path("runs") / "reproduce" / Path(name).stem,
        lambda line: console.print(line, style="dim", markup=False, highlight=False, soft_wrap=True),
    )
    if json:
        show_json(found.to_dict())
    else:
        show(_outcome_view(found))
    if not found.ok:
        raise typer.Exit(1)


def _show_list(json: bool) -> None:
    from rich.table import Table

    from adjudge.errors import ConfigError
    from adjudge.experiments.reproduction import FOLDER, read_reproduction, reproduction_names

    names = reproduction_names()
    if not names:
        raise ConfigError(
            f"There is no ./{FOLDER} here: reproductions come with the source tree. Run it there."
        )
    files = {name: read_reproduction(name) for name in names}
    if json:
        show_json([{"name": name, **file.model_dump(mode="json")} for name, file in files.items()])
        return
    table = Table(box=None)
    for column in ("name", "what", "needs"):
        table.add_column(column)
    for name, file in files.items():
        needs = ["a GPU"] * file.needs.gpu + [item.file for item in file.needs.data]
        table.add_row(name, file.title, ", ".join(needs))
    show(table)


def _outcome_view(outcome: Outcome) -> RenderableType:
    from rich.table import Table

    table = Table(title=outcome.title, title_justify="left")
    table.add_column("figure")
    for column in ("found", "expected", "tolerance", "ok"):
        table.add_column(column, justify="right")
    for figure in outcome.figures:
        table.add_row(
            figure.path,
            f"{figure.found:.4f}",
            f"{figure.expected:.4f}",
            f"± {figure.tolerance:g}",
            "yes" if figure.ok else "NO",
            style="" if figure.ok else "bold red",
        )
    return table
