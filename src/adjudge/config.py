"""Settings: frozen, validated, the same in Python, TOML and on the command line. Unknown keys are errors."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from adjudge.errors import ConfigError
from adjudge.types import FEVER_LABELS, MAX_EVIDENCE, LabelSet

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_STRICT = ConfigDict(frozen=True, extra="forbid")


class DataSettings(BaseModel):
    """Which files, and what to read of them."""

    model_config = _STRICT

    train: Path | None = Field(None, description="training claims with evidence")
    dev: Path | None = Field(None, description="claims that choose the checkpoint")
    pages: Path | None = Field(None, description="pages of the training claims, for [augment]")
    holdout: float = Field(
        0, ge=0, lt=1, description="share of entities kept out of training; they are dev where none is given"
    )
    test: Path | None = Field(None, description="claims to predict and score when training is done")
    gold: Path | None = Field(None, description="gold groups of the test claims, for the FEVER score")
    field: Literal["evidence", "retrieved"] = Field("evidence", description="which sentences to train on")
    limit: int | None = Field(None, ge=1, description="train on the first so many claims only")
    dev_limit: int | None = Field(None, ge=1, description="choose the checkpoint on so many claims only")
    labels: tuple[str, ...] = FEVER_LABELS.names
    aliases: dict[str, str] = Field(default_factory=dict, description="other spellings of the labels")

    @property
    def label_set(self) -> LabelSet:
        """The labels, in class order, with all the spellings they are known by."""
        known = FEVER_LABELS.aliases if self.labels == FEVER_LABELS.names else {}
        return LabelSet(self.labels, {**known, **self.aliases})


class ModelSettings(BaseModel):
    """The verdict model and how text reaches it."""

    model_config = _STRICT

    kind: Literal["kgat", "mixture", "concat"] = "kgat"
    backbone: str = Field("minilm", description="a short name, a hub id or a path")
    init: str | None = Field(
        None, description="begin from a trained model: shipped, or the folder of a run or an exported model"
    )
    max_length: int = Field(130, ge=16, le=512, description="tokens per row")
    pooling: Literal["pooler", "mean"] = Field("pooler", description="a row's state: pooler's, or mean token")
    dropout: float = Field(0.1, ge=0, lt=1, description="on what the backbone gives to the head")
    backbone_dropout: float | None = Field(
        None, ge=0, lt=1, description="inside the backbone; none: as it was pre-trained"
    )
    titles: bool = Field(True, description="show the model the page's title")
    released: bool = Field(False, description="attend to empty rows, as the published code does")

    @model_validator(mode="after")
    def _released_is_kgat(self) -> ModelSettings:
        if self.released and self.kind != "kgat":
            raise ValueError("released is a variant of kgat only")
        return self

    @property
    def empty_rows(self) -> int:
        """Rows a claim is padded to."""
        return MAX_EVIDENCE if self.released else 0


class ObjectiveSettings(BaseModel):
    """The loss."""

    model_config = _STRICT

    name: Literal["ce", "mll", "srn", "sr"] = "ce"
    lam: float = Field(0.25, ge=0, allow_inf_nan=False, description="λ, weight of the complement terms")
    beta: float | None = Field(None, ge=0, lt=1, description="β of the class weights; none: no weighting")
    variant: Literal["paper", "released"] = "paper"
    weighting: Literal["gold", "complement"] = "gold"
    normalise: Literal["claims", "weights"] = "claims"

    @model_validator(mode="after")
    def _released_has_one_form(self) -> ObjectiveSettings:
        if self.variant == "released" and (self.weighting, self.normalise) != ("gold", "claims"):
            raise ValueError("variant 'released' has no other weighting or normalise")
        return self


class TrainingSettings(BaseModel):
    """The optimizer and its schedule. The defaults are KGAT's."""

    model_config = _STRICT

    epochs: int = Field(3, ge=1)
    batch_size: int = Field(8, ge=1, description="claims per forward pass")
    accumulation: int = Field(8, ge=1, description="forward passes per optimizer step")
    lr: float = Field(5e-5, gt=0, allow_inf_nan=False)
    head_lr: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="of what is not backbone; none: lr"
    )
    warmup: float = Field(0.1, ge=0, lt=1, description="share of the steps in which the rate rises")
    weight_decay: float = Field(0.01, ge=0, allow_inf_nan=False)
    clip: float = Field(1.0, gt=0, description="largest gradient norm")
    freeze_layers: int = Field(0, ge=0, description="lowest backbone layers that stay as they are, cached")
    freeze_embeddings: bool = Field(False, description="keep the backbone's token embeddings as they are")
    eval_every: int = Field(100, ge=1, description="optimizer steps between evaluations")
    seed: int = Field(0, ge=0)
    shuffle_evidence: bool = True

    @property
    def step_size(self) -> int:
        """Claims per optimizer step, over all workers."""
        return self.batch_size * self.accumulation


class AugmentSettings(BaseModel):
    """Examples drawn from the training claims instead of the claims as they stand.

    Each view's number is the share of the claims it is tried on; what remains shows gold.
    """

    model_config = _STRICT

    passes: int = Field(1, ge=1, description="examples drawn of every claim")
    sentences: int = Field(3, ge=1, le=MAX_EVIDENCE, description="most sentences shown")
    retrieved: float = Field(0.3, ge=0, le=1, description="what was retrieved, gold or as telling among it")
    contrast: float = Field(0.15, ge=0, le=1, description="near misses instead of gold: NOT ENOUGH INFO")
    irrelevant: float = Field(0.03, ge=0, le=1, description="another claim's sentences: NOT ENOUGH INFO")
    nothing: float = Field(0.02, ge=0, le=1, description="no sentence: NOT ENOUGH INFO")
    altered: float = Field(0.05, ge=0, le=1, description="a fact changed: SUPPORTS becomes REFUTES")
    title_dropout: float = Field(0.5, ge=0, le=1, description="examples shown without titles")
    invented: int = Field(0, ge=0, description="claims of a made-up world added to every pass")

    @model_validator(mode="after")
    def _shares_fit(self) -> AugmentSettings:
        total = self.retrieved + self.contrast + self.irrelevant + self.nothing + self.altered
        if total > 1 + 1e-9:
            raise ValueError(f"the views' shares add up to {total:.3g}, expected at most 1")
        return self


class RunSettings(BaseModel):
    """All that defines a run."""

    model_config = _STRICT

    data: DataSettings = DataSettings()
    model: ModelSettings = ModelSettings()
    objective: ObjectiveSettings = ObjectiveSettings()
    training: TrainingSettings = TrainingSettings()
    augment: AugmentSettings | None = None

    @model_validator(mode="after")
    def _augments_fever(self) -> RunSettings:
        if self.augment is None and (self.data.holdout or self.data.pages):
            raise ValueError("data.holdout and data.pages need a section augment")
        if self.augment is not None and set(self.data.labels) != set(FEVER_LABELS.names):
            raise ValueError("augment knows FEVER's three labels only")
        return self


def settings_from(values: Mapping[str, Any], where: str = "settings") -> RunSettings:
    """Validate nested values; every problem is listed at once."""
    try:
        return RunSettings.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{where}: " + "; ".join(problems_in(error)) + ".") from None


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as nested values."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error}).") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML ({error}).") from None


def to_toml(settings: BaseModel) -> str:
    """Settings as TOML, without what is not set."""
    return tomli_w.dumps(settings.model_dump(mode="json", exclude_none=True))


def preset_names() -> list[str]:
    """The presets that come with the package."""
    folder = resources.files("adjudge") / "presets"
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def read_preset(name: str) -> dict[str, Any]:
    """A preset's values."""
    if name not in preset_names():
        raise ConfigError(f"Preset {name!r} is not one of {', '.join(preset_names())}.")
    with resources.as_file(resources.files("adjudge") / "presets" / f"{name}.toml") as path:
        return read_toml(path)


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values laid over each other; later layers win."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            under: Any = merged.get(key)
            merged[key] = (
                merge(under, value) if isinstance(under, dict) and isinstance(value, Mapping) else value
            )
    return merged


def parse_overrides(pairs: Sequence[str]) -> dict[str, Any]:
    """``section.key=value`` pairs as nested values; the value is ``none``, TOML, or else text."""
    values: dict[str, Any] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        section, dot, key = path.strip().partition(".")
        if not (equals and dot and section and key):
            raise ConfigError(f"--set {pair!r}: expected section.key=value, such as training.lr=2e-5.")
        try:
            value = None if text.strip() == "none" else tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        values.setdefault(section, {})[key] = value
    return values


def problems_in(error: ValidationError) -> list[str]:
    """What pydantic found, a line each, in the words of a user of the settings."""
    problems = []
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            problems.append(f"{place} is not a setting")
        elif item["type"] == "missing":
            problems.append(f"{place} is missing")
        elif item["type"] == "value_error":
            problems.append(f"{place}: {item['ctx']['error']}")
        else:
            problems.append(f"{place} is {item['input']!r}: {item['msg'][0].lower()}{item['msg'][1:]}")
    return problems
