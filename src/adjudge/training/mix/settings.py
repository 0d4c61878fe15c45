"""What defines a mix: its sources, their shares, and what is done with each."""

from __future__ import annotations

from collections.abc import Collection
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adjudge.config import AugmentSettings, problems_in, read_toml
from adjudge.errors import ConfigError

MIX = "mix.toml"
"""Stands beside the files of a mix and says what they were drawn from."""
_STRICT = ConfigDict(frozen=True, extra="forbid")


class MixSource(BaseModel):
    """One source of a mix and what is done with it."""

    model_config = _STRICT

    name: str
    about: str = Field("", description="what it is and its licence, for the model card")
    kind: Literal["pairs", "fever", "documents", "sentences", "written", "passages"] = Field(
        "pairs",
        description="claim–evidence pairs, FEVER's claims and pages, made by rule, or groups or whole documents "
        "written for the purpose",
    )
    paths: tuple[str, ...] = Field((), description="files below a data folder")
    share: float = Field(gt=0, description="of all examples")
    until: float = Field(1, gt=0, le=1, description="the part of the training in which it is shown")
    titles: float = Field(0.35, ge=0, le=1, description="share of the groups shown with titles")
    file_names: float = Field(
        0, ge=0, le=1, description="share of the groups whose titles are shown as names of files"
    )
    distractors: float = Field(0.12, ge=0, le=1, description="share shown among sentences of other examples")
    beside: int = Field(2, ge=1, le=4, description="most sentences of others that stand beside its own")
    near_miss: float = Field(
        0.06, ge=0, le=1, description="share shown with other sentences than its own: NOT ENOUGH INFO"
    )
    rows: int = Field(4, ge=1, le=5, description="most sentences of an example; those that share words stay")
    without: str = Field("", description="a pattern; pairs whose evidence matches are left out")
    held_out: float = Field(0.025, ge=0, lt=1, description="share of the groups that are never trained on")
    held_out_most: int = Field(250, ge=1, description="examples of them that are kept")


class MixSettings(BaseModel):
    """All that defines a mix."""

    model_config = _STRICT

    examples: int = Field(ge=1, description="how many to draw in all")
    seed: int = Field(0, ge=0)
    source: tuple[MixSource, ...] = Field(min_length=1)
    augment: AugmentSettings = Field(AugmentSettings(), description="the views of FEVER's claims")

    def leaving_out(self, names: Collection[str]) -> MixSettings:
        """The same mix without some sources; the shares of the others grow."""
        known = [source.name for source in self.source]
        if unknown := sorted(set(names) - set(known)):
            raise ConfigError(
                f"Sources {', '.join(unknown)} are not in the mix, which has {', '.join(known)}."
            )
        if not (remaining := tuple(source for source in self.source if source.name not in names)):
            raise ConfigError("A mix without all its sources is empty.")
        return self.model_copy(update={"source": remaining})


def find_mix(train: Path | None) -> MixSettings | None:
    """The mix that a training file was drawn as, which stands beside it; None where it is not a mix."""
    path = None if train is None else train.with_name(MIX)
    return None if path is None or not path.is_file() else read_mix(str(path))


def read_mix(name: str, **changes: Any) -> MixSettings:
    """The settings of a mix: one that comes with the package by its name, or a TOML file; ``changes`` win."""
    folder = resources.files("adjudge") / "presets" / "mix"
    if (known := folder / f"{name}.toml").is_file():
        with resources.as_file(known) as path:
            values = read_toml(path)
    else:
        names = sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir())
        if not Path(name).is_file():
            raise ConfigError(f"Mix {name!r} is neither a file nor one of {', '.join(names)}.")
        values = read_toml(Path(name))
    try:
        return MixSettings.model_validate({**values, **changes})
    except ValidationError as error:
        raise ConfigError(f"{name}: " + "; ".join(problems_in(error)) + ".") from None
