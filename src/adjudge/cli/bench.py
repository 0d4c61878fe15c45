"""The command that measures the installed package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import JsonOption, takes
from adjudge.cli.output import progress_console, show, show_json
from adjudge.serving.settings import VerifierSettings

if TYPE_CHECKING:
    from rich.table import Table

    from adjudge.serving.bench import BenchReport


@takes(VerifierSettings, "model", "selector", "device", "precision", "runtime")
def bench(
    *,
    settings: VerifierSettings,
    claims: Annotated[int, typer.Option(min=1, help="Claims of a bulk round.")] = 64,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; the middle one counts.")] = 3,
    out: Annotated[Path | None, typer.Option(help="Write the figures here too, as JSON.")] = None,
    json: JsonOption = False,
) -> None:
    """Measure verifying on this machine: the first verdict, one claim, many, an index.

    Needs nothing but the installed package: claims and pages are made up. A minute or two on two cores.

    **Examples**

    `adjudge bench`

    `adjudge bench --runtime torch --precision fp32 --out torch.json`
    """
    import msgspec

    from adjudge.io.files import write_json
    from adjudge.serving.bench import BenchSettings, run_bench

    console = progress_console()
    report = run_bench(
        settings,
        BenchSettings(claims, rounds),
        lambda step: console.print(f"measuring {step} …", highlight=False),
    )
    figures = msgspec.to_builtins(report)
    if out is not None:
        write_json(out, figures)
    if json:
        show_json(figures)
    else:
        show(_table(report))


def _table(report: BenchReport) -> Table:
    from rich.table import Table

    table = Table(title=f"{report.machine['cpu']}, {report.machine['threads']} threads", title_justify="left")
    for heading in ("", "wall", "processor time", "a second"):
        table.add_column(heading, justify="left" if not heading else "right")
    rows = (
        ("first verdict of a process", report.first_verdict, ""),
        ("one claim, five sentences", report.one_claim, "claims"),
        ("many claims, evidence given", report.bulk, "claims"),
        ("many claims, evidence searched for", report.end_to_end, "claims"),
        ("sentences embedded", report.embedding, "sentences"),
    )
    for name, timing, unit in rows:
        seconds = (f"{1e3 * value / timing.work:,.1f} ms" for value in (timing.wall_s, timing.cpu_s))
        table.add_row(name, *seconds, f"{timing.rate:,.1f} {unit}" if unit else "")
    table.add_row("memory of the first verdict", f"{report.memory_mb:,.0f} MB", "", "")
    return table
