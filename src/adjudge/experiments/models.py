"""Models as an axis of a comparison: a kind with its options and, where it is to have its own, a selector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adjudge.config import ModelSettings, RunSettings, merge
from adjudge.judges.registry import KINDS

NOT_OF_A_MODEL = ("backbone", "init")
"""Model settings that are no property of a kind: the grid or all runs have them."""


class ModelEntry(BaseModel):
    """One value of the axis: a kind's name, or a table of model settings (``{kind, options, max_length, …}``).

    ``selector`` in the table orders the sentences of the claims that this model judges.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: dict[str, Any] = Field(default_factory=dict)
    selector: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        settings = {"kind": value} if isinstance(value, str) else value
        if not isinstance(settings, Mapping):
            raise ValueError("expected the name of a kind, or a table of model settings")
        if forbidden := [name for name in NOT_OF_A_MODEL if name in settings]:
            raise ValueError(f"{', '.join(forbidden)} is not to be set here")
        model = {name: setting for name, setting in settings.items() if name != "selector"}
        ModelSettings.model_validate(model)
        return {"settings": model, "selector": settings.get("selector")}

    @property
    def name(self) -> str:
        """Such as ``gear (layers 3)``."""
        return model_name(ModelSettings.model_validate(self.settings), self.selector)

    def apply(self, run: RunSettings) -> RunSettings:
        """The run's settings with this model."""
        layers = [run.model_dump(exclude_unset=True), {"model": self.settings}]
        if self.selector is not None:
            layers.append({"data": {"selector": self.selector}})
        return RunSettings.model_validate(merge(*layers))


def model_name(settings: ModelSettings, selector: str | None = None) -> str:
    """A kind with the options that are not its defaults: ``kgat``, ``gear (layers 3)``, ``kgat + fusion``."""
    options = [
        name if value is True else f"{name} {value}" for name, value in sorted(settings.options.items())
    ]
    return (
        settings.kind
        + (f" ({', '.join(options)})" if options else "")
        + ("" if selector is None else f" + {selector}")
    )


def display_name(model: str) -> str:
    """What a reader calls a model: ``GEAR (layers 3)``, its kind by the class in the registry.

    A name in capitals stays as it is, other names are words: ``Mixture`` reads ``mixture``.
    """
    kind, space, options = model.partition(" ")
    _, _, name = KINDS.get(kind, kind).rpartition(":")
    return (name if name.isupper() else name.lower()) + space + options
