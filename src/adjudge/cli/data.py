"""Commands that look at data, fetch it, or make it up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.output import JsonOption, LabelOption, labels, progress_console, show, show_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from adjudge.data.stats import DatasetStats

app = typer.Typer(help="Look at data, fetch it, or make it up.", no_args_is_help=True)


@app.command(no_args_is_help=True)
def stats(
    file: Annotated[Path, typer.Argument(help="Claims in any format adjudge reads, gz or plain.")],
    format: Annotated[str | None, typer.Option(help="Name the format rather than recognise it.")] = None,
    label: LabelOption = None,
    json: JsonOption = False,
) -> None:
    """Count the claims of a file by label, as the paper's Table 1 does.

    **Example**

    `adjudge data stats train.jsonl.gz`
    """
    from dataclasses import asdict

    from adjudge.data.stats import dataset_stats

    found = dataset_stats(file, format, labels(label) if label else None)
    if json:
        show_json(asdict(found))
    else:
        show(_stats_view(found))


@app.command()
def fetch(
    name: Annotated[str | None, typer.Argument(help="Which data; leave out for the list.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to put it in.")] = Path("data"),
) -> None:
    """Download a public data set: checksums verified, interrupted downloads resumed, mirrors tried.

    **Examples**

    `adjudge data fetch`

    `adjudge data fetch fever --out data/fever`
    """
    from adjudge.cli.progress import bar
    from adjudge.data.download import fetch as download

    if name is None:
        show(_sources_view())
        return
    console = progress_console()
    with bar(console) as progress:
        task = progress.add_task(name, total=0, note="bytes")

        def report(file: str, done: int, total: int | None) -> None:
            progress.update(task, description=file, completed=done, total=total or done)

        for path in download(name, out, report):
            typer.echo(path)


@app.command(no_args_is_help=True)
def world(
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    claims: Annotated[int, typer.Option(min=1, help="How many claims, over all splits.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another world.")] = 0,
) -> None:
    """Make up an encyclopedia and claims about it, in FEVER's formats.

    Writes wiki-001.jsonl (pages), and per split (train, tune, dev, test) claims-SPLIT.jsonl with gold groups,
    SPLIT.jsonl with evidence sentences and kinds-SPLIT.jsonl with the phenomenon each claim tests.

    **Example**

    `adjudge data world --claims 5000 --seed 1 --out world`
    """
    from adjudge.data.world import generate, save_world

    made = generate(claims, seed)
    save_world(made, out, seed=seed)
    typer.echo(f"{out}: {len(made.pages):,} pages, {len(made.claims):,} claims.")


def _stats_view(found: DatasetStats) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for label, number in found.labels.items():
        table.add_row(label, f"{number:,}")
    if found.unlabelled:
        table.add_row("without label", f"{found.unlabelled:,}")
    table.add_row("claims", f"{found.total:,}", style="bold")
    table.add_row("claims with evidence", f"{found.with_evidence:,}")
    table.add_row("evidence sentences per claim", f"{found.mean_evidence:.2f}")
    table.add_row("words per claim", f"{found.mean_claim_words:.1f}")
    if found.mean_evidence_words is not None:
        table.add_row("words per evidence sentence", f"{found.mean_evidence_words:.1f}")
    if found.gold is not None:
        table.add_row("gold groups", f"{found.gold.groups:,}")
        table.add_row("of several sentences", f"{found.gold.multi_sentence_groups:,}")
        table.add_row("claims that need several sentences", f"{found.gold.claims_needing_several:,}")
    return Group(Text(f"{found.path} ({found.format})"), table)


def _sources_view() -> RenderableType:
    from rich.table import Table

    from adjudge.data.sources import SOURCES

    table = Table(box=None)
    for column in ("name", "what", "licence", "home page"):
        table.add_column(column)
    for name, source in SOURCES.items():
        table.add_row(name, source.title, source.licence, source.homepage)
    return table
