"""Make published figures again: python reproductions/reproduce.py NAME [--data FOLDER] [--out FOLDER] [--json].

A ``*.toml`` beside this file names the commands, the data they need, the figures they must give and the tolerance; one
with ``columns`` and ``rows`` stands for a reproduction a row. ``--list`` shows the names; the path of another such file
is a name too. Exit code 0: all figures agree; 1: one is off; 2: something is missing or failed. What is finished is not
repeated, so the command can be given again at any time.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rich.console import Console
from rich.table import Table

from adjudge.config import problems_in, read_toml
from adjudge.errors import AdjudgeError, ConfigError, DataError
from adjudge.io.files import sha256, write_json
from adjudge.io.signals import tidy_when_terminated

FOLDER = Path(__file__).parent
OUTPUT = "output.json"
_STRICT = ConfigDict(frozen=True, extra="forbid")


class DataFile(BaseModel):
    """A file that must be in the data folder."""

    model_config = _STRICT

    file: str
    source: str = Field(description="where to get it")
    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")


class Needs(BaseModel):
    """What must be there before anything runs."""

    model_config = _STRICT

    gpu: bool = False
    data: tuple[DataFile, ...] = ()


class Figure(BaseModel):
    """A number in the last command's JSON, by its dotted path; list items go by their index."""

    model_config = _STRICT

    path: str
    value: float = Field(allow_inf_nan=False)
    tolerance: float = Field(ge=0, allow_inf_nan=False)


class Reproduction(BaseModel):
    """What a file or a row of it says. ``{data}`` and ``{out}`` in commands stand for folders."""

    model_config = _STRICT

    title: str
    shows: str = Field(
        description="what one learns when the figures agree, and why the tolerance is what it is"
    )
    needs: Needs = Needs()
    commands: Annotated[tuple[tuple[str, ...], ...], Field(min_length=1)]
    figures: Annotated[tuple[Figure, ...], Field(min_length=1)]


@dataclass(frozen=True)
class MeasuredFigure:
    """A figure as it came out."""

    path: str
    measured: float
    expected: float
    tolerance: float

    @property
    def ok(self) -> bool:
        """Within the tolerance; rounding to the last digit printed does not count."""
        return abs(self.measured - self.expected) <= self.tolerance + 1e-9


@dataclass(frozen=True)
class Outcome:
    """What a reproduction gave."""

    title: str
    out: Path
    figures: tuple[MeasuredFigure, ...]

    @property
    def ok(self) -> bool:
        """Whether all figures agree."""
        return all(figure.ok for figure in self.figures)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        figures = [{**asdict(figure), "ok": figure.ok} for figure in self.figures]
        return {"title": self.title, "out": str(self.out), "ok": self.ok, "figures": figures}


def read_reproductions(path: Path) -> dict[str, Reproduction]:
    """The reproductions of a file by name: the file's own, or the file's and a row's.

    Raises:
        ConfigError: listing everything that is wrong with the file.
    """
    values = read_toml(path)
    columns, rows = values.pop("columns", None), values.pop("rows", None)
    try:
        if rows is None:
            return {path.stem: Reproduction.model_validate(values)}
        filled = [dict(zip(columns, row, strict=True)) for row in rows]
        return {
            f"{path.stem}-{row['name']}": Reproduction.model_validate(_fill(values, row)) for row in filled
        }
    except ValidationError as error:
        raise ConfigError(f"{path}: " + "; ".join(problems_in(error)) + ".") from None
    except (TypeError, ValueError, KeyError):
        raise ConfigError(
            f"{path}: columns and rows do not fit; expected a column 'name', and rows with a value a column."
        ) from None


def _fill(values: Any, row: Mapping[str, Any]) -> Any:
    """The values with ``{column}`` replaced by what the row has there."""
    if isinstance(values, Mapping):
        return {key: _fill(value, row) for key, value in values.items()}
    if isinstance(values, list):
        return [_fill(value, row) for value in values]
    if isinstance(values, str):
        for column, value in row.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            values = values.replace(f"{{{column}}}", text)
    return values


def known_reproductions() -> dict[str, Reproduction]:
    """All reproductions of this folder, by name."""
    files = [read_reproductions(path) for path in sorted(FOLDER.glob("*.toml"))]
    return {name: item for reproductions in files for name, item in reproductions.items()}


def find_reproduction(name: str) -> Reproduction:
    """A reproduction by its name, or by the path of a file that holds one."""
    reproductions = read_reproductions(Path(name)) if Path(name).is_file() else known_reproductions()
    key = Path(name).stem if Path(name).is_file() else name
    if key not in reproductions:
        raise ConfigError(f"{name!r} is neither a file nor the name of a reproduction; --list shows them.")
    return reproductions[key]


def reproduce(
    reproduction: Reproduction, data: Path, out: Path, show_command: Callable[[str], None] = lambda line: None
) -> Outcome:
    """Check the needs, run the commands, and compare the figures.

    Commands run as processes of this interpreter. They recognise their own finished work in ``out`` and do not
    repeat it, so an interrupted reproduction goes on where it was.

    Args:
        reproduction: what to do.
        data: the folder that holds the files it needs.
        out: the folder for what the commands write, and for the last one's output (``output.json``).
        show_command: called with each command before it runs.

    Raises:
        ConfigError: listing every need that is not met.
        DataError: a command failed, or its output has no such figure.
    """
    if unmet := list(_unmet_needs(reproduction.needs, data)):
        raise ConfigError(
            f"{reproduction.title}: nothing was run.\n" + "\n".join(f"  {line}" for line in unmet)
        )
    out.mkdir(parents=True, exist_ok=True)
    printed = b""
    for command in reproduction.commands:
        arguments = [part.replace("{data}", str(data)).replace("{out}", str(out)) for part in command]
        show_command(shlex.join(["adjudge", *arguments]))
        printed = _run_command(arguments)
    try:
        output = json.loads(printed)
    except ValueError as error:
        raise DataError(f"adjudge {reproduction.commands[-1][0]} printed no JSON ({error}).") from None
    write_json(out / OUTPUT, output)
    figures = tuple(_measured_figure(output, figure) for figure in reproduction.figures)
    return Outcome(reproduction.title, out, figures)


def _run_command(arguments: list[str]) -> bytes:
    with subprocess.Popen([sys.executable, "-m", "adjudge", *arguments], stdout=subprocess.PIPE) as process:
        try:
            printed, _ = process.communicate()
        except KeyboardInterrupt:  # which the terminal sends to the command too
            process.wait()
            raise
        except BaseException:  # not killed, as subprocess.run would: it has files to tidy up
            process.terminate()
            raise
    if process.returncode:
        raise DataError(f"adjudge {arguments[0]} ended with exit code {process.returncode}; see above.")
    return printed


def _unmet_needs(needs: Needs, data: Path) -> Iterator[str]:
    if needs.gpu:
        import torch

        if not torch.cuda.is_available():
            yield "A GPU is needed and torch finds none here."
    for item in needs.data:
        path = data / item.file
        if not path.is_file():
            yield f"{path}: no such file. Get it: {item.source}. Name its folder with --data."
        elif item.sha256 is not None and (actual := sha256(path)) != item.sha256:
            yield f"{path}: is another file (SHA-256 {actual}, expected {item.sha256}). Get it: {item.source}."


def _measured_figure(output: Any, figure: Figure) -> MeasuredFigure:
    value = output
    for part in figure.path.split("."):
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, ValueError, TypeError):
            raise DataError(
                f"The output has no {figure.path!r} ({part!r} is not there); see {OUTPUT}."
            ) from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise DataError(f"The output's {figure.path!r} is {value!r}, expected a number; see {OUTPUT}.")
    return MeasuredFigure(figure.path, float(value), figure.value, figure.tolerance)


def list_view() -> Table:
    """Every reproduction with what it needs."""
    table = Table("name", "what", "needs", box=None)
    for name, item in known_reproductions().items():
        needs = ["a GPU"] * item.needs.gpu + [file.file for file in item.needs.data]
        table.add_row(name, item.title, ", ".join(needs))
    return table


def outcome_view(outcome: Outcome) -> Table:
    """The figures beside those expected."""
    table = Table("figure", title=outcome.title, title_justify="left")
    for column in ("measured", "expected", "tolerance", "ok"):
        table.add_column(column, justify="right")
    for figure in outcome.figures:
        cells = (f"{figure.measured:.4f}", f"{figure.expected:.4f}", f"± {figure.tolerance:g}")
        style = "" if figure.ok else "bold red"
        table.add_row(figure.path, *cells, "yes" if figure.ok else "NO", style=style)
    return table


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Run what made a published figure, and compare.")
    parser.add_argument("name", nargs="?", help="a name that --list shows, or the path of such a TOML file")
    parser.add_argument("--data", type=Path, default=Path("data"), help="the folder with the files it needs")
    parser.add_argument("--out", type=Path, help="where runs go; runs/reproduce/NAME by default")
    parser.add_argument("--list", action="store_true", help="show what can be reproduced")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    options = parser.parse_args(arguments)
    console = Console() if sys.stdout.isatty() else Console(width=160)
    if options.list:
        console.print(list_view())
        return 0
    if options.name is None:
        raise ConfigError("Name a reproduction; --list shows them.")
    out = options.out or Path("runs") / "reproduce" / Path(options.name).stem
    outcome = reproduce(
        find_reproduction(options.name), options.data, out, lambda line: print("$", line, file=sys.stderr)
    )
    if options.json:
        print(json.dumps(outcome.to_dict(), indent=2))
    else:
        console.print(outcome_view(outcome))
    return 0 if outcome.ok else 1


if __name__ == "__main__":
    tidy_when_terminated()
    try:
        sys.exit(main(sys.argv[1:]))
    except AdjudgeError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
