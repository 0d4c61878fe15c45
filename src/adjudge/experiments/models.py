"""Models as an axis of a comparison: a kind with its options, on whatever backbone and under whatever objective."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adjudge.config import ModelSettings, RunSettings, merge

NOT_OF_A_MODEL = ("backbone", "init")
"""Model settings that are no property of a kind: the grid or all runs have them."""

NAMES = {
    "kgat": "KGAT",
    "mixture": "mixture",
    "concat": "concatenation",
    "gear": "GEAR",
    "bevers": "BEVERS",
}
"""What a reader calls a kind."""


class ModelEntry(BaseModel):
    """One value of the axis: a kind's name, or a table of model settings (``{kind, options, max_length, …}``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        settings = {"kind": value} if isinstance(value, str) else value
        if not isinstance(settings, Mapping):
            raise ValueError("expected the name of a kind, or a table of model settings")
        if forbidden := [name for name in NOT_OF_A_MODEL if name in settings]:
            raise ValueError(f"{', '.join(forbidden)} is not to be set here")
        ModelSettings.model_validate(settings)
        return {"settings": dict(settings)}

    @property
    def name(self) -> str:
        """Such as ``gear (layers 3)``."""
        return model_name(ModelSettings.model_validate(self.settings))

    def apply(self, run: RunSettings) -> RunSettings:
        """The run's settings with this model."""
        values = run.model_dump(exclude_unset=True)
        return RunSettings.model_validate(merge(values, {"model": self.settings}))


def model_name(settings: ModelSettings) -> str:
    """A kind with the options that are not its defaults: ``kgat``, ``gear (layers 3)``, ``bevers (trees)``."""
    options = [
        name if value is True else f"{name} {value}" for name, value in sorted(settings.options.items())
    ]
    return settings.kind + (f" ({', '.join(options)})" if options else "")


def display_name(model: str) -> str:
    """What a reader calls a model: ``GEAR (layers 3)``."""
    kind, space, options = model.partition(" ")
    return NAMES.get(kind, kind) + space + options
