"""What a report says, gathered once for every format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.data.files import read_json_lines
from adjudge.experiments.plan import Arm
from adjudge.experiments.report.changes import Changes, changes, pick_pair
from adjudge.experiments.report.effect import Effect, read_effect
from adjudge.experiments.report.table import ResultsTable, backbone_name, summary_table
from adjudge.experiments.report.words import findings
from adjudge.experiments.retest import trained_in
from adjudge.experiments.run import is_finished
from adjudge.experiments.summary import ArmResult, Summary, read_record, summarise


class Curve(NamedTuple):
    """A training: (step, loss) on training claims and (step, LA) on tuning claims."""

    seed: int
    chosen: bool
    loss: tuple[tuple[int, float], ...]
    accuracy: tuple[tuple[int, float], ...]


class Backbone(NamedTuple):
    """The arms of one backbone, the baseline first."""

    name: str
    rows: tuple[ArmResult, ...]


@dataclass(frozen=True)
class Content:
    """Everything a report shows; ``unfinished`` names the runs that are not in it."""

    title: str
    summary: Summary
    table: ResultsTable
    findings: tuple[str, ...]
    unfinished: tuple[str, ...]
    backbones: tuple[Backbone, ...]
    curves: Mapping[Arm, tuple[Curve, ...]]
    effects: tuple[Effect, ...]
    changes: Changes | None

    @property
    def protocol(self) -> tuple[tuple[str, str], ...]:
        """What a reader must know to trust the figures and to make them again, as (what, value)."""
        return tuple(_protocol(self.summary))


def gather(
    folder: Path,
    *,
    tuning: Sequence[Path] = (),
    between: tuple[str, str] | None = None,
    title: str | None = None,
) -> Content:
    """Read a comparison's folder, and tunings beside it, into what a report says.

    Args:
        folder: a comparison's folder.
        tuning: folders with a ``tuning.json``.
        between: two arms whose changed predictions are shown; the baseline and the best other by default.
        title: the comparison's own by default.

    Raises:
        DataError: a folder holds no comparison or tuning, or the baseline is not finished.
        ConfigError: ``between`` names an arm that is not there.
    """
    effects = tuple(read_effect(path) for path in tuning)
    summary = summarise(folder)
    pair = pick_pair(summary, between)
    backbones = dict.fromkeys(row.arm.backbone for row in summary.arms)
    return Content(
        title or summary.title or folder.resolve().name,
        summary,
        summary_table(summary),
        tuple(findings(summary)),
        tuple(_unfinished(folder)),
        tuple(Backbone(backbone_name(name), _arms(summary, name)) for name in backbones),
        {row.arm: tuple(_curves(summary, row)) for row in summary.arms},
        effects,
        None if pair is None else changes(summary, *pair),
    )


def _arms(summary: Summary, backbone: str) -> tuple[ArmResult, ...]:
    rows = [row for row in summary.arms if row.arm.backbone == backbone]
    return tuple(sorted(rows, key=lambda row: not row.arm.is_baseline))


def _unfinished(folder: Path) -> Iterator[str]:
    """Such as ``MiniLM, SR + weighting: seeds 1, 2``."""
    seeds: dict[Arm, list[str]] = {}
    for run in read_record(folder)["runs"]:
        if not is_finished(folder / "runs" / run["run"]):
            seeds.setdefault(Arm(**run["arm"]), []).append(str(run["seed"]))
    for arm, missing in seeds.items():
        many = "s" if len(missing) > 1 else ""
        yield f"{backbone_name(arm.backbone)}, {arm.name}: seed{many} {', '.join(missing)}"


def _curves(summary: Summary, row: ArmResult) -> Iterator[Curve]:
    for run in row.runs:
        path = summary.folder / run.folder / "metrics.jsonl"
        if not path.exists():
            continue
        # An interrupted run writes the steps after its last checkpoint twice; the later ones count.
        loss: dict[int, float] = {}
        accuracy: dict[int, float] = {}
        for _, metric in read_json_lines(path):
            if metric["split"] == "train":
                loss[metric["step"]] = metric["loss"]
            else:
                accuracy[metric["step"]] = metric["label_accuracy"]
        yield Curve(run.seed, run == row.chosen, tuple(sorted(loss.items())), tuple(sorted(accuracy.items())))


def _protocol(summary: Summary) -> Iterator[tuple[str, str]]:
    protocol = summary.protocol
    yield "Test claims", f"{summary.n:,}"
    yield "Selection", protocol["selection"]
    yield (
        "Gold injected",
        "yes: gold sentences were put among the retrieved ones of the claims judged"
        if protocol["gold_injected"]
        else "no: the files of the claims judged do not say so",
    )
    yield "Seeds", ", ".join(map(str, protocol["seeds"]))
    for name, file in protocol["data"].items():
        yield f"Data, {name}", f"{file['path']} (SHA-256 {file['sha256']})"
    if protocol["limits"]:
        yield "Limits", _settings(protocol["limits"])
    yield "Model", _settings(protocol["model"])
    yield "Training", _settings(protocol["training"])
    yield (
        "Statistics",
        "McNemar (exact below 25 discordant claims, else χ²), Holm, 10,000 bootstrap resamples",
    )
    yield "Machine", _settings(protocol["machine"])
    yield "Versions", _settings(protocol["versions"])
    yield "Time", f"{protocol['seconds']:,.0f} seconds over all finished runs"
    yield "Command", summary.command or "not recorded"
    yield "Commit", protocol["git_commit"] or "not recorded"
    if "trained_in" in protocol:
        judged = protocol["prediction"]
        yield (
            "Trained in",
            f"{trained_in(protocol['trained_in'])}; machine, versions, time and commit above are the training's",
        )
        yield "Judged on", _settings(judged["machine"])
        yield "Judged with", _settings(judged["versions"])
        yield (
            "Judged in",
            f"{judged['seconds']:,.0f} seconds, at commit {judged['git_commit'] or 'not recorded'}",
        )


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_value(value)}" for key, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
