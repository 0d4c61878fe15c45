"""What a comparison found: every arm's runs, how it differs from the baseline, and how sure that is."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
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
from adjudge.experiments.run import is_finished, read_manifest, read_settings
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
    """One finished run; ``folder`` is relative to the comparison's."""

    seed: int
    folder: str
    dev_label_accuracy: float | None
    scores: Scores
    seconds: float


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
class Against:
    """An arm's chosen run against the baseline's, on the same claims; intervals are of arm − baseline.

    ``mean_label_accuracy`` compares the seeds' average per claim, which no choice of a run has touched.
    """

    test: McNemar
    holm_p: float
    label_accuracy: Interval
    fever_score: Interval | None
    mean_label_accuracy: Interval


@dataclass(frozen=True)
class ArmResult:
    """A row of the table. ``chosen`` is the run with the highest LA on the tuning claims (SPEC: best of three)."""

    arm: Arm
    runs: tuple[RunResult, ...]
    chosen: RunResult
    label_accuracy: Spread
    fever_score: Spread | None
    contradiction: Interval | None
    calibration: Calibration | None
    against: Against | None


@dataclass(frozen=True)
class Summary:
    """A comparison's results; ``missing`` counts runs that are not finished."""

    title: str
    command: str
    folder: Path
    labels: tuple[str, ...]
    n: int
    arms: tuple[ArmResult, ...]
    missing: int
    protocol: Mapping[str, Any]

    def baseline_of(self, arm: Arm) -> ArmResult:
        """What an arm is measured against."""
        return next(row for row in self.arms if row.arm.is_baseline and row.arm.backbone == arm.backbone)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**asdict(self), "folder": str(self.folder), "arms": [_arm_dict(row) for row in self.arms]}


@dataclass(frozen=True)
class _Judged:
    """A finished run with how each test claim fared."""

    result: RunResult
    folder: Path
    labels: LabelSet
    outcomes: Sequence[Outcome]

    @property
    def correct(self) -> list[bool]:
        return [outcome.correct for outcome in self.outcomes]

    @property
    def strict(self) -> list[bool] | None:
        """None where evidence is not scored."""
        found = [outcome.strict for outcome in self.outcomes if outcome.strict is not None]
        return found if len(found) == len(self.outcomes) else None


def summarise(folder: Path) -> Summary:
    """Read a comparison's finished runs and test each arm against the baseline of its backbone.

    Raises:
        DataError: the folder holds no comparison, or a baseline's runs are not finished.
    """
    record = read_record(folder)
    judged: dict[Arm, list[_Judged]] = {}
    missing = 0
    for run in record["runs"]:
        path = folder / "runs" / run["run"]
        if is_finished(path):
            judged.setdefault(Arm(**run["arm"]), []).append(_judge(folder, path, run["seed"]))
        else:
            missing += 1
    chosen = {arm: _best(runs) for arm, runs in judged.items()}
    baselines = {arm.backbone: arm for arm in judged if arm.is_baseline}
    if without := sorted({arm.backbone for arm in judged} - set(baselines)) or not judged:
        what = f"for {', '.join(without)}" if isinstance(without, list) else "and no other run either"
        raise DataError(f"{folder}: no finished run of the baseline (CE without weighting) {what} yet.")
    others = [arm for arm in judged if not arm.is_baseline]
    tests = [mcnemar(chosen[baselines[arm.backbone]].correct, chosen[arm].correct) for arm in others]
    against = {
        arm: _against(test, p, judged[arm], judged[baselines[arm.backbone]])
        for arm, test, p in zip(others, tests, holm([test.p_value for test in tests]), strict=True)
    }
    first = next(iter(chosen.values()))
    rows = tuple(_row(arm, runs, against.get(arm)) for arm, runs in judged.items())
    return Summary(
        record["title"],
        record["command"],
        folder,
        first.labels.names,
        first.result.scores.n,
        rows,
        missing,
        _protocol(record, [run for runs in judged.values() for run in runs]),
    )


def read_record(folder: Path) -> dict[str, Any]:
    """What a comparison's folder says of itself."""
    path = folder / RECORD
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{folder}: holds no comparison ({RECORD}); make one with adjudge compare.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from None
    return record


def _judge(folder: Path, path: Path, seed: int) -> _Judged:
    settings, manifest = read_settings(path), read_manifest(path)
    labels = settings.data.label_set
    judged = outcomes(path / "predictions.jsonl", settings.data.gold or settings.data.test or "", labels)
    result = RunResult(
        seed,
        str(path.relative_to(folder)),
        manifest["best_dev_label_accuracy"],
        scores_from_outcomes(judged, labels),
        manifest["seconds"],
    )
    return _Judged(result, path, labels, judged)


def best_run(runs: Sequence[_Run], dev_label_accuracy: Callable[[_Run], float | None]) -> _Run:
    """The run with the highest LA on the tuning claims; the first among equals."""
    return max(runs, key=lambda run: dev_label_accuracy(run) or 0.0)


def _best(runs: Sequence[_Judged]) -> _Judged:
    return best_run(runs, lambda run: run.result.dev_label_accuracy)


def _row(arm: Arm, runs: Sequence[_Judged], against: Against | None) -> ArmResult:
    chosen = _best(runs)
    scores = [run.result.scores for run in runs]
    fever = [score.fever_score for score in scores if score.fever_score is not None]
    eligible = chosen.result.scores.contradiction_rate is not None
    contradiction = bootstrap(contradiction_rows(chosen.outcomes, chosen.labels), ratio) if eligible else None
    return ArmResult(
        arm,
        tuple(run.result for run in runs),
        chosen.result,
        _spread([score.label_accuracy for score in scores]),
        _spread(fever) if fever else None,
        contradiction,
        _calibration(chosen),
        against,
    )


def _spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def _against(test: McNemar, holm_p: float, runs: Sequence[_Judged], base: Sequence[_Judged]) -> Against:
    this, that = _best(runs), _best(base)
    fever = None
    if this.strict is not None and that.strict is not None:
        fever = paired_bootstrap(this.strict, that.strict)
    return Against(
        test,
        holm_p,
        paired_bootstrap(this.correct, that.correct),
        fever,
        paired_bootstrap(_mean_correct(runs), _mean_correct(base)),
    )


def _mean_correct(runs: Sequence[_Judged]) -> Any:
    """Per claim, the share of seeds that got it right: (claims,)."""
    return np.mean([run.correct for run in runs], axis=0)


def _calibration(run: _Judged) -> Calibration | None:
    """None without predictions on tuning claims."""
    settings = read_settings(run.folder)
    dev, dev_predictions = settings.data.dev, run.folder / "dev_predictions.jsonl"
    test = settings.data.gold or settings.data.test
    if dev is None or test is None or not dev_predictions.exists():
        return None
    log_probs, gold = _distributions(run.folder / "predictions.jsonl", test, run.labels)
    temperature = fit_temperature(*_distributions(dev_predictions, dev, run.labels))
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
    verdicts = list(read_verdicts(predictions))
    p = np.array([[verdict.probabilities[name] for name in labels] for verdict in verdicts])
    p = np.clip(p, 5e-7, None)  # files hold six decimals; a rounded 0 is at most this
    return np.log(p / p.sum(axis=1, keepdims=True)), np.array([truth[verdict.id] for verdict in verdicts])


def _protocol(record: Mapping[str, Any], runs: Sequence[_Judged]) -> dict[str, Any]:
    """What a reader must know to trust the table, and to make it again."""
    first = runs[0]
    manifest = read_manifest(first.folder)
    shared = read_settings(first.folder).model_dump(mode="json", exclude_none=True)
    return {
        "selection": record["protocol"],
        "gold_injected": record["gold_injected"],
        "seeds": sorted({run.result.seed for run in runs}),
        "data": manifest["data"],
        "model": {key: value for key, value in shared["model"].items() if key != "backbone"},
        "training": {key: value for key, value in shared["training"].items() if key != "seed"},
        "limits": {key: shared["data"][key] for key in ("limit", "dev_limit") if key in shared["data"]},
        "seconds": round(sum(run.result.seconds for run in runs), 1),
        "machine": manifest["machine"],
        "versions": manifest["versions"],
        "git_commit": manifest["git_commit"],
        **_retested(record, runs),
    }


def _retested(record: Mapping[str, Any], runs: Sequence[_Judged]) -> dict[str, Any]:
    """Where runs were trained that were only judged here, and how that came about; nothing for other runs."""
    if "trained_in" not in record:
        return {}
    noted = [read_manifest(run.folder)["prediction"] for run in runs]
    seconds = round(sum(prediction["seconds"] for prediction in noted), 1)
    return {"trained_in": record["trained_in"], "prediction": {**noted[0], "seconds": seconds}}


def _arm_dict(row: ArmResult) -> dict[str, Any]:
    values = asdict(row)
    for run, source in zip(values["runs"], row.runs, strict=True):
        run["scores"] = source.scores.to_dict()
    values["chosen"]["scores"] = row.chosen.scores.to_dict()
    return {"name": row.arm.name, **values}
