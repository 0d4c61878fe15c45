"""What a comparison found: every arm's runs, how it differs from the baseline, and how sure that is."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from adjudge.data.verdicts import read_verdicts
from adjudge.errors import DataError
from adjudge.evaluation.calibration import (
    Bin,
    expected_calibration_error,
    fit_temperature,
    reliability,
    temper,
)
from adjudge.evaluation.records import read_gold
from adjudge.evaluation.scoring import Outcome, Scores, contradiction_rows, outcomes, scores_from_outcomes
from adjudge.evaluation.statistics import (
    Interval,
    McNemar,
    bootstrap,
    holm,
    mcnemar,
    paired_bootstrap,
    ratio,
)
from adjudge.experiments.plan import Arm
from adjudge.runs.folder import Judgement, RunFolder
from adjudge.types import LabelSet

RECORD = "comparison.json"
"""What a comparison's folder says of itself: its title, command and runs."""

_Run = TypeVar("_Run")


class Spread(NamedTuple):
    """A figure over seeds; ``sd`` is None for one seed."""

    mean: float
    sd: float | None


@dataclass(frozen=True)
class RunResult:
    """One finished run; ``folder`` and ``predictions`` are relative to the comparison's folder.

    ``seconds`` is the training's; ``claims_per_second`` was measured on a sample of the test claims.
    """

    seed: int
    folder: str
    predictions: str
    dev_label_accuracy: float | None
    scores: Scores
    seconds: float
    parameters: int | None = None
    claims_per_second: float | None = None


@dataclass(frozen=True)
class Calibration:
    """Expected calibration error and reliability on the test claims, before and after the temperature
    that was fitted on the tuning claims.
    """

    temperature: float
    ece: float
    ece_tempered: float
    bins: tuple[Bin, ...]
    bins_tempered: tuple[Bin, ...]


@dataclass(frozen=True)
class BaselineComparison:
    """An arm's selected run against another's, on the same claims; intervals are of arm − other.

    ``mean_label_accuracy`` compares the seeds' average per claim, which no selection of a run has touched.
    """

    test: McNemar
    holm_p: float
    label_accuracy: Interval
    fever_score: Interval | None
    mean_label_accuracy: Interval


@dataclass(frozen=True)
class ArmResult:
    """A row of the table. ``selected`` is the run with the highest LA on the tuning claims.

    ``model_comparison`` is with the first model of the comparison on the same backbone, under the same objective.
    """

    arm: Arm
    runs: tuple[RunResult, ...]
    selected: RunResult
    label_accuracy: Spread
    fever_score: Spread | None
    contradiction: Interval | None
    calibration: Calibration | None
    baseline_comparison: BaselineComparison | None
    model_comparison: BaselineComparison | None = None


@dataclass(frozen=True)
class Summary:
    """A comparison's results; ``missing`` counts runs that are not finished, ``absent`` says why systems have none."""

    title: str
    command: str
    folder: Path
    labels: tuple[str, ...]
    n: int
    arms: tuple[ArmResult, ...]
    missing: int
    protocol: Mapping[str, Any]
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def groups(self) -> tuple[tuple[str, str], ...]:
        """Backbone and model of every group of arms, in their order."""
        return tuple(dict.fromkeys(row.arm.group for row in self.arms))

    @property
    def models(self) -> tuple[str, ...]:
        """The models in their order."""
        return tuple(dict.fromkeys(row.arm.model for row in self.arms))

    def arms_of(self, group: tuple[str, str]) -> tuple[ArmResult, ...]:
        """The arms of a group, the baseline first."""
        rows = [row for row in self.arms if row.arm.group == group]
        return tuple(sorted(rows, key=lambda row: not row.arm.is_baseline))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**asdict(self), "folder": str(self.folder), "arms": [_arm_dict(row) for row in self.arms]}


@dataclass(frozen=True)
class _JudgedRun:
    """A finished run with how each test claim fared."""

    result: RunResult
    folder: RunFolder
    judgement: Judgement
    gold: Path
    labels: LabelSet
    outcomes: Sequence[Outcome]

    @property
    def correct(self) -> list[bool]:
        return [outcome.correct for outcome in self.outcomes]

    @property
    def strict(self) -> list[bool] | None:
        """None where evidence is not scored."""
        values = [outcome.strict for outcome in self.outcomes if outcome.strict is not None]
        return values if len(values) == len(self.outcomes) else None


def summarise(folder: Path) -> Summary:
    """Read a comparison's finished runs; test arms against the baseline of their group, and models against the first.

    Raises:
        DataError: the folder holds no comparison, or a baseline's runs are not finished.
    """
    record = read_record(folder)
    finished = [run for run in record["runs"] if is_judged(folder, record, run)]
    judged: dict[Arm, list[_JudgedRun]] = {}
    for run in finished:
        judged.setdefault(Arm(**run["arm"]), []).append(_read_run(folder, record, run))
    baselines = {arm.group: arm for arm in judged if arm.is_baseline}
    if not judged or (without := sorted({arm.group for arm in judged} - set(baselines))):
        what = f"for {', '.join(map(', '.join, without))}" if judged else "and no other run either"
        raise DataError(f"{folder}: no finished run of the baseline (CE without weighting) {what} yet.")
    comparisons = _compare_all(judged, {arm: baselines[arm.group] for arm in judged if not arm.is_baseline})
    models = _compare_all(judged, _first_models(list(judged)))
    runs = [run for runs in judged.values() for run in runs]
    return Summary(
        record["title"],
        record["command"],
        folder,
        runs[0].labels.names,
        runs[0].result.scores.n,
        tuple(_arm_result(arm, runs, comparisons.get(arm), models.get(arm)) for arm, runs in judged.items()),
        len(record["runs"]) - len(finished),
        _protocol(record, runs),
        record.get("absent", {}),
    )


def _first_models(arms: Sequence[Arm]) -> dict[Arm, Arm]:
    """For each arm of another model than the first, the first model's arm of the same backbone and objective."""
    first = arms[0].model
    pairs = {arm: replace(arm, model=first) for arm in arms if arm.model != first}
    return {arm: reference for arm, reference in pairs.items() if reference in arms}


def _compare_all(
    judged: Mapping[Arm, Sequence[_JudgedRun]], pairs: Mapping[Arm, Arm]
) -> dict[Arm, BaselineComparison]:
    """Every arm with its reference; Holm's correction over all of them."""
    tests = [
        mcnemar(_best(judged[reference]).correct, _best(judged[arm]).correct)
        for arm, reference in pairs.items()
    ]
    adjusted = holm([test.p_value for test in tests])
    return {
        arm: _compare(test, p, judged[arm], judged[reference])
        for (arm, reference), test, p in zip(pairs.items(), tests, adjusted, strict=True)
    }


def read_record(folder: Path) -> dict[str, Any]:
    """What a comparison's folder says of itself."""
    path = folder / RECORD
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{folder}: holds no comparison ({RECORD}); make one with adjudge compare.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from None
    return record


def is_judged(folder: Path, record: Mapping[str, Any], run: Mapping[str, Any]) -> bool:
    """Whether a run of a comparison's record is trained and has judged the test claims."""
    run_folder = RunFolder(folder / run["run"])
    return run_folder.is_finished and run_folder.judgement(record["judgement"]).is_finished


def gold_of(record: Mapping[str, Any]) -> Path:
    """What the test claims of a comparison are scored by."""
    return Path(record["gold"] or record["test"])


def _read_run(folder: Path, record: Mapping[str, Any], run: Mapping[str, Any]) -> _JudgedRun:
    run_folder = RunFolder(folder / run["run"])
    labels, manifest = run_folder.settings().data.label_set, run_folder.manifest()
    judgement = run_folder.judgement(record["judgement"])
    cost = judgement.record()
    judged = outcomes(judgement.predictions, gold_of(record), labels)
    result = RunResult(
        run["seed"],
        run["run"],
        str(Path(run["run"]) / judgement.predictions.relative_to(run_folder.path)),
        manifest["best_dev_label_accuracy"],
        scores_from_outcomes(judged, labels),
        manifest["seconds"],
        cost.get("parameters"),
        cost.get("claims_per_second"),
    )
    return _JudgedRun(result, run_folder, judgement, gold_of(record), labels, judged)


def best_run(runs: Sequence[_Run], dev_label_accuracy: Callable[[_Run], float | None]) -> _Run:
    """The run with the highest LA on the tuning claims; the first among equals."""
    return max(runs, key=lambda run: dev_label_accuracy(run) or 0.0)


def _best(runs: Sequence[_JudgedRun]) -> _JudgedRun:
    return best_run(runs, lambda run: run.result.dev_label_accuracy)


def _arm_result(
    arm: Arm,
    runs: Sequence[_JudgedRun],
    comparison: BaselineComparison | None,
    model_comparison: BaselineComparison | None,
) -> ArmResult:
    best = _best(runs)
    scores = [run.result.scores for run in runs]
    fever = [score.fever_score for score in scores if score.fever_score is not None]
    eligible = best.result.scores.contradiction_rate is not None
    return ArmResult(
        arm,
        tuple(run.result for run in runs),
        best.result,
        _spread([score.label_accuracy for score in scores]),
        _spread(fever) if fever else None,
        bootstrap(contradiction_rows(best.outcomes, best.labels), ratio) if eligible else None,
        _calibration(best),
        comparison,
        model_comparison,
    )


def _spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def _compare(
    test: McNemar, holm_p: float, runs: Sequence[_JudgedRun], base: Sequence[_JudgedRun]
) -> BaselineComparison:
    arm_run, baseline_run = _best(runs), _best(base)
    return BaselineComparison(
        test,
        holm_p,
        paired_bootstrap(arm_run.correct, baseline_run.correct),
        None
        if arm_run.strict is None or baseline_run.strict is None
        else paired_bootstrap(arm_run.strict, baseline_run.strict),
        paired_bootstrap(_mean_correct(runs), _mean_correct(base)),
    )


def _mean_correct(runs: Sequence[_JudgedRun]) -> Any:
    """Per claim, the share of seeds that got it right: (claims,)."""
    return np.mean([run.correct for run in runs], axis=0)


def _calibration(run: _JudgedRun) -> Calibration | None:
    """None without predictions on tuning claims."""
    dev = run.folder.settings().data.dev
    if dev is None or not run.folder.dev_predictions.exists():
        return None
    log_probs, gold = _distributions(run.judgement.predictions, run.gold, run.labels)
    temperature = fit_temperature(*_distributions(run.folder.dev_predictions, dev, run.labels))
    plain, tempered = np.exp(log_probs), np.exp(temper(log_probs, temperature))
    return Calibration(
        temperature,
        expected_calibration_error(plain, gold),
        expected_calibration_error(tempered, gold),
        reliability(plain, gold),
        reliability(tempered, gold),
    )


def _distributions(predictions: Path, gold: Path, labels: LabelSet) -> tuple[Any, Any]:
    """Log-probabilities (claims, classes) and gold classes (claims,) of the claims predicted."""
    truth = {item.id: labels.names.index(item.label) for item in read_gold(gold, labels)}
    verdicts = [verdict for verdict in read_verdicts(predictions) if verdict.probabilities]
    p = np.array([[verdict.probabilities[name] for name in labels] for verdict in verdicts])
    p = np.clip(p, 5e-7, None)  # files hold six decimals; a rounded 0 is at most this
    return np.log(p / p.sum(axis=1, keepdims=True)), np.array([truth[verdict.id] for verdict in verdicts])


def _protocol(record: Mapping[str, Any], runs: Sequence[_JudgedRun]) -> dict[str, Any]:
    """What a reader must know to trust the table, and to make it again."""
    first = runs[0]
    manifest = first.folder.manifest()
    several = len({Arm(**run["arm"]).model for run in record["runs"]}) > 1
    varied = ("backbone", "kind", "options") if several else ("backbone",)
    shared = first.folder.settings().model_dump(mode="json", exclude_none=True)
    return {
        "selection": record["protocol"],
        "gold_injected": record["gold_injected"],
        "seeds": sorted({run.result.seed for run in runs}),
        "data": manifest["data"] | first.judgement.record()["data"],
        "model": {key: value for key, value in shared["model"].items() if key not in varied},
        "training": {key: value for key, value in shared["training"].items() if key != "seed"},
        "limits": {key: shared["data"][key] for key in ("limit", "dev_limit") if key in shared["data"]},
        "seconds": round(sum(run.result.seconds for run in runs), 1),
        "machine": manifest["machine"],
        "versions": manifest["versions"],
        "git_commit": manifest["git_commit"],
    }


def _arm_dict(row: ArmResult) -> dict[str, Any]:
    values = asdict(row)
    for run, source in zip(values["runs"], row.runs, strict=True):
        run["scores"] = source.scores.to_dict()
    values["selected"]["scores"] = row.selected.scores.to_dict()
    return {"name": row.arm.name, **values}
