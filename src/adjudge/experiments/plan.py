"""A plan: the grid objective × weighting × backbone × variant × seed, written out as run specifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from adjudge.config import RunSettings, merge, problems_in, read_toml
from adjudge.errors import ConfigError
from adjudge.experiments.run import FILES
from adjudge.types import MAX_EVIDENCE

FOLDER = Path(__file__).parents[1] / "presets" / "compare"

GRID_DECIDES = ("objective", "model.backbone", "training.seed")
"""What the grid sets in every run, so that ``[run]`` may not."""

Complementary = Literal["mll", "srn", "sr"]
ObjectiveName = Literal["ce", "mll", "srn", "sr"]
Variant = Literal["paper", "released"]
Lambda = Annotated[float, Field(ge=0, allow_inf_nan=False)]

DEFAULT_LAMBDA = 0.25

_STRICT = ConfigDict(frozen=True, extra="forbid")


class World(BaseModel):
    """Data to be made up before the runs."""

    model_config = _STRICT

    claims: int = Field(ge=10, description="claims in all; a fifth tunes, a fifth tests")
    seed: int = Field(ge=0)
    sentences: int = Field(MAX_EVIDENCE, ge=1, le=MAX_EVIDENCE, description="evidence sentences per claim")


class Grid(BaseModel):
    """The axes of a comparison. Cross-entropy without weighting is the baseline and always runs first."""

    model_config = _STRICT

    objectives: tuple[ObjectiveName, ...] = ("ce", "mll", "srn", "sr")
    weighting: tuple[bool, ...] = (False, True)
    backbones: tuple[str, ...] = ("minilm",)
    variants: tuple[Variant, ...] = ("paper",)
    released: tuple[ObjectiveName, ...] = Field(
        get_args(ObjectiveName), description="objectives that the variant released is run for"
    )
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = (0, 1, 2)
    beta: float = Field(0.999999, ge=0, lt=1, description="β of the class weights")
    lam: dict[Complementary, tuple[Lambda, Lambda]] = Field(
        default_factory=lambda: dict.fromkeys(get_args(Complementary), (DEFAULT_LAMBDA, DEFAULT_LAMBDA)),
        description="λ for all, or by objective: one, or one without and one with weighting",
    )

    @field_validator("lam", mode="before")
    @classmethod
    def _spread(cls, values: object) -> object:
        """One λ stands for all objectives, or for an objective without and with weighting."""
        if not isinstance(values, Mapping):
            values = dict.fromkeys(get_args(Complementary), values)
        filled = dict.fromkeys(get_args(Complementary), DEFAULT_LAMBDA) | dict(values)
        return {name: lam if isinstance(lam, (list, tuple)) else (lam, lam) for name, lam in filled.items()}

    @field_validator("objectives", "weighting", "backbones", "variants", "released", "seeds")
    @classmethod
    def _once_each(cls, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if not values:
            raise ValueError("is empty")
        if len(set(values)) < len(values):
            raise ValueError("holds a value twice")
        return values

    def lam_of(self, objective: ObjectiveName, weighted: bool) -> float | None:
        """λ of an arm; None for cross-entropy, which has none."""
        return None if objective == "ce" else self.lam[objective][weighted]


class PlanFile(BaseModel):
    """The file behind a plan."""

    model_config = _STRICT

    title: str = ""
    world: World | None = None
    run: RunSettings = RunSettings()
    grid: Grid = Grid()


@dataclass(frozen=True)
class Arm:
    """A row of the results table: what is compared, whatever the seed."""

    backbone: str
    objective: str
    weighted: bool
    variant: str = "paper"
    lam: float | None = None
    beta: float | None = None

    @property
    def name(self) -> str:
        """What a reader calls it within its backbone, such as ``SR + weighting (released)``."""
        released = " (released)" if self.variant == "released" else ""
        return self.objective.upper() + (" + weighting" if self.weighted else "") + released

    @property
    def is_baseline(self) -> bool:
        """Whether the others of its backbone are measured against it."""
        return (self.objective, self.weighted, self.variant) == ("ce", False, "paper")


@dataclass(frozen=True)
class Spec:
    """One run of a plan."""

    arm: Arm
    seed: int
    settings: RunSettings


@dataclass(frozen=True)
class Plan:
    """The runs of a comparison, the baseline's first for each backbone."""

    title: str
    specs: tuple[Spec, ...]
    world: World | None = None

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The rows of the table."""
        return tuple(dict.fromkeys(spec.arm for spec in self.specs))


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


def make_plan(values: Mapping[str, Any], where: str = "plan") -> Plan:
    """A plan from nested values: ``title``, ``[world]``, ``[run.*]`` shared by all runs, and ``[grid]``."""
    file, problems = check_plan(values)
    if file is None or problems:
        raise refused(where, problems)
    return Plan(file.title, tuple(_specs(file)), file.world)


def check_plan(
    values: Mapping[str, Any], needed: Sequence[str] = ("train", "dev", "test")
) -> tuple[PlanFile | None, list[str]]:
    """The file behind a plan, None where it cannot be read, and all that is wrong with it.

    Args:
        values: nested values, as from TOML.
        needed: data files without which there is nothing to run.
    """
    problems = list(_set_by_the_grid(values.get("run", {})))
    try:
        file = PlanFile.model_validate(values)
    except ValidationError as error:
        return None, [*problems_in(error), *problems]
    return file, problems + _file_problems(file, needed)


def _set_by_the_grid(run: object) -> Iterator[str]:
    for place in GRID_DECIDES:
        values: Any = run
        for part in place.split("."):
            values = values.get(part) if isinstance(values, Mapping) else None
        if values is not None:
            yield f"run.{place} is decided by the grid; set it there"


def _file_problems(file: PlanFile, needed: Sequence[str]) -> list[str]:
    data = file.run.data
    given = {name: getattr(data, name) for name in FILES}
    if file.world is not None:
        said = [f"run.data.{name}" for name, path in given.items() if path is not None]
        return [f"{', '.join(said)}: [world] makes the data, so no file is to be named"] if said else []
    missing = [f"data.{name} is not set" for name in needed if given[name] is None]
    for name, path in given.items():
        if path is not None and not path.is_file():
            missing.append(f"data.{name}: {path}: {'is a directory' if path.is_dir() else 'no such file'}")
    return missing


def refused(where: str, problems: Sequence[str]) -> ConfigError:
    """What a user is told of a plan that cannot be run."""
    return ConfigError(f"{where}: nothing was run.\n" + "\n".join(f"  {problem}." for problem in problems))


def specify(run: RunSettings, arm: Arm, seed: int) -> Spec:
    """One run: what all runs share, with what the grid decides."""
    chosen = {"name": arm.objective, "variant": arm.variant, "lam": arm.lam, "beta": arm.beta}
    layer = {
        "model": {"backbone": arm.backbone},
        "objective": {key: value for key, value in chosen.items() if value is not None},
        "training": {"seed": seed},
    }
    return Spec(arm, seed, RunSettings.model_validate(merge(run.model_dump(exclude_unset=True), layer)))


def _specs(file: PlanFile) -> Iterator[Spec]:
    for arm in _arms(file.grid):
        for seed in file.grid.seeds:
            yield specify(file.run, arm, seed)


def _arms(grid: Grid) -> Iterator[Arm]:
    for backbone in grid.backbones:
        baseline = Arm(backbone, "ce", weighted=False)
        yield baseline
        for objective in grid.objectives:
            for weighted in grid.weighting:
                for variant in grid.variants:
                    beta = grid.beta if weighted else None
                    arm = Arm(backbone, objective, weighted, variant, grid.lam_of(objective, weighted), beta)
                    # Without weights, cross-entropy is the same in both variants.
                    same = (objective, weighted) == ("ce", False) or objective not in grid.released
                    if arm != baseline and not (variant == "released" and same):
                        yield arm
