"""Commands that look at data, fetch it, or make it up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import JsonOption, LabelOption, aliases
from adjudge.cli.output import progress_console, show, show_json

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

    counts = dataset_stats(file, format, aliases(label))
    if json:
        show_json(asdict(counts))
    else:
        show(_stats_view(counts))


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
    from adjudge.data.download import fetch as fetch_files
    from adjudge.data.formats import find_download

    if name is None:
        show(_downloads_view())
        return
    download = find_download(name)
    console = progress_console()
    with bar(console) as progress:
        task = progress.add_task(name, total=0, note="bytes")

        def report(file: str, done: int, total: int | None) -> None:
            progress.update(task, description=file, completed=done, total=total or done)

        for path in fetch_files(name, download, out, report):
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

    invented = generate(claims, seed)
    save_world(invented, out, seed=seed)
    typer.echo(f"{out}: {len(invented.pages):,} pages, {len(invented.claims):,} claims.")


@app.command(no_args_is_help=True)
def mix(
    name: Annotated[str, typer.Argument(help="judges, or a TOML file of sources and shares.")],
    data: Annotated[
        list[Path], typer.Option(help="A folder that the sources' paths are below; may be repeated.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to make: train.jsonl.gz and held_out.jsonl.gz.")],
    examples: Annotated[int | None, typer.Option(min=1, help="How many to draw, over all sources.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Another seed, other examples.")] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="SOURCE", help="Leave a source out; may be repeated.")
    ] = None,
) -> None:
    """Mix a training file of several sources by stated shares, and a held-out file of the same.

    Sources are FEVER's claims, files of claim–evidence pairs, written groups of evidence and claims, written documents,
    and material made by rule: facts of ordinary documents in many wordings, and claims made of sentences. Train on it
    in its order (`training.shuffle_claims=false`): examples that differ in what changes the label stand side by side.

    **Examples**

    `adjudge data mix judges --data data --data reproductions --out mix`

    `adjudge train --preset small-judge --train mix/train.jsonl.gz --dev mix/held_out.jsonl.gz --out runs/small`
    """
    from adjudge.config import to_toml
    from adjudge.data.kgat import write_examples
    from adjudge.io.files import write_text
    from adjudge.training.mix import MIX, draw_mix, read_mix

    changes = {"examples": examples, "seed": seed}
    settings = read_mix(name, **{key: value for key, value in changes.items() if value is not None})
    settings = settings.leaving_out(without or ())
    drawn_mix = draw_mix(settings, data)
    write_text(out / MIX, to_toml(settings))
    for part, drawn_examples in (("train", drawn_mix.train), ("held_out", drawn_mix.held_out)):
        path = out / f"{part}.jsonl.gz"
        write_examples(path, drawn_examples)
        typer.echo(f"{path}: {len(drawn_examples):,} examples.")


@app.command(no_args_is_help=True)
def proofs(
    file: Annotated[Path, typer.Argument(help="Claims with labels and evidence, gold first or alone.")],
    out: Annotated[Path, typer.Option(help="Training examples: one a step, its label the operator.")],
    texts: Annotated[
        Path | None, typer.Option(help="Also source and target texts, for a sequence-to-sequence model.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Of at most this many claims.")] = None,
    label: LabelOption = None,
) -> None:
    """Make training proofs in natural logic from claims with gold evidence, by rules.

    Each proof ends at its claim's label. A prover is a model trained on the steps; it judges with `--model
    prover:FOLDER` and explains other judges' verdicts with `--prover FOLDER`.

    **Examples**

    `adjudge data proofs train.jsonl.gz --out steps.jsonl --limit 2000`

    `adjudge train --train steps.jsonl --model concat --out runs/prover --set
    'data.labels=["EQUIVALENCE","FORWARD","REVERSE","NEGATION","ALTERNATION","INDEPENDENCE"]'`
    """
    from itertools import islice

    from adjudge.data.formats import read_examples
    from adjudge.data.kgat import write_examples
    from adjudge.io.jsonl import write_json_lines
    from adjudge.judges.proof.grammar import source_text, target_text
    from adjudge.judges.proof.training import operator_examples, training_proofs
    from adjudge.types import FEVER_LABELS

    labels = FEVER_LABELS.with_aliases(aliases(label))
    examples = islice(read_examples(file, labels=labels, require_labels=True), limit)
    made = list(training_proofs(examples))
    count = write_examples(out, operator_examples(made))
    typer.echo(f"{out}: {count:,} steps of {len(made):,} proofs.")
    if texts is not None:
        records = (
            {
                "id": proof.example.id,
                "source": source_text(proof.example.claim, [e.text for e in proof.example.evidence]),
                "target": target_text(proof),
            }
            for proof in made
        )
        typer.echo(f"{texts}: {write_json_lines(texts, records):,} texts.")


def _stats_view(counts: DatasetStats) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for label, count in counts.labels.items():
        table.add_row(label, f"{count:,}")
    if counts.unlabelled:
        table.add_row("without label", f"{counts.unlabelled:,}")
    table.add_row("claims", f"{counts.total:,}", style="bold")
    table.add_row("claims with evidence", f"{counts.with_evidence:,}")
    table.add_row("evidence sentences per claim", f"{counts.mean_evidence:.2f}")
    table.add_row("words per claim", f"{counts.mean_claim_words:.1f}")
    if counts.mean_evidence_words is not None:
        table.add_row("words per evidence sentence", f"{counts.mean_evidence_words:.1f}")
    if counts.gold is not None:
        table.add_row("gold groups", f"{counts.gold.groups:,}")
        table.add_row("of several sentences", f"{counts.gold.multi_sentence_groups:,}")
        table.add_row("claims that need several sentences", f"{counts.gold.claims_needing_several:,}")
    return Group(Text(f"{counts.path} ({counts.format})"), table)


def _downloads_view() -> RenderableType:
    from rich.table import Table

    from adjudge.data.formats import DOWNLOADS

    table = Table(box=None)
    for column in ("name", "what", "licence", "home page"):
        table.add_column(column)
    for name, download in DOWNLOADS.items():
        table.add_row(name, download.title, download.licence, download.homepage)
    return table
