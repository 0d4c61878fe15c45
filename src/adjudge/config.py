"""Settings: frozen, validated, the same in Python, TOML and on the command line. Unknown keys are errors."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from adjudge.errors import ConfigError
from adjudge.judges.registry import KINDS, import_object
from adjudge.objectives.tables import (
    CUSTOM,
    OBJECTIVES,
    complement,
    complement_of,
    objective_help,
    parse_complement,
)
from adjudge.types import FEVER_LABELS, LabelSet

DEFAULT_EVIDENCE = 5
"""Sentences of a claim that are searched for and judged unless settings say otherwise."""

_STRICT = ConfigDict(frozen=True, extra="forbid")


def _one_of(name: str, names: Iterable[str]) -> str:
    if name not in names:
        raise ValueError(f"expected one of {', '.join(names)}")
    return name


Precision = Literal["auto", "fp32", "int16"]
Runtime = Literal["auto", "light", "torch"]
Origin = Literal["hub", "registry"]
"""Where an encoder is fetched from."""


class DataSettings(BaseModel):
    """Which files, and what to read of them."""

    model_config = _STRICT

    train: Path | None = Field(None, description="training claims with evidence")
    dev: Path | None = Field(None, description="claims that choose the checkpoint")
    pages: Path | None = Field(None, description="pages of the training claims, for [augment]")
    holdout: float = Field(
        0, ge=0, lt=1, description="share of entities kept out of training; they are dev where none is given"
    )
    teacher: Path | None = Field(
        None, description="another judge's verdicts on the training claims, by id (adjudge predict)"
    )
    test: Path | None = Field(None, description="claims to predict and score when training is done")
    gold: Path | None = Field(None, description="gold groups of the test claims, for the FEVER score")
    field: Literal["evidence", "retrieved"] = Field("evidence", description="which sentences to train on")
    single: bool = Field(
        False,
        description="each sentence an example: gold ones (score 1) have the claim's label, others are not enough",
    )
    selector: str | None = Field(
        None,
        description="what orders the sentences of dev and test claims: fusion, a ranker's folder; none: the file",
    )
    limit: int | None = Field(
        None, ge=1, description="train on at most this many claims, from the start of the file"
    )
    dev_limit: int | None = Field(None, ge=1, description="choose the checkpoint on at most this many claims")
    labels: tuple[str, ...] = Field(FEVER_LABELS.names, description="the labels, in class order")
    aliases: dict[str, str] = Field(default_factory=dict, description="other spellings of the labels")

    @property
    def label_set(self) -> LabelSet:
        """The labels, in class order, with all the spellings they are known by."""
        known = FEVER_LABELS.aliases if self.labels == FEVER_LABELS.names else {}
        return LabelSet(self.labels, {**known, **self.aliases})


class ModelSettings(BaseModel):
    """The verdict model and how text reaches it."""

    model_config = _STRICT

    kind: str = Field("kgat", description=f"what is built on the backbone: {', '.join(KINDS)}")
    options: dict[str, Any] = Field(default_factory=dict, description="settings that only this kind has")
    backbone: str = Field(
        "minilm", description="a short name such as minilm or bert-base, a hub id, or a folder"
    )
    init: str | None = Field(
        None,
        description="a trained model whose weights training starts from: a run, an exported folder, small",
    )
    max_length: int = Field(130, ge=16, le=512, description="tokens per row")
    max_evidence: int = Field(DEFAULT_EVIDENCE, ge=1, description="sentences read of a claim, the first ones")
    pooling: Literal["pooler", "mean"] = Field("pooler", description="a row's state: pooler's, or mean token")
    dropout: float = Field(0.1, ge=0, lt=1, description="on what the backbone gives to the head")
    backbone_dropout: float | None = Field(
        None, ge=0, lt=1, description="inside the backbone; none: as it was pre-trained"
    )
    titles: bool = Field(True, description="show the model the page's title")
    context: bool = Field(
        False, description="and the sentence before, where one begins with a pronoun or the like"
    )
    adapters: int = Field(
        0,
        ge=0,
        le=256,
        description="train adapters of this rank instead of the backbone's matrices; 0: the matrices",
    )

    @field_validator("kind")
    @classmethod
    def _check_kind(cls, kind: str) -> str:
        return _one_of(kind, KINDS)

    @field_validator("options")
    @classmethod
    def _check_options(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Checked by the kind's own ``Settings``; its defaults are left out."""
        if not options or "kind" not in info.data:
            return options
        kind: str = info.data["kind"]
        settings: type[BaseModel] | None = getattr(import_object(KINDS[kind]), "Settings", None)
        if settings is None:
            raise ValueError(f"{kind} has no options")
        try:
            return settings.model_validate(options).model_dump(mode="json", exclude_defaults=True)
        except ValidationError as error:
            raise ValueError("; ".join(problems_in(error))) from None


class ObjectiveSettings(BaseModel):
    """The loss."""

    model_config = _STRICT

    complement: dict[str, tuple[str, ...]] | None = Field(
        None, description="which labels a gold label rules out, a table of your own: A=B;B=A,C"
    )
    name: str = Field("ce", description=f"what is penalised: {objective_help()}")
    lam: float = Field(0.25, ge=0, allow_inf_nan=False, description="λ, weight of the complement terms")
    beta: float | None = Field(None, ge=0, lt=1, description="β of the class weights; none: no weighting")
    variant: Literal["paper", "released"] = Field(
        "paper", description="the loss as the paper writes it, or as the published code computes it"
    )
    weighting: Literal["gold", "complement"] = Field(
        "gold",
        description="whose weight a complement term has: the gold label's, or its own label's (Eq. 10)",
    )
    normalise: Literal["claims", "weights"] = Field(
        "claims", description="what the loss of a step is divided by: its claims, or their weights"
    )
    teacher_share: float = Field(
        0.5,
        ge=0,
        le=1,
        description="of the loss: cross-entropy to data.teacher's probabilities; the rest to gold",
    )

    @model_validator(mode="before")
    @classmethod
    def _name_custom_table(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("complement") is not None and "name" not in values:
            return {**values, "name": CUSTOM}
        return values

    @field_validator("complement", mode="before")
    @classmethod
    def _read_table(cls, table: Any) -> Any:
        return parse_complement(table) if isinstance(table, str) else table

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str, info: ValidationInfo) -> str:
        if info.data.get("complement") is None:
            return _one_of(name, OBJECTIVES)
        if name in OBJECTIVES:
            raise ValueError(f"it has its own complement; give yours another name, such as {CUSTOM}")
        return name

    @model_validator(mode="after")
    def _check_released(self) -> ObjectiveSettings:
        if self.variant == "released" and self.complement is not None:
            raise ValueError(f"variant 'released' is defined for {', '.join(OBJECTIVES)} only")
        if self.variant == "released" and (self.weighting, self.normalise) != ("gold", "claims"):
            raise ValueError("variant 'released' has no other weighting or normalise")
        return self


class TrainingSettings(BaseModel):
    """The optimizer and its schedule. The defaults are KGAT's."""

    model_config = _STRICT

    epochs: int = Field(3, ge=1, description="passes over the training claims")
    batch_size: int = Field(8, ge=1, description="claims per forward pass")
    accumulation: int = Field(8, ge=1, description="forward passes per optimizer step")
    lr: float = Field(5e-5, gt=0, allow_inf_nan=False, description="highest learning rate")
    head_lr: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="of what is not backbone; none: lr"
    )
    warmup: float = Field(0.1, ge=0, lt=1, description="share of the steps in which the rate rises")
    weight_decay: float = Field(0.01, ge=0, allow_inf_nan=False, description="AdamW's, of matrices")
    clip: float = Field(1.0, gt=0, description="largest gradient norm")
    freeze_layers: int = Field(0, ge=0, description="lowest backbone layers that stay as they are, cached")
    cache_frozen: bool = Field(
        True, description="keep what frozen layers give; for one pass it saves nothing"
    )
    freeze_embeddings: bool = Field(False, description="keep the backbone's token embeddings as they are")
    mixup: float = Field(
        0,
        ge=0,
        allow_inf_nan=False,
        description="mix the states of two claims by Beta(mixup, mixup); 0: not at all",
    )
    eval_every: int = Field(100, ge=1, description="optimizer steps between evaluations")
    seed: int = Field(0, ge=0, description="decides initial weights, order and dropout")
    shuffle_evidence: bool = Field(True, description="show the sentences of a claim in random order")
    shuffle_claims: bool = Field(
        True, description="a new order every epoch; else the file's, as a mix has it"
    )

    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="of matrix products; auto: bf16 on a GPU, fp32 on a CPU. bf16 needs a CPU that multiplies it",
    )
    recompute: bool = Field(
        False, description="compute each layer again in the backward pass: less memory, more time"
    )

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
    sentences: int = Field(3, ge=1, le=DEFAULT_EVIDENCE, description="most sentences shown")
    retrieved: float = Field(0.3, ge=0, le=1, description="what was retrieved, gold or as telling among it")
    contrast: float = Field(0.15, ge=0, le=1, description="near misses instead of gold: NOT ENOUGH INFO")
    irrelevant: float = Field(0.03, ge=0, le=1, description="another claim's sentences: NOT ENOUGH INFO")
    nothing: float = Field(0.02, ge=0, le=1, description="no sentence: NOT ENOUGH INFO")
    altered: float = Field(0.05, ge=0, le=1, description="a fact changed: SUPPORTS becomes REFUTES")
    title_dropout: float = Field(0.5, ge=0, le=1, description="examples shown without titles")
    invented: int = Field(0, ge=0, description="claims of a made-up world added to every pass")

    @model_validator(mode="after")
    def _check_shares(self) -> AugmentSettings:
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
    def _check_parts(self) -> RunSettings:
        table, labels = self.objective.complement, self.data.label_set
        if table is None:
            complement_of(self.objective.name, labels)
        else:
            complement(table, labels)
        if self.augment is None and (self.data.holdout or self.data.pages):
            raise ValueError("data.holdout and data.pages need a section augment")
        if self.augment is not None and set(self.data.labels) != set(FEVER_LABELS.names):
            raise ValueError("augment knows FEVER's three labels only")
        return self


def settings_from(values: Mapping[str, Any], location: str = "settings") -> RunSettings:
    """Validate nested values; every problem is listed at once."""
    try:
        return RunSettings.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{location}: " + "; ".join(problems_in(error)).removesuffix(".") + ".") from None


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as nested values."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error}).") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
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
        *sections, key = path.strip().split(".")
        if not (equals and key and sections and all(sections)):
            raise ConfigError(f"--set {pair!r}: expected section.key=value, such as training.lr=2e-5.")
        try:
            value = None if text.strip() == "none" else tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        nested: dict[str, Any] = {key: value}
        for section in reversed(sections):
            nested = {section: nested}
        values = merge(values, nested)
    return values


def problems_in(error: ValidationError) -> list[str]:
    """What pydantic found, a line each, in the words of a user of the settings."""
    problems = []
    for item in error.errors():
        path = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            problems.append(f"{path} is not a setting")
        elif item["type"] == "missing":
            problems.append(f"{path} is missing")
        elif item["type"] == "value_error":
            value = f" is {item['input']!r}" if isinstance(item["input"], str) else ""
            problems.append(f"{path}{value}: {item['ctx']['error']}".removeprefix(": "))
        else:
            problems.append(f"{path} is {item['input']!r}: {item['msg'][0].lower()}{item['msg'][1:]}")
    return problems
