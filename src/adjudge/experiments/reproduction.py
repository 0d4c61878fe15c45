"""Reproductions as data: a file names the commands, what they need, and the figures they must give."""

from __future__ import annotations

import math
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adjudge.config import problems_in, read_toml
from adjudge.data.files import sha256, write_json
from adjudge.errors import ConfigError, DataError

FOLDER = Path("reproductions")
"""Where names are looked up: they come with the source tree, not with the installed package."""

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
    """What a file of reproductions/ says. ``{data}`` and ``{out}`` in commands stand for folders."""

    model_config = _STRICT

    title: str
    shows: str = Field(
        description="what one learns when the figures agree, and why the tolerance is what it is"
    )
    needs: Needs = Needs()
    commands: Annotated[tuple[tuple[str, ...], ...], Field(min_length=1)]
    figures: Annotated[tuple[Figure, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Found:
    """A figure as it came out."""

    path: str
    found: float
    expected: float
    tolerance: float

    @property
    def ok(self) -> bool:
        """Within the tolerance; rounding to the last digit printed does not count."""
        return abs(self.found - self.expected) <= self.tolerance + 1e-9


@dataclass(frozen=True)
class Outcome:
    """What a reproduction gave."""

    title: str
    out: Path
    figures: tuple[Found, ...]

    @property
    def ok(self) -> bool:
        """Whether all figures agree."""
        return all(figure.ok for figure in self.figures)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        figures = [{**asdict(figure), "ok": figure.ok} for figure in self.figures]
        return {"title": self.title, "out": str(self.out), "ok": self.ok, "figures": figures}


def reproduction_names() -> list[str]:
    """The reproductions of the source tree that this is called in."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_reproduction(name: str) -> Reproduction:
    """A reproduction by its name in ./reproductions, or by the path of its file."""
    path = FOLDER / f"{name}.toml"
    if not path.is_file():
        path = Path(name)
    if not path.is_file():
        where = f"{name!r} is neither a file nor a name in ./{FOLDER}"
        if reproduction_names():
            raise ConfigError(f"{where}; adjudge reproduce --list shows the names.")
        raise ConfigError(
            f"{where}, which is not here: reproductions come with the source tree. Run it there."
        )
    try:
        return Reproduction.model_validate(read_toml(path))
    except ValidationError as error:
        raise ConfigError(f"{path}: " + "; ".join(problems_in(error)) + ".") from None


def reproduce(
    reproduction: Reproduction, data: Path, out: Path, tell: Callable[[str], None] = lambda line: None
) -> Outcome:
    """Check the needs, run the commands, and compare the figures.

    Commands run as processes of this interpreter. They find their own finished work in ``out`` and do not
    repeat it, so an interrupted reproduction goes on where it was.

    Args:
        reproduction: what to do.
        data: the folder that holds the files it needs.
        out: the folder for what the commands write, and for the last one's output (``output.json``).
        tell: called with each command before it runs.

    Raises:
        ConfigError: listing every need that is not met.
        DataError: a command failed, or its output has no such figure.
    """
    if unmet := list(_unmet(reproduction.needs, data)):
        raise ConfigError(
            f"{reproduction.title}: nothing was run.\n" + "\n".join(f"  {line}" for line in unmet)
        )
    out.mkdir(parents=True, exist_ok=True)
    printed = b""
    for command in reproduction.commands:
        arguments = [part.replace("{data}", str(data)).replace("{out}", str(out)) for part in command]
        tell(shlex.join(["adjudge", *arguments]))
        printed = _output(arguments)
    try:
        output = msgspec.json.decode(printed)
    except msgspec.DecodeError as error:
        raise DataError(f"adjudge {reproduction.commands[-1][0]} printed no JSON ({error}).") from None
    write_json(out / OUTPUT, output)
    return Outcome(reproduction.title, out, tuple(_find(output, figure) for figure in reproduction.figures))


def _output(arguments: list[str]) -> bytes:
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


def _unmet(needs: Needs, data: Path) -> Sequence[str]:
    unmet = []
    if needs.gpu:
        import torch

        if not torch.cuda.is_available():
            unmet.append("A GPU is needed and torch finds none here.")
    for item in needs.data:
        path = data / item.file
        if not path.is_file():
            unmet.append(f"{path}: no such file. Get it: {item.source}. Name its folder with --data.")
        elif item.sha256 is not None and (found := sha256(path)) != item.sha256:
            unmet.append(
                f"{path}: is another file (SHA-256 {found}, expected {item.sha256}). Get it: {item.source}."
            )
    return unmet


def _find(output: Any, figure: Figure) -> Found:
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
    return Found(figure.path, float(value), figure.value, figure.tolerance)
