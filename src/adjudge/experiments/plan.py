"""A plan: the grid objective × weighting × λ × β × backbone × model × variant × seed, written out as runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from adjudge.config import DEFAULT_EVIDENCE, RunSettings, merge, problems_in, read_toml
from adjudge.errors import ConfigError
from adjudge.experiments.models import ModelEntry, model_name
from adjudge.objectives.tables import OBJECTIVES
from adjudge.runs.folder import FILES

FOLDER = Path(__file__).parents[1] / "presets" / "compare"

GRID_DECIDES = ("objective", "model.backbone", "training.seed")
"""What the grid sets in every run, so that ``[run]`` may not."""

MODELS_DECIDE = ("model.kind", "model.options")
"""What it sets as well where it names models."""

COMPLEMENTARY = tuple(name for name, objective in OBJECTIVES.items() if objective.complement != {})
"""Objectives with complement terms, and so with a λ."""


def _known_objective(name: str) -> str:
    if name not in OBJECTIVES:
        raise ValueError(f"expected one of {', '.join(OBJECTIVES)}")
    return name


ObjectiveName = Annotated[str, AfterValidator(_known_objective)]
Variant = Literal["paper", "released"]
Lambda = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Beta = Annotated[float, Field(ge=0, lt=1)]

DEFAULT_LAMBDA = 0.25

_STRICT = ConfigDict(frozen=True, extra="forbid")


class WorldSettings(BaseModel):
    """Data to be made up before the runs."""

    model_config = _STRICT

    claims: int = Field(ge=10, description="claims in all; a fifth tunes, a fifth tests")
    seed: int = Field(ge=0)
    sentences: int = Field(
        DEFAULT_EVIDENCE, ge=1, le=DEFAULT_EVIDENCE, description="evidence sentences per claim"
    )


class Lambdas(BaseModel):
    """The λ of an objective, without and with class weights."""

    model_config = _STRICT

    unweighted: tuple[Lambda, ...]
    weighted: tuple[Lambda, ...]

    @model_validator(mode="before")
    @classmethod
    def _for_both(cls, values: object) -> object:
        both = values if isinstance(values, Mapping) else {"unweighted": values, "weighted": values}
        return {name: _as_axis(lam) for name, lam in both.items()}

    @field_validator("unweighted", "weighted")
    @classmethod
    def _once_each(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        return check_axis(values)


def _as_axis(value: object) -> object:
    """One value stands for an axis of one."""
    return value if isinstance(value, (list, tuple)) else [value]


def check_axis(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse an axis without values, or with one twice."""
    if not values:
        raise ValueError("is empty")
    if len(set(values)) < len(values):
        raise ValueError("holds a value twice")
    return values


class Grid(BaseModel):
    """The axes of a comparison. Cross-entropy without weighting is the baseline and always runs first."""

    model_config = _STRICT

    objectives: tuple[ObjectiveName, ...] = tuple(OBJECTIVES)
    weighting: tuple[bool, ...] = (False, True)
    backbones: tuple[str, ...] = ("minilm",)
    models: tuple[ModelEntry, ...] = Field(
        (),
        description="kinds of model, the first the one others are compared with; none: that of [run.model]",
    )
    absent: dict[str, str] = Field(
        default_factory=dict, description="systems without a run, and why; the report has a row of each"
    )
    variants: tuple[Variant, ...] = ("paper",)
    released: tuple[ObjectiveName, ...] = Field(
        tuple(OBJECTIVES), description="objectives that the variant released is run for"
    )
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = (0, 1, 2)
    beta: tuple[Beta, ...] = Field((0.999999,), description="β of the class weights, one or several")
    lam: dict[ObjectiveName, Lambdas] = Field(
        default_factory=lambda: dict.fromkeys(COMPLEMENTARY, Lambdas.model_validate(DEFAULT_LAMBDA)),
        description="λ, one or several, for all objectives or by objective; there also by weighting",
    )

    @field_validator("lam", mode="before")
    @classmethod
    def _by_objective(cls, values: object) -> object:
        if not isinstance(values, Mapping):
            values = dict.fromkeys(COMPLEMENTARY, values)
        return dict.fromkeys(COMPLEMENTARY, DEFAULT_LAMBDA) | dict(values)

    @field_validator("models")
    @classmethod
    def _one_of_each(cls, entries: tuple[ModelEntry, ...]) -> tuple[ModelEntry, ...]:
        if len({entry.name for entry in entries}) < len(entries):
            raise ValueError("holds a model twice")
        return entries

    _beta_axis = field_validator("beta", mode="before")(_as_axis)
    _once_each = field_validator(
        "objectives", "weighting", "backbones", "variants", "released", "seeds", "beta"
    )(check_axis)

    def pairs(self, objective: str, weighted: bool) -> list[tuple[float | None, float | None]]:
        """Every (λ, β) of an objective; None for the λ of cross-entropy and for β without weighting."""
        lams: Sequence[float | None] = [None]
        if objective in COMPLEMENTARY:
            lams = self.lam[objective].weighted if weighted else self.lam[objective].unweighted
        betas: Sequence[float | None] = self.beta if weighted else [None]
        return list(itertools.product(lams, betas))


class PlanFile(BaseModel):
    """The file behind a plan."""

    model_config = _STRICT

    title: str = ""
    world: WorldSettings | None = None
    run: RunSettings = RunSettings()
    grid: Grid = Grid()


@dataclass(frozen=True)
class Arm:
    """A row of the results table: what is compared, whatever the seed. ``tuned`` names λ and β, of several tried.

    Arms of one ``group``, a model on a backbone, differ in the objective alone.
    """

    backbone: str
    objective: str
    weighted: bool
    variant: str = "paper"
    lam: float | None = None
    beta: float | None = None
    tuned: bool = False
    model: str = "kgat"

    @classmethod
    def of(cls, settings: RunSettings, tuned: bool = False) -> Arm:
        """The arm that a run belongs to."""
        objective = settings.objective
        return cls(
            settings.model.backbone,
            objective.name,
            objective.beta is not None,
            objective.variant,
            None if objective.name == "ce" else objective.lam,
            objective.beta,
            tuned,
            model_name(settings.model),
        )

    @property
    def group(self) -> tuple[str, str]:
        """Backbone and model."""
        return self.backbone, self.model

    @property
    def name(self) -> str:
        """What a reader calls it within its group, such as ``SR + weighting (released)``."""
        released = " (released)" if self.variant == "released" else ""
        short = self.objective.upper() + (" + weighting" if self.weighted else "") + released
        return short + (self.parameters if self.tuned else "")

    @property
    def parameters(self) -> str:
        """λ and β in words, such as ``, λ 0.25, β 0.999999``."""
        return "".join(
            f", {name} {value:.10g}"
            for name, value in (("λ", self.lam), ("β", self.beta))
            if value is not None
        )

    @property
    def is_baseline(self) -> bool:
        """Whether the others of its group are measured against it."""
        return (self.objective, self.weighted, self.variant) == ("ce", False, "paper")


@dataclass(frozen=True)
class Plan:
    """The runs of a comparison, the baseline's first for each group; ``tuned`` where several λ or β are tried.

    ``absent`` names systems that have no run, and says why.
    """

    title: str
    runs: tuple[RunSettings, ...]
    world: WorldSettings | None = None
    tuned: bool = False
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The rows of the table."""
        return tuple(dict.fromkeys(self.arm(settings) for settings in self.runs))

    def arm(self, settings: RunSettings) -> Arm:
        """The row that a run belongs to."""
        return Arm.of(settings, self.tuned)


def plan_names() -> list[str]:
    """The plans that come with the package."""
    return sorted(entry.stem for entry in FOLDER.glob("*.toml"))


def read_plan(source: str, *overrides: Mapping[str, Any]) -> Plan:
    """A plan by the name of a preset or from a TOML file, with values laid over it.

    Raises:
        ConfigError: listing everything that is wrong with it, missing files included.
    """
    return make_plan(merge(plan_values(source), *overrides), source)


def plan_values(source: str) -> dict[str, Any]:
    """The values of a preset or a TOML file, as they stand."""
    preset = FOLDER / f"{source}.toml"
    path = preset if preset.is_file() else Path(source)
    if not path.is_file():
        raise ConfigError(f"{source!r} is neither a preset ({', '.join(plan_names())}) nor a TOML file.")
    return read_toml(path)


def make_plan(values: Mapping[str, Any], location: str = "plan") -> Plan:
    """A plan from nested values: ``title``, ``[world]``, ``[run.*]`` shared by all runs, and ``[grid]``."""
    file, problems = check_plan(values)
    if file is None or problems:
        raise plan_error(location, problems)
    return expand(file)


def expand(file: PlanFile, baseline: bool = True) -> Plan:
    """Every run of a plan, with or without those of the baselines."""
    arms, runs = [], []
    for backbone, entry in itertools.product(file.grid.backbones, file.grid.models or (None,)):
        base = file.run if entry is None else entry.apply(file.run)
        for arm in _arms(file.grid, backbone, model_name(base.model)):
            if baseline or not arm.is_baseline:
                arms.append(arm)
                runs += [_settings(base, arm, seed) for seed in file.grid.seeds]
    tuned = len({(arm.group, arm.name) for arm in arms}) < len(arms)
    return Plan(file.title, tuple(runs), file.world, tuned, file.grid.absent)


def check_plan(
    values: Mapping[str, Any], needed: Sequence[str] = ("train", "dev", "test")
) -> tuple[PlanFile | None, list[str]]:
    """The file behind a plan, None where it cannot be read, and all that is wrong with it.

    Args:
        values: nested values, as from TOML.
        needed: data files without which there is nothing to run.
    """
    problems = list(_set_by_the_grid(values))
    try:
        file = PlanFile.model_validate(values)
    except ValidationError as error:
        return None, [*problems_in(error), *problems]
    return file, problems + _file_problems(file, needed)


def _set_by_the_grid(plan: Mapping[str, Any]) -> Iterator[str]:
    grid = plan.get("grid")
    models = isinstance(grid, Mapping) and grid.get("models")
    for setting in (*GRID_DECIDES, *(MODELS_DECIDE if models else ())):
        values: Any = plan.get("run")
        for part in setting.split("."):
            values = values.get(part) if isinstance(values, Mapping) else None
        if values is not None:
            yield f"run.{setting} is decided by the grid; set it there"


def _file_problems(file: PlanFile, needed: Sequence[str]) -> list[str]:
    data = file.run.data
    given = {name: getattr(data, name) for name in FILES}
    if file.world is not None:
        named = [f"run.data.{name}" for name, path in given.items() if path is not None]
        return [f"{', '.join(named)}: [world] makes the data, so no file is to be named"] if named else []
    missing = [f"data.{name} is not set" for name in needed if given[name] is None]
    for name, path in given.items():
        if path is not None and not path.is_file():
            missing.append(f"data.{name}: {path}: {'is a directory' if path.is_dir() else 'no such file'}")
    return missing


def plan_error(location: str, problems: Sequence[str]) -> ConfigError:
    """What a user reads of a plan that cannot be run."""
    return ConfigError(f"{location}: nothing was run.\n" + "\n".join(f"  {problem}." for problem in problems))


def _settings(run: RunSettings, arm: Arm, seed: int) -> RunSettings:
    """One run: what all runs share, with what the grid decides."""
    objective = {"name": arm.objective, "variant": arm.variant, "lam": arm.lam, "beta": arm.beta}
    layer = {
        "model": {"backbone": arm.backbone},
        "objective": {key: value for key, value in objective.items() if value is not None},
        "training": {"seed": seed},
    }
    return RunSettings.model_validate(merge(run.model_dump(exclude_unset=True), layer))


def _arms(grid: Grid, backbone: str, model: str) -> Iterator[Arm]:
    yield Arm(backbone, "ce", weighted=False, model=model)
    for objective, weighted, variant in itertools.product(grid.objectives, grid.weighting, grid.variants):
        # Without weights, cross-entropy is the same in both variants: the baseline.
        if (objective, weighted) == ("ce", False):
            continue
        if variant == "released" and objective not in grid.released:
            continue
        for lam, beta in grid.pairs(objective, weighted):
            yield Arm(backbone, objective, weighted, variant, lam, beta, model=model)
