"""Tuning λ and β: a grid of runs in rungs, the better half of which goes on, and the best pair selected."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from adjudge.config import DataSettings, merge
from adjudge.errors import ConfigError
from adjudge.evaluation.scoring import Scores
from adjudge.experiments.comparison import (
    check_protocol,
    claim_texts,
    gold_injected,
    group_by_arm,
    prepare,
    with_data,
)
from adjudge.experiments.plan import COMPLEMENTARY, Arm, Plan, check_plan, expand, plan_error, plan_values
from adjudge.experiments.summary import best_run
from adjudge.io.files import write_json
from adjudge.runs.execute import read_scores
from adjudge.runs.folder import RunFolder
from adjudge.runs.jobs import Job, Runner, local_runner
from adjudge.runs.status import dev_curve

LAMBDAS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
BETAS = (0.0, 0.999, 0.9999, 0.99999, 0.999999)
RUNGS = (0.25, 0.5, 1.0)
"""Shares of a training; at each but the last, one in :data:`KEPT` pairs goes on."""
KEPT = 2

RECORD = "tuning.json"
NESTED = "nested: the tuning claims chose λ, β and checkpoint, the test claims chose nothing"
PAPER = "paper: the claims reported on also chose λ, β and checkpoint"


@dataclass(frozen=True)
class Tuning:
    """The runs of a search, whose data may name test claims."""

    plan: Plan
    protocol: str


@dataclass(frozen=True)
class TuningPoint:
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
    """The whole curve, the selected pair's best run, and how it does on the test claims (None without such)."""

    arm: Arm
    protocol: str
    gold_injected: bool
    command: str
    points: tuple[TuningPoint, ...]
    selected: TuningPoint
    test: Scores | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "objective": self.arm.objective,
            "weighted": self.arm.weighted,
            "backbone": self.arm.backbone,
            "protocol": self.protocol,
            "gold_injected": self.gold_injected,
            "command": self.command,
            "points": [asdict(point) for point in self.points],
            "selected": {"lam": self.selected.lam, "beta": self.selected.beta, "run": self.selected.run},
            "test": None if self.test is None else self.test.to_dict(),
        }


def read_tuning(
    source: str,
    search: Mapping[str, Any],
    *overrides: Mapping[str, Any],
    protocol: str = "nested",
) -> Tuning:
    """A search over the runs of a comparison's plan: its data, its ``[run]`` and its backbone.

    Args:
        source: a preset or a TOML file, as ``adjudge compare`` reads it; of its grid only the backbone and
            the variant matter.
        search: ``objective``; and, where not the defaults are meant, ``weighted``, ``lam``, ``beta`` and ``seeds``.
        overrides: values laid over the plan's.
        protocol: ``nested``, or ``paper``, under which the test claims tune where no others are given.

    Raises:
        ConfigError: listing everything that is wrong, missing files included.
    """
    objective, weighted = search["objective"], search.get("weighted", True)
    axes = {
        "objectives": [objective],
        "weighting": [weighted],
        "lam": {objective: search.get("lam", LAMBDAS)} if objective in COMPLEMENTARY else {},
        "beta": search.get("beta", BETAS),
        "seeds": search.get("seeds", [0]),
    }
    values = merge(plan_values(source), *overrides)
    needed = ["train", "dev"]
    if protocol == "paper":
        values = _with_test_as_dev(values)
        needed = ["train", "test"]
    base, problems = check_plan(values, needed)
    file, more = check_plan(merge(values, {"grid": axes}), ())
    problems += [problem for problem in more if problem not in problems]
    if objective == "ce" and not weighted:
        problems.append("ce without weighting has neither λ nor β: there is nothing to tune")
    elif objective == "ce" and "lam" in search:
        problems.append("lam: ce has no λ")
    if not weighted and "beta" in search:
        problems.append("beta: without weighting there is no β")
    for axis in ("backbones", "models", "variants"):
        if base is not None and len(given := getattr(base.grid, axis)) > 1:
            problems.append(
                f"grid.{axis} names {len(given)}: tune one at a time, as in --set 'grid.{axis}=[\"{given[0]}\"]'"
            )
    if protocol not in ("nested", "paper"):
        problems.append(f"--protocol {protocol!r} is neither nested nor paper")
    if file is None or problems:
        raise plan_error(source, problems)
    return Tuning(expand(file, baseline=False), protocol)


def _with_test_as_dev(values: Mapping[str, Any]) -> dict[str, Any]:
    """The test claims also tune, unless the plan names claims for that."""
    match values:
        case {"run": {"data": {"test": test, **others}}} if "dev" not in others:
            return merge(values, {"run": {"data": {"dev": test}}})
    return dict(values)


def prepare_tuning(tuning: Tuning, folder: Path) -> list[Job]:
    """Give every run of a search its folder; the jobs name the test claims, if there are any."""
    plan = tuning.plan
    jobs = prepare(plan, folder)
    if tuning.protocol == "paper" and plan.world is not None:
        dev_on_test = tuple(with_data(job.settings, dev=job.settings.data.test) for job in jobs)
        jobs = prepare(replace(plan, runs=dev_on_test, world=None), folder)
    _check_claims(jobs[0].settings.data, tuning.protocol)
    return jobs


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
    runner: Runner | None = None,
    early_stopping: bool = True,
    command: str = "",
) -> TuningResult:
    """Make the runs of a search exist, select the pair with the best LA on the tuning claims, and score it.

    With several seeds the mean over them counts, and the best run of the selected pair is scored.

    Args:
        tuning: what to run.
        folder: gets ``tuning.json``, ``runs/``, ``cache/`` and, for a made-up world, ``data/``.
        runner: what executes runs; this process by default.
        early_stopping: at each of :data:`RUNGS` give up the worse half of the pairs. Without it, runs that were given
            up earlier go on.
        command: noted in the record.
    """
    jobs = prepare_tuning(tuning, folder)
    runner = runner or local_runner(folder / "cache", command)
    blind = [replace(job, settings=with_data(job.settings, test=None, gold=None)) for job in jobs]
    pairs = list(group_by_arm(blind).values())
    for rung in RUNGS if early_stopping else RUNGS[-1:]:
        runner([replace(job, until=rung) for pair in pairs for job in pair])
        if rung < 1:
            better = _better_half(pairs, rung)
            for job in (job for pair in pairs if pair not in better for job in pair):
                _mark_stopped(job)
            pairs = better
    finished = [pair for pair in group_by_arm(blind).values() if all(is_trained(job) for job in pair)]
    best_pair = best_run(finished, lambda pair: _mean(pair, _best_accuracy))
    best = best_run(best_pair, _best_accuracy)
    final = jobs[blind.index(best)]
    runner([final])
    points = {job.folder: _point(job) for job in blind}
    result = TuningResult(
        Arm.of(best.settings),
        PAPER if tuning.protocol == "paper" else NESTED,
        gold_injected(final.settings.data),
        command,
        tuple(points.values()),
        points[best.folder],
        read_scores(RunFolder(final.folder), final.settings.data),
    )
    write_json(folder / RECORD, result.to_dict())
    return result


def is_trained(job: Job) -> bool:
    """Whether a run has come to its end."""
    return RunFolder(job.folder).is_finished


def _better_half(pairs: Sequence[list[Job]], rung: float) -> list[list[Job]]:
    """The pairs that go on, in their order; of equals the first."""
    ranked = sorted(pairs, key=lambda pair: _mean(pair, lambda job: _best_accuracy(job, rung)), reverse=True)
    better = ranked[: -(-len(pairs) // KEPT)]
    return [pair for pair in pairs if pair in better]


def _mean(pair: Sequence[Job], accuracy: Callable[[Job], float]) -> float:
    return statistics.fmean(accuracy(job) for job in pair)


def _best_accuracy(job: Job, rung: float = 1.0) -> float:
    """The best LA on the tuning claims up to the first evaluation at a share of the training, as a run is chosen."""
    best = 0.0
    for evaluation in dev_curve(RunFolder(job.folder), job.settings.training.epochs):
        best = max(best, evaluation.label_accuracy)
        if evaluation.done >= rung - 1e-9:
            break
    return best


def _mark_stopped(job: Job) -> None:
    """Note in the folder of an unfinished run that it was given up."""
    run = RunFolder(job.folder)
    if not run.is_finished:
        write_json(run.stopped, {"dev_label_accuracy": _best_accuracy(job)})


def _point(job: Job) -> TuningPoint:
    arm, settings = Arm.of(job.settings), job.settings.training
    last = dev_curve(RunFolder(job.folder), settings.epochs)[-1]
    return TuningPoint(
        arm.lam,
        arm.beta,
        settings.seed,
        _best_accuracy(job),
        "finished" if is_trained(job) else "stopped",
        last.step,
        job.folder.name,
    )
