"""What commands share: consoles, JSON, and options that several of them take."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.errors import ConfigError
from adjudge.types import FEVER_LABELS, LabelSet

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
LabelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--label", metavar="THEIRS=OURS", help="Another spelling of a label, e.g. SUPPORTED=SUPPORTS."
    ),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work on a Ray cluster: auto, HOST:PORT, ray://HOST:PORT; or local for this machine.",
    ),
]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
PrecisionOption = Annotated[
    str, typer.Option(help="fp32, int8 (faster on many CPUs), or auto: what suits the device.")
]


def show(view: RenderableType) -> None:
    """Print a table on standard output; in a file it is as wide as it needs to be."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(view)


def progress_console() -> Console:
    """Standard error."""
    from rich.console import Console

    return Console(stderr=True)


def show_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def aliases(pairs: Sequence[str] | None) -> dict[str, str]:
    """``THEIRS=OURS`` pairs as a mapping."""
    spelled = {}
    for pair in pairs or ():
        theirs, equals, ours = pair.partition("=")
        if not (equals and theirs.strip() and ours.strip()):
            raise ConfigError(f"--label {pair!r}: expected THEIRS=OURS, such as SUPPORTED=SUPPORTS.")
        spelled[theirs.strip()] = FEVER_LABELS.parse(ours)
    return spelled


def labels(pairs: Sequence[str] | None) -> LabelSet:
    """FEVER's labels with the user's spellings."""
    return FEVER_LABELS.with_aliases(aliases(pairs))


def refuse_overwrite(path: Path, force: bool) -> None:
    """Results are not lost by a repeated command."""
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists. Choose another name, or pass --force to replace it.")


def command_line() -> str:
    """The command as it was typed, for manifests."""
    import shlex

    return shlex.join(["adjudge", *sys.argv[1:]])
