"""Tuning λ and β: a grid of runs, the hopeless ones given up, the best pair on the tuning claims selected."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from adjudge.config import DataSettings, merge, problems_in
from adjudge.data.files import write_json
from adjudge.errors import ConfigError
from adjudge.evaluation.scoring import Scores, score
from adjudge.experiments.comparison import Job, check_protocol, claim_texts, gold_injected, prepare
from adjudge.experiments.halving import Watch, halving, patience
from adjudge.experiments.plan import (
    Arm,
    Lambda,
    ObjectiveName,
    Plan,
    check_plan,
    plan_values,
    refused,
    specify,
)
from adjudge.experiments.run import (
    STOPPED,
    Reporter,
    execute,
    is_finished,
    pick_device,
    predict_and_score,
    read_manifest,
    run_id,
)
from adjudge.experiments.status import Evaluation, dev_curve

if TYPE_CHECKING:
    from adjudge.training.loop import Metric

LAMBDAS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
BETAS = (0.0, 0.999, 0.9999, 0.99999, 0.999999)

RECORD = "tuning.json"
NESTED = "nested: the tuning claims chose λ, β and checkpoint, the test claims chose nothing"
PAPER = "paper: the claims reported on also chose λ, β and checkpoint"

Beta = Annotated[float, Field(ge=0, lt=1)]


class Search(BaseModel):
    """What to tune. Cross-entropy has no λ, and without weighting there is no β."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    objective: ObjectiveName
    weighted: bool = True
    lam: tuple[Lambda, ...] = LAMBDAS
    beta: tuple[Beta, ...] = BETAS
    seed: int = Field(0, ge=0)

    @field_validator("lam", "beta")
    @classmethod
    def _once_each(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        if not values or len(set(values)) < len(values):
            raise ValueError("is empty or holds a value twice")
        return values

    @property
    def pairs(self) -> list[tuple[float | None, float | None]]:
        """Every (λ, β), None where the objective has none."""
        lams: Sequence[float | None] = [None] if self.objective == "ce" else self.lam
        betas: Sequence[float | None] = self.beta if self.weighted else [None]
        return list(itertools.product(lams, betas))


@dataclass(frozen=True)
class Tuning:
    """A search and the runs it takes."""

    search: Search
    plan: Plan
    protocol: str


class Trial(NamedTuple):
    """A run of a search, which knows no test claims, and the data of the plan, which may name some."""

    job: Job
    data: DataSettings


@dataclass(frozen=True)
class Point:
    """A run of the curve: the best LA on the tuning claims, so far when it was stopped."""

    lam: float | None
    beta: float | None
    seed: int
    dev_label_accuracy: float
    state: Literal["finished", "stopped"]
    step: int
    run: str


@dataclass(frozen=True)
class TuningResult:
    """The whole curve, the selected pair, and how its run does on the test claims (None without such)."""

    search: Search
    backbone: str
    protocol: str
    gold_injected: bool
    command: str
    points: tuple[Point, ...]
    selected: Point
    test: Scores | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "objective": self.search.objective,
            "weighted": self.search.weighted,
            "backbone": self.backbone,
            "protocol": self.protocol,
            "gold_injected": self.gold_injected,
            "command": self.command,
            "points": [asdict(point) for point in self.points],
            "selected": {"lam": self.selected.lam, "beta": self.selected.beta},
            "test": None if self.test is None else self.test.to_dict(),
        }


def read_tuning(
    source: str, search: Mapping[str, Any], *overrides: Mapping[str, Any], protocol: str = "nested"
) -> Tuning:
    """A search over the runs of a comparison's plan: its data, its ``[run]`` and its backbone.

    Args:
        source: a preset or a TOML file, as ``adjudge compare`` reads it; of its grid only the backbone and
            the variant matter.
        search: values of :class:`Search`.
        overrides: values laid over the plan's.
        protocol: ``nested``, or ``paper``, under which the test claims tune where no others are given.

    Raises:
        ConfigError: listing everything that is wrong, missing files included.
    """
    values = merge(plan_values(source), *overrides)
    needed = ["train", "dev"]
    if protocol == "paper":
        values = _with_test_as_dev(values)
        needed = ["train", "test"]
    file, problems = check_plan(values, needed)
    chosen, wrong = _check_search(search)
    problems += wrong
    for axis in ("backbones", "variants"):
        if file is not None and len(found := getattr(file.grid, axis)) > 1:
            problems.append(
                f"grid.{axis} names {len(found)}: tune one at a time, as in --set 'grid.{axis}=[\"{found[0]}\"]'"
            )
    if protocol not in ("nested", "paper"):
        problems.append(f"--protocol {protocol!r} is neither nested nor paper")
    if file is None or chosen is None or problems:
        raise refused(source, problems)
    specs = []
    for lam, beta in chosen.pairs:
        arm = Arm(file.grid.backbones[0], chosen.objective, chosen.weighted, file.grid.variants[0], lam, beta)
        specs.append(specify(file.run, arm, chosen.seed))
    return Tuning(chosen, Plan(file.title, tuple(specs), file.world), protocol)


def _with_test_as_dev(values: Mapping[str, Any]) -> dict[str, Any]:
    """The test claims also tune, unless the plan names claims for that."""
    match values:
        case {"run": {"data": {"test": test, **others}}} if "dev" not in others:
            return merge(values, {"run": {"data": {"dev": test}}})
    return dict(values)


def _check_search(values: Mapping[str, Any]) -> tuple[Search | None, list[str]]:
    problems = []
    weighted = values.get("weighted", True)
    if values.get("objective") == "ce" and not weighted:
        problems.append("ce without weighting has neither λ nor β: there is nothing to tune")
    elif values.get("objective") == "ce" and "lam" in values:
        problems.append("lam: ce has no λ")
    if not weighted and "beta" in values:
        problems.append("beta: without weighting there is no β")
    try:
        return Search.model_validate(values), problems
    except ValidationError as error:
        return None, [*problems_in(error), *problems]


def prepare_tuning(tuning: Tuning, folder: Path) -> list[Trial]:
    """Give every run of a search its folder, and keep the test claims from it."""
    trials = []
    for spec, _ in prepare(tuning.plan, folder):
        data = spec.settings.data
        if tuning.protocol == "paper" and tuning.plan.world is not None:
            data = data.model_copy(update={"dev": data.test})
        blind = data.model_copy(update={"test": None, "gold": None})
        settings = spec.settings.model_copy(update={"data": blind})
        job = Job(replace(spec, settings=settings), folder / "runs" / run_id(settings))
        trials.append(Trial(job, data))
    _check_claims(trials[0].data, tuning.protocol)
    return trials


def _check_claims(data: DataSettings, protocol: str) -> None:
    check_protocol(data, protocol)
    if protocol == "paper" and data.dev and data.test and not claim_texts(data.dev) & claim_texts(data.test):
        raise ConfigError(
            f"--protocol paper tunes on the claims reported on, but none of {data.test} is in {data.dev}. "
            "Leave --dev out, or leave --protocol out."
        )


def tune(
    tuning: Tuning,
    folder: Path,
    *,
    early_stopping: bool = True,
    cache: Path | None = None,
    command: str = "",
    reporter: Callable[[Job], Reporter] = lambda job: Reporter(),
) -> TuningResult:
    """Make the runs of a search exist, select the pair with the best LA on the tuning claims, and score it.

    Args:
        tuning: what to run.
        folder: gets ``tuning.json``, ``runs/``, ``cache/``, ``selected/`` with the verdicts of the selected
            run on the test claims and, for a made-up world, ``data/``.
        early_stopping: give up hopeless runs (:func:`~adjudge.experiments.halving.halving`). Without it, runs that
            were given up earlier go on.
        cache: where outputs of frozen layers are kept; in ``folder`` by default.
        command: noted in the record.
        reporter: what to tell of each run.
    """
    begin = halving() if early_stopping else patience
    trials = prepare_tuning(tuning, folder)
    points = []
    for trial in trials:
        work = _Work(trial.job, begin(), cache or folder / "cache", command, reporter(trial.job))
        points.append(work.settle())
    best = max(range(len(points)), key=lambda i: _merit(points[i]))  # the first among equals
    result = TuningResult(
        tuning.search,
        trials[0].job.spec.arm.backbone,
        PAPER if tuning.protocol == "paper" else NESTED,
        gold_injected(trials[best].data),
        command,
        tuple(points),
        points[best],
        _test(trials[best], folder, (cache or folder / "cache") / "states"),
    )
    write_json(folder / RECORD, result.to_dict())
    return result


def _merit(point: Point) -> float:
    """A run that was given up is never selected; the first run never is given up."""
    return point.dev_label_accuracy if point.state == "finished" else -1.0


class _GivenUp(Exception):
    """Ends a training from within its report."""


@dataclass(frozen=True)
class _Work:
    """One run of a search, to be finished or given up."""

    job: Job
    hopeless: Watch
    cache: Path
    command: str
    reporter: Reporter

    def settle(self) -> Point:
        """Replay what the run has noted before, then let it go on as long as it is not hopeless."""
        folder, settings = self.job.folder, self.job.spec.settings
        said = [
            self.hopeless(evaluation) for evaluation in self._curve()
        ]  # all: later runs are compared to it
        if not is_finished(folder) and not any(said):
            try:
                execute(
                    settings,
                    folder,
                    resume=True,
                    cache=self.cache,
                    command=self.command,
                    reporter=replace(self.reporter, metric=self._metric),
                )
            except _GivenUp:
                pass
        return self._point()

    def _curve(self) -> list[Evaluation]:
        return dev_curve(self.job.folder, self.job.spec.settings.training.epochs)

    def _metric(self, metric: Metric, steps: int) -> None:
        self.reporter.metric(metric, steps)
        if metric.split == "dev" and self.hopeless(
            Evaluation(metric.step, metric.step / steps, metric.label_accuracy)
        ):
            raise _GivenUp

    def _point(self) -> Point:
        folder, spec = self.job.folder, self.job.spec
        if is_finished(folder):
            manifest = read_manifest(folder)
            state: Literal["finished", "stopped"] = "finished"
            accuracy, step = manifest["best_dev_label_accuracy"], manifest["steps"]
        else:
            curve = self._curve()
            state, step = "stopped", curve[-1].step
            accuracy = max(evaluation.label_accuracy for evaluation in curve)
            write_json(folder / STOPPED, {"step": step, "dev_label_accuracy": accuracy})
        return Point(spec.arm.lam, spec.arm.beta, spec.seed, accuracy, state, step, folder.name)


def _test(trial: Trial, folder: Path, states: Path) -> Scores | None:
    """The selected run's scores on the test claims, predicted once; no other run sees these claims."""
    if trial.data.test is None:
        return None
    settings = trial.job.spec.settings.model_copy(update={"data": trial.data})
    selected = folder / "selected" / run_id(settings)
    if (selected / "scores.json").exists():
        return score(selected / "predictions.jsonl", trial.data.gold or trial.data.test, trial.data.label_set)
    from adjudge.training.checkpoint import load_model

    model = load_model(trial.job.folder, settings.training.freeze_layers)
    model.module.to(pick_device("auto"))
    return predict_and_score(model, trial.data, trial.data.test, selected, states)
