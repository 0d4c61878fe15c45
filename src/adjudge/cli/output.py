"""What commands share to print: consoles, JSON, and text that cannot steer a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from adjudge.data.text import without_controls
from adjudge.errors import ConfigError
from adjudge.io.temporary import refuse_special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from adjudge.types import Verdict


_SHOWN = 80
"""Characters of a claim in a note."""


def terminal_safe(text: str) -> str:
    """Text of unknown origin on one line, without characters that could control the terminal."""
    return without_controls(" ".join(text.split()))


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


def cut_note(cut: int, verdicts: int) -> str:
    """What is said where a model did not read all that it was given."""
    return (
        f"{cut:,} of {verdicts:,} verdicts: the model read only the beginning of the claim or of a sentence, which "
        "together are longer than it takes (cut, claim_cut in JSON). Give single statements and sentences."
    )


def note_cut(verdicts: Sequence[Verdict]) -> None:
    """Say on standard error where a model did not read all that it was given."""
    if cut := sum(verdict.cut for verdict in verdicts):
        progress_console().print(cut_note(cut, len(verdicts)), highlight=False, markup=False)


def note_statements(claims: Sequence[str]) -> None:
    """Say on standard error which of the typed claims state nothing that documents could support or refute."""
    from adjudge.data.segments import reason_not_to_check

    for claim in claims:
        text = claim.strip()
        ended = text if text[-1:] in ".!?…\"”'’)" else f"{text}."
        if reason := reason_not_to_check(ended):
            shown = terminal_safe(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
            progress_console().print(
                f"“{shown}”: {reason}. A verdict on it means little: give one statement, in English.",
                highlight=False,
                markup=False,
            )


def show_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def refuse_overwrite(path: Path, force: bool) -> None:
    """Results are not lost by a repeated command."""
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder, expected the name of a file to write. Say {path / 'NAME'}.")
    refuse_special(path)
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists. Choose another name, or pass --force to replace it.")


def command_line() -> str:
    """The command as it was typed, for manifests."""
    import shlex

    return shlex.join(["adjudge", *sys.argv[1:]])
